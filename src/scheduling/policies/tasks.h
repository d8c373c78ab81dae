#pragma once
#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

// `fewest-tasks`: the node with the fewest pods per free core, counting this one (JSQ).
// `fewest-alike`: the same, but pods of the pod's own workload count four times: they
// last equally long, so a node that has many of them stays crowded to the end.
//
// Assumes finite tasks of about one core that ask for nothing: requests say nothing, the
// number of tasks says most. Free cores are what the node's own load leaves (measured).
class FewestTasks final : public PlacementPolicy {
 public:
  explicit FewestTasks(float weight_of_alike) : weight_of_alike_(weight_of_alike) {}
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;

 private:
  void rate(const PlacementRequest& request);
  float weight_of_alike_;
  std::vector<float> scores_;
};

// Sets open[slot] for every node that hold-back lets take the pod now (of the 64 with fewest pods per free
// core); says whether there is one. What `shortest-first` says in full.
bool find_open_nodes(const PlacementRequest& request, std::vector<std::uint8_t>& open);

// `shortest-first`: PPO-LRT's least response time taken seriously (docs/papers.md). Waiting pods
// go by expected run time (PendingQueue does that), a kind never seen before is tried once
// before all else, and a node is given no more pods than it has free cores: a long queue
// belongs in front of the cluster, where its order can still be changed.
//
// A running pod that will outlast the candidate twice over does not keep it out: the short
// one passes, at little cost to the long one. Memory is held below a ceiling by expected use.
// Starves nobody: options.longest_wait.
class ShortestFirst final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;

 private:
  bool rate(const PlacementRequest& request);  // false: no node may take it now
  std::vector<float> scores_;
  std::vector<std::uint8_t> open_;
  std::vector<std::uint32_t> order_;
};

}  // namespace evenkeel::scheduling
