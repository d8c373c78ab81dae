#pragma once
#include <functional>
#include <memory>
#include <string>

#include "scheduling/policies/drs_encoding.h"
#include "scheduling/policies/drs_learner.h"
#include "scheduling/policies/input_check.h"
#include "scheduling/policies/pending_rewards.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

struct DrsSettings {
  std::string name = "drs";  // what its models are called
  LearnerSettings learner;
  DrsReward reward = DrsReward::drs;
  double beta = 200;                                // over alpha (section 5.3.1)
  Duration reward_after = std::chrono::seconds{5};  // T_i (section 4.2)
  double input_scale = 1;                           // 100: percent, as published
  bool count_fresh_pods = true;  // those that no sample shows yet; the paper looks at samples alone
  bool frozen = false;           // neither learns nor explores
};

// The policies of this family by name: drs, drs-literal, drs-double, drs-dueling, drs-ppo, drs-sac, rlsk,
// deeprm, multi-deeprm. Nothing: there is none of that name.
std::optional<DrsSettings> drs_settings(std::string_view policy);
std::vector<std::string_view> drs_policies();

// DRS (seed paper 000): a flat network looks at six metrics of every node and of the pod and says which node;
// T_i later the cluster is looked at again, and what it is like then is the reward (eq. 14, Algorithm 2).
//
// Assumes that nodes stay the same, in number and order: the network is made for the nodes of the first
// decision. A node that leaves is masked. When one joins, a learner that began from nothing begins anew, and
// a trained one leaves the deciding to kube-default until the number is its own again. So it does without a
// fresh sample of any node, where a metric is no number, and above kMostNodes, where nothing would be learnt.
//
// Deviations from the paper: docs/algorithms/drs.md. A binding that failed, or a pod that is gone before its
// reward is due, teaches nothing.
class Drs final : public PlacementPolicy, public ShowsInputs {
 public:
  static constexpr std::size_t kMostNodes = 1000;

  explicit Drs(DrsSettings settings) : settings_(std::move(settings)) {}
  // Refuses a model that is another policy's.
  static Result<std::unique_ptr<Drs>> from_model(DrsSettings settings, const learning::Model& model);

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  Time review_at() const override { return due_.next(); }
  std::vector<EvictPod> review(const Retrospect& seen, Random& random) override;
  SelfCheck self_check() const override;
  InputCheck& inputs() override { return check_; }

  // Rewards as they come jump by more than learning moves them: a running mean of the last fifty or so.
  std::vector<LearningFigure> learning() const override;

  // What it has been through, for learning curves.
  struct Progress {
    std::uint64_t rewards = 0, updates = 0, dropped = 0;
    double reward_sum = 0, loss_sum = 0, last_reward = 0, last_loss = 0;
    double recent_reward = 0, recent_loss = 0;  // running means
  };
  const Progress& progress() const { return progress_; }
  // For figures: called with each reward as it is learnt from.
  void watch_rewards(std::function<void(double)> watch) { reward_watch_ = std::move(watch); }

  // For trainers. A new world: what was pending there is over; what was learnt stays.
  void begin_world(Random& random);
  void set_frozen(bool frozen) { settings_.frozen = frozen; }
  void set_learning_rate(learning::Real rate) { learner_->set_learning_rate(rate); }
  bool has_learner() const { return learner_ != nullptr; }
  const DrsLearner& learner() const { return *learner_; }
  void make_learner(std::size_t nodes, Random& random);
  Status restore(learning::SavedState state) { return learner_->restore(std::move(state)); }
  learning::Model model() const;  // networks and encoding; the trainer says where they come from

 private:
  struct Pending {
    Time at, decided;
    PodId pod;
    NodeId node;
    Usage expected;
    NodeMetrics pod_part;
    DrsChoice choice;
  };

  bool know_nodes(const ClusterState& cluster, Random* random);
  std::optional<DrsChoice> look(const PlacementRequest& request, Random* random);
  learning::Mask present_nodes(const ClusterState& cluster) const;
  std::vector<FreshPod> fresh_pods() const;
  enum class Outcome { learn, wait, drop };
  Outcome outcome_of(const Pending& pending, const Retrospect& seen) const;
  void learn_from(Pending pending, const Retrospect& seen, Random& random);

  DrsSettings settings_;
  std::unique_ptr<DrsLearner> learner_;  // none until the nodes are known
  std::size_t nodes_ = 0;                // the network's
  bool trained_ = false;                 // began from a model
  std::vector<std::uint32_t> slots_;     // node i of the network
  PendingRewards<Pending> due_;
  std::optional<NodeMetrics> pod_part_;  // of the question looked at last
  std::optional<DrsChoice> looked_at_;   // the same
  InputCheck check_;
  Progress progress_;
  std::function<void(double)> reward_watch_;
  WeightedScores fallback_;
};

// A model for another number of nodes than there are is refused by name.
Status check_drs_model(const DrsSettings& settings, const learning::Model& model, std::size_t nodes);

}  // namespace evenkeel::scheduling
