#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/policies/marl_brain.h"
#include "scheduling/policies/marl_views.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

// How agents learn from each other.
enum class MarlSharing {
  none,      // not at all: each its own network, as in the thesis
  averaged,  // every so many pods they all go on with the mean of what they know
};

struct MarlSettings {
  std::string name = "marl";  // what its models are called
  MarlBrainOptions brain = thesis_brain();
  MarlSharing sharing = MarlSharing::none;
  std::uint64_t average_every = 100;  // pods
  // Of larger clusters so many agents are asked about a pod, chosen by lot: what a pod costs does not grow.
  std::size_t most_asked = 512;
  // A node that joins after the first decision begins blank though the others share: for comparison.
  bool blank_newcomers = false;
};
// `marl` and `marl-shared`. Nothing: there is none of that name.
std::optional<MarlSettings> marl_settings(std::string_view policy);

// A distributed scheduler of learning agents, one for each node (seed thesis 002), as one policy: every agent
// looks at its own node, the cluster's totals and the pod (marl_encoding.h), accepts or rejects and says how
// good it would be; the best of those that accept gets the pod. Where nobody accepts, kube-default decides.
// `evenkeel agent` is the same brain on a node, with messages in between.
//
// `marl`: independent networks from nothing, or from a model with one for each node; a node that joins begins
// blank. `marl-shared`: all begin with the model's one network, a node that joins as well, learn from their
// own node's pods and go on with the mean of it all.
//
// Assumes fresh samples; without one of any node kube-default decides. Deviations from the thesis:
// docs/algorithms/marl.md.
class Marl final : public PlacementPolicy, public ShowsInputs {
 public:
  explicit Marl(MarlSettings settings)
      : settings_(std::move(settings)), diaries_(settings_.brain.inputs, settings_.brain.reward) {}
  // Refuses a model that is another policy's.
  static Result<std::unique_ptr<Marl>> from_model(MarlSettings settings, const learning::Model& model);

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  Time review_at() const override { return diaries_.review_at(); }
  std::vector<EvictPod> review(const Retrospect& seen, Random& random) override;
  SelfCheck self_check() const override { return check_.found(); }
  InputCheck& inputs() override { return check_; }
  std::vector<LearningFigure> learning() const override;

  struct Progress {
    std::uint64_t decisions = 0, unclaimed = 0;  // those that nobody accepted
    std::uint64_t rewards = 0, updates = 0;
    double reward_sum = 0, loss_sum = 0, recent_reward = 0, recent_loss = 0;
  };
  const Progress& progress() const { return progress_; }

 private:
  struct Agent {
    std::string node;                  // whose it is; empty: nobody's
    std::unique_ptr<MarlBrain> brain;  // none where one network serves all
  };

  // Where nobody learns by himself, all see with the same network.
  bool is_one_network() const { return settings_.sharing == MarlSharing::averaged && settings_.brain.frozen; }
  bool has_begun() const { return seed_ || model_; }
  bool look(const PlacementRequest& request, Random* random);
  void know_nodes(const ClusterState& cluster);
  std::unique_ptr<MarlBrain> new_brain(bool newcomer);
  void hear_all(Random* random);
  bool anybody_speaks() const;
  std::optional<std::size_t> best_bid(Random* random) const;
  void settle(NodeId node, Time now);
  void begin_from_nothing(Random& random);
  void average_brains();
  void learn(Agent& agent, learning::Experience experience, Random& random);

  MarlSettings settings_;
  std::optional<learning::Model> model_;
  std::optional<std::uint64_t> seed_;  // of weights that begin from nothing
  std::unique_ptr<MarlBrain> common_;  // the shared network; none where nothing is shared
  std::size_t agents_made_ = 0;
  std::vector<Agent> agents_;  // by NodeId::slot
  std::uint64_t nodes_version_ = 0;
  AgentViews views_;
  std::span<AgentViews::View> asked_;
  std::vector<AgentWord> words_;  // theirs
  AgentDiaries diaries_;
  learning::Matrix states_;
  std::uint64_t since_average_ = 0;
  InputCheck check_;
  Progress progress_;
  WeightedScores fallback_;
};

}  // namespace evenkeel::scheduling
