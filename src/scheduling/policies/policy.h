#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "scheduling/placement_request.h"

namespace evenkeel::scheduling {

// Why one node and not another: each candidate's parts and their sum. More is better.
struct ScoreSheet {
  struct Row {
    NodeId node;
    std::vector<double> parts;
    double total = 0;
  };
  std::vector<std::string> terms;
  std::vector<Row> rows;  // best first; ties in the order of node slots
  // Where the terms are plugins: what each one's score, 0 to 100, was multiplied by. Else empty.
  std::vector<double> weights{};
  // Who decided and why, where that is not plain: "horizon, since metrics are stale: …".
  std::string note{};

  void put_best_first();
};

// A pod that ran to its end.
struct EndedPod {
  PodId pod;
  WorkloadId workload;
  Time created{}, started{}, ended{};
};

// The cluster some time after a decision: what a policy that learns judges its decisions by.
// A view, valid during review() only.
struct Retrospect {
  const ClusterState& cluster;
  const prediction::WorkloadHistory& history;
  const SchedulingOptions& options;
  Time now;
  std::span<const EndedPod> ended = {};  // since the last review, in order
};

// What a learned policy noticed about the question it answered last. Whoever watches over it acts on that.
struct SelfCheck {
  bool finite = true;         // everything it computed was a number
  std::uint32_t inputs = 0;   // of its encoding that were looked at; 0: it does not say
  std::uint32_t outside = 0;  // of those, the ones beyond what it was trained on
  bool waits = false;         // it named no node because the pod had better wait
  // Why its model had nothing to say, so that what it answered is a rule of its own; empty: it had.
  std::string_view silent{};
};

// One figure of how learning goes: "reward", "loss", "epsilon".
struct LearningFigure {
  std::string_view name;
  double value = 0;
};

// Answers "which node?". One object serves simulation, training and production.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  // A feasible node; or nothing, when the pod had better wait than go anywhere now.
  virtual std::optional<NodeId> choose(const PlacementRequest& request, Random& random) = 0;
  // The same deliberation, written down. Learns nothing and changes no later choice.
  virtual ScoreSheet explain(const PlacementRequest& request) = 0;
  // Only the rows of the best `count` nodes and of `also`: for whoever asks while others wait.
  virtual ScoreSheet explain_best(const PlacementRequest& request, std::size_t count, NodeId also);

  // What choose() takes the highest of, drawing lots between equals: one score for each node column, more is
  // better, those of infeasible nodes mean nothing. Lent until the policy is asked anything else. Empty: it
  // does not choose by scores alone; it draws lots, takes turns, explores, holds back or learns from what it
  // chose.
  virtual std::span<const float> scores(const PlacementRequest&) { return {}; }
  virtual SelfCheck self_check() const { return {}; }

  // For policies that learn from what came of their decisions, or relieve nodes by ending pods there: asked
  // once `review_at` has passed, before the next question. Whoever acts on the evictions may refuse any.
  virtual Time review_at() const { return Time::max(); }
  virtual std::vector<EvictPod> review(const Retrospect&, Random&) { return {}; }

  // What a policy that learns while it places has to show for it by now; a mean of nothing is left out, else
  // always the same names in the same order. Rules and finished models have nothing.
  virtual std::vector<LearningFigure> learning() const { return {}; }
};

// Among the feasible nodes with the highest score one at random: always taking the first
// would pile every pod of an empty cluster onto one machine.
NodeId pick_highest(std::span<const float> scores, std::span<const std::uint8_t> feasible, Random& random);

}  // namespace evenkeel::scheduling
