#pragma once
#include "optimum/plan_problem.h"

namespace evenkeel::optimum {

struct FieldWeights {
  double imbalance = 1;  // DRS eq. 13, averaged over time
  // Demand above capacity, in capacities of an average node. Utilisation stops at 1, so without this weight
  // a plan would sacrifice one node to flatter the others.
  double overload = 1;
};

// A stretch of time: one over the nodes present, and what it weighs.
struct FieldSlot {
  float over_count = 0, imbalance = 0, overload = 0;
};

// Utilisation of every node through time, and what a change would do to it: looked at only while the pods
// concerned live. Time is cut where anything begins or ends, and where series step.
class UtilizationField final : public PlanCost {
 public:
  // At most `most_slots` stretches of time; where there would be more, their middles are sampled.
  UtilizationField(const PlanProblem& problem, const FieldWeights& weights, std::size_t most_slots);

  double difference(const Change& change) override;
  void make(const Change& change) override;
  void refresh(const Assignment& assignment) override;
  std::size_t effort(std::size_t pod) const override { return spans_[pod].last - spans_[pod].first + 1; }
  double value() const;

  // Six dimensions and two that stay empty: a whole vector of the machine.
  static constexpr std::size_t kLanes = 8;

 private:
  struct Span {
    std::size_t first = 0, last = 0;     // slots
    std::size_t demand = 0, stride = 0;  // in demands_; stride 0: the same in every slot
  };
  // `demand`, given from slot `first` on, leaves one node for another.
  struct Shift {
    std::size_t first = 0, last = 0;
    const float* demand = nullptr;
    std::size_t stride = 0;
    std::size_t from = 0, to = 0;
  };

  void weigh_slots(std::span<const double> cuts, const FieldWeights& weights);
  void sample_nodes(std::span<const double> middles);
  void sample_pods(std::span<const double> middles);
  Shift shift_of(const Change& change);
  void resum();
  void find_deviations(std::size_t first, std::size_t last);

  float* load(std::size_t node) { return &loads_[node * slots_.size() * kLanes]; }

  const PlanProblem& problem_;
  std::vector<FieldSlot> slots_;
  std::vector<Span> spans_;      // by pod
  std::vector<float> demands_;   // lanes
  std::vector<float> per_unit_;  // [node][lane]: one over capacity; 0 for nowhere
  std::vector<float> loads_;     // [node][slot][lane]: demand as a share of capacity; nowhere stays empty
  std::vector<float> idle_;      // the same without pods
  std::vector<float> sums_, squares_, deviations_;  // [slot][lane] over nodes, each bounded by 1
  std::vector<float> pair_;                         // of a swap: one's demand less the other's
};

// Where time is to be cut for this problem: ascending, from the start of what counts to its end.
std::vector<double> time_cuts(const PlanProblem& problem, std::size_t most_slots);

}  // namespace evenkeel::optimum
