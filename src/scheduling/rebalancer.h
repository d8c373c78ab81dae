#pragma once
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_state.h"
#include "prediction/workload_history.h"
#include "scheduling/options.h"

namespace evenkeel::scheduling {

struct Move {
  PodId pod;
  NodeId from, to;
  double gain = 0;  // imbalance times seconds
  std::string why;
};

// Proposes the one move that helps most, when it helps enough and the budget allows.
//
// A move is judged by the imbalance (DRS eq. 13) and the CPU above 80 % of a node over the
// time ahead, with and without it: the pod leaves its node for what is left of its life and
// lives its whole life anew on the other, since a batch pod repeats its lost work. A move
// that would make its pod the last to end is not made: the makespan must not grow.
//
// How much is enough follows the budget: the price of a move rises with every move made and
// falls with every look at which none was worth it, so that a scarce budget is spent on the
// best moves of a day and not on the first.
//
// Looks at the most and the least loaded kFew nodes only: cost does not grow with the cluster.
class Rebalancer {
 public:
  // Moves the pods that name this scheduler only; empty: everybody's.
  explicit Rebalancer(const MoveBudget& budget, std::string scheduler_name = {})
      : budget_(budget), scheduler_name_(std::move(scheduler_name)) {}

  std::optional<Move> propose(const ClusterState& cluster, const prediction::WorkloadHistory& history,
                              const SchedulingOptions& options, Time now);
  Time next_look() const { return budget_.per_hour > 0 ? next_look_ : Time::max(); }

 private:
  static constexpr std::size_t kPoints = 6;
  static constexpr std::size_t kFew = 64;

  struct Outlook;  // the cluster at each of the points ahead
  bool within_budget(Time now);
  bool cooled_down(WorkloadId workload, Time now) const;

  MoveBudget budget_;
  std::string scheduler_name_;
  Time next_look_{};
  double price_ = 0.2;         // as a share of the imbalance there is, over the foresight
  std::deque<Time> moves_;     // of the last day
  std::vector<Time> last_of_;  // by WorkloadId::slot
};

}  // namespace evenkeel::scheduling
