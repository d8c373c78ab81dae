#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/usage.h"

namespace evenkeel::simulator {

// What became of the cluster at one moment: for pictures.
struct SeriesPoint {
  double at_s = 0;
  double imbalance = 0, utilization = 0;
  std::array<double, 2> deviation{};  // of CPU and memory over nodes (PPO-LRT eq. 13), 0..1
  std::vector<std::array<float, kDimensions>> nodes;
};

struct PodOutcome {
  double arrived_s = 0, finished_s = 0, ideal_s = 0;
  double bound_s = 0;  // for the last time
  WorkloadId workload{};
};

// Follows utilisation through time and says at the end what it was like. Time-weighted,
// exact between changes; within [from, to] for what concerns nodes, over all pods for
// what concerns pods.
class Measures {
 public:
  Measures(std::size_t nodes, bool keep_series) : nodes_(nodes), keep_series_(keep_series) {}

  void set_window(Time from, Time to) {
    from_ = from;
    to_ = to;
  }
  void set_present(std::size_t node, bool present);
  // Call advance before anything changes at `now`, then say what changed.
  void advance(Time now);
  void set_node(std::size_t node, const std::array<double, kDimensions>& utilization, double cpu_wanted,
                double cpu_given);
  void pod_finished(const PodOutcome& outcome) { outcomes_.push_back(outcome); }

  const std::array<double, kDimensions>& utilization_of(std::size_t node) const {
    return nodes_[node].utilization;
  }
  double imbalance_now() const;
  double utilization_now() const;
  double unserved_now() const;  // share of the CPU wanted that is not given

  struct Summary {
    double utilization = 0;
    std::array<double, kDimensions> by_dimension{};
    double imbalance = 0, imbalance_of_means = 0, unserved_cpu = 0;
    double overload_node_minutes = 0, overload_share = 0;
    double slowdown_p95 = 0, response_mean_s = 0, response_p95_s = 0, makespan_s = 0;
    double sigma_cpu = 0, sigma_memory = 0;  // percentage points, mean of ten samples
    std::size_t finished = 0;
  };
  Summary summarise() const;
  const std::vector<SeriesPoint>& series() const { return series_; }
  const std::vector<PodOutcome>& outcomes() const { return outcomes_; }

 private:
  struct NodeMeasure {
    std::array<double, kDimensions> utilization{};
    std::array<double, kDimensions> integral{};
    double present_s = 0;
    double cpu_wanted = 0, cpu_given = 0;
    bool present = false, overloaded = false;
  };
  void resum();
  std::array<double, kDimensions> variance() const;

  std::vector<NodeMeasure> nodes_;
  bool keep_series_;
  Time from_{}, to_ = Time::max(), last_{};
  // Sums over present nodes, kept up to date change by change and made anew now and then.
  std::array<double, kDimensions> sum_{}, squares_{};
  double present_ = 0, overloaded_ = 0, cpu_wanted_ = 0, cpu_given_ = 0;
  int changes_ = 0;
  double time_s_ = 0, imbalance_s_ = 0, utilization_s_ = 0, overload_s_ = 0, node_s_ = 0;
  double wanted_core_s_ = 0, given_core_s_ = 0;
  std::vector<SeriesPoint> series_;
  std::vector<PodOutcome> outcomes_;
};

}  // namespace evenkeel::simulator
