#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "learning/algorithms/dqn.h"
#include "scheduling/policies/input_check.h"
#include "scheduling/policies/marl_encoding.h"
#include "scheduling/policies/marl_reward.h"

namespace evenkeel::scheduling {

struct MarlBrainOptions {
  MarlInputs inputs{};
  MarlRewardOptions reward{};
  learning::DqnOptions dqn{};
  // What its score is: how much more accepting is worth than rejecting; or, where rewards are differences and
  // rejecting makes none, what accepting is worth.
  enum class Score { advantage, value } score = Score::advantage;
  // The score from which on it accepts; none: accepting must be worth more than rejecting.
  std::optional<learning::Real> accept_from{};
  bool frozen = false;  // neither learns nor explores
};
MarlBrainOptions thesis_brain();  // `marl`
MarlBrainOptions shared_brain();  // `marl-shared`

// What an agent says to a pod.
struct AgentWord {
  BidVerdict verdict = BidVerdict::abstains;  // never `unfit`: filters are asked before
  // MarlBrainOptions::Score. Of agents that share weights this is one measure; of independent ones it is only
  // each one's own.
  float score = 0;
  bool explored = false;
};

// One agent: a deep Q-network with two actions, reject and accept, and the decisions whose rewards it waits
// for. Knows nothing of messages, of clocks and of other agents: a simulated cluster has one for each node
// (marl.h), `evenkeel agent` has one.
//
//   decide ──▶ settle(won?) ──▶ review … ──▶ learns      forget: its binding failed
class MarlBrain {
 public:
  static constexpr int kReject = MarlDiary::kReject, kAccept = MarlDiary::kAccept;

  MarlBrain(MarlBrainOptions options, Random& random);  // from nothing
  // From one network of a model: "agent", or "agent-1" … of agents that were trained apart. Refuses, by name,
  // a model of another encoding or shape. Goes on with the rates the model ends with.
  static Result<MarlBrain> from_model(MarlBrainOptions options, const learning::Model& model,
                                      std::string_view network = "agent");

  // Explores, unless frozen. Abstains where what it computed is no number.
  AgentWord decide(const AgentView& view, Random& random);
  AgentWord consider(const AgentView& view) const;  // the same, never exploring and leaving no trace
  // The same of what was encoded before, and of what a network of these options made of it.
  AgentWord decide(std::span<const learning::Real> state, Random& random);
  AgentWord consider(std::span<const learning::Real> state) const;
  AgentWord word_of(learning::Real reject, learning::Real accept) const;
  // Of the last decide().
  SelfCheck self_check() const { return check_.found(); }
  InputCheck& inputs() { return check_; }

  // Who got the pod is known: `won` says whether this node did. Its reward will be looked at.
  void settle(const AgentView& view, bool won, Time now);
  void forget(PodKey pod);
  Time review_at() const { return diary_.review_at(); }
  // Looks at rewards that are due (MarlDiary::review). True: something was learnt.
  bool review(Time now, const AgentView& now_seen, const MarlDiary::UseOf& use_of, Random& random);

  // One experience at once, for whoever keeps rewards elsewhere. False: it was no number, and is not kept.
  bool learn(learning::Experience experience, Random& random);

  // Averaging among agents: what it knows as one run of numbers, and how many experiences went into it since
  // it was last given any.
  std::vector<float> parameters() const;
  std::uint32_t experience() const { return experience_; }
  // Refuses another count, or what is not finite. Its experience starts again at 0; moments of its optimiser
  // and its pool stay.
  Status take(std::span<const float> parameters);

  void set_frozen(bool frozen) { options_.frozen = frozen; }
  bool frozen() const { return options_.frozen; }
  const MarlBrainOptions& options() const { return options_; }
  void set_learning_rate(learning::Real rate) { dqn_.optimizer().set_learning_rate(rate); }
  learning::Dqn& dqn() { return dqn_; }
  const learning::Dqn& dqn() const { return dqn_; }
  learning::ModelNetwork network(std::string name) const;

  struct Progress {
    std::uint64_t decisions = 0, accepted = 0, rewards = 0, updates = 0, dropped = 0;
    double reward_sum = 0, loss_sum = 0;
    double recent_reward = 0, recent_loss = 0;  // running means
  };
  const Progress& progress() const { return progress_; }
  void begin_world();  // what is pending is over; what was learnt stays
  // All that later learning depends on, between worlds.
  learning::SavedState save() const { return dqn_.save(); }
  Status restore(learning::SavedState state) { return dqn_.restore(std::move(state)); }

 private:
  MarlBrainOptions options_;
  learning::Dqn dqn_;
  InputCheck check_;
  MarlDiary diary_;
  std::uint32_t experience_ = 0;
  Progress progress_;
};

// A model of these networks; a trainer says where they come from.
learning::Model marl_model(const MarlBrainOptions& options, std::vector<learning::ModelNetwork> networks);

// The mean of what agents know, each counting by its experience (federated averaging, McMahan et al. 2017).
// Those that have none, are of another size or not finite are left out; nothing: all are.
struct BrainShare {
  std::span<const float> parameters;
  std::uint32_t experience = 0;
};
std::optional<std::vector<float>> average(std::span<const BrainShare> shares);

}  // namespace evenkeel::scheduling
