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
//
// With budget.rules on, pods that must not be moved (move_rules.h) are left alone, and so are nodes whose own
// metrics are stale, be it as source or as target.
class Rebalancer {
 public:
  static constexpr double kUsualPrice = 0.2;  // as a share of the imbalance there is, over the foresight

  // Moves the pods that name this scheduler only; empty: everybody's. Who wants a few moves now, and not the
  // best ones of a day, begins with a lower price.
  explicit Rebalancer(const MoveBudget& budget, std::string scheduler_name = {},
                      double first_price = kUsualPrice)
      : budget_(budget), scheduler_name_(std::move(scheduler_name)), price_(first_price) {}

  std::optional<Move> propose(const ClusterState& cluster, const prediction::WorkloadHistory& history,
                              const SchedulingOptions& options, Time now);
  // Somebody else wants this pod gone from its node: the best place for it, if rules, budget and cool-down
  // allow a move and the new place is no worse. Counts as one made.
  std::optional<Move> relieve(PodId pod, const ClusterState& cluster,
                              const prediction::WorkloadHistory& history, const SchedulingOptions& options,
                              Time now);
  // A move that was refused, by a disruption budget say, is not tried again before the workload has cooled
  // down. It stays counted: a budget is of attempts, since an answer may be lost.
  void cool_down(WorkloadId workload, Time now);

  Time next_look() const { return budget_.per_hour > 0 ? next_look_ : Time::max(); }

 private:
  static constexpr std::size_t kPoints = 6;
  static constexpr std::size_t kFew = 64;

  struct Candidate;
  struct Outlook;  // the cluster at each of the points ahead
  bool may_look(const ClusterState& cluster, const SchedulingOptions& options, Time now);
  bool within_budget(Time now);
  bool cooled_down(WorkloadId workload, Time now) const;
  bool may_move(const PodRecord& record, const ClusterState& cluster, const SchedulingOptions& options,
                Time now) const;
  bool is_fresh(NodeId node, const ClusterState& cluster, const SchedulingOptions& options, Time now) const;
  Outlook look_ahead(const ClusterState& cluster, const prediction::WorkloadHistory& history, Time now) const;
  // The best target for the pod that beats `best`, which it then is.
  void try_targets(const Outlook& outlook, const Candidate& candidate, const ClusterState& cluster,
                   const SchedulingOptions& options, Time now, std::optional<Move>& best) const;
  void note_move(const Move& move, const ClusterState& cluster, Time now);

  MoveBudget budget_;
  std::string scheduler_name_;
  Time next_look_{};
  double price_;
  std::deque<Time> moves_;     // of the last day
  std::vector<Time> last_of_;  // by WorkloadId::slot
};

}  // namespace evenkeel::scheduling
