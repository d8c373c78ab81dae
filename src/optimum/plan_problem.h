#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "cluster/usage.h"

namespace evenkeel::optimum {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

struct PlanNode {
  Usage capacity, base;
  std::vector<double> room;                     // for requests, in step with PlanPod::requests
  std::vector<std::pair<double, double>> away;  // from, to: no pod may be planned across these
};

struct PlanPhase {
  double seconds = 0;
  Usage demand;
};

// A pod with its whole future. Contention is not foreseen: it ends when it would end undisturbed.
struct PlanPod {
  double start_s = 0, end_s = kForever;
  std::vector<PlanPhase> phases;      // from its start; the last one lasts
  std::span<const Usage> series;      // in place of phases: one per PlanProblem::step_s from time 0; lent
  std::vector<double> requests;       // exact integers; what is 0 is not checked
  std::vector<std::uint8_t> allowed;  // by node; empty: all of them

  const Usage& demand_at(double at_s, double step_s) const;
};

struct PlanProblem {
  std::vector<PlanNode> nodes;
  std::vector<PlanPod> pods;           // by start
  double from_s = 0, to_s = kForever;  // when it counts
  double step_s = 0;                   // of series
};

// Where each pod goes; kNowhere for one that fits nowhere in its time: it will have to wait, and a plan does
// not know how long.
inline constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
using Assignment = std::vector<std::uint32_t>;

// A pod goes from one node to another and, where there is one, another pod the opposite way.
inline constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
struct Change {
  std::size_t pod = 0;
  std::size_t from = 0, to = 0;  // nodes; their number stands for nowhere
  std::size_t other = kNobody;
};

// Something to be made small. Starts with every pod nowhere.
class PlanCost {
 public:
  virtual ~PlanCost() = default;
  virtual double difference(const Change& change) = 0;  // what it would make
  virtual void make(const Change& change) = 0;
  virtual void refresh(const Assignment& assignment) = 0;  // rids running sums of rounding
  virtual std::size_t effort(std::size_t pod) const = 0;   // of one difference, in arbitrary units
};

}  // namespace evenkeel::optimum
