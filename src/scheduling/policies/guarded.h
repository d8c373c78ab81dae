#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/policies/guard_watches.h"
#include "scheduling/policies/online_learning.h"
#include "scheduling/policies/policy.h"
#include "scheduling/stage.h"

namespace evenkeel::scheduling {

// Why the rule decides although it is the learned policy's turn.
enum class Fallback : std::uint8_t {
  none,
  no_model,         // there is none, or it could not be read
  stage_unknown,    // nobody says any more how far the learned policy may go
  metrics_missing,  // too many nodes were never measured
  metrics_stale,    // too many nodes, or the one it chose, were measured too long ago
  not_finite,       // its scores are no numbers
  no_answer,        // it named no node, or one that the filters refused
  drift,            // its inputs are not of the kind it was trained on
  reward,           // it does worse than the rule
};
inline constexpr std::size_t kFallbacks = 9;
std::string_view name_of(Fallback reason);  // "metrics_stale": for metrics and Events

struct GuardOptions {
  double most_stale = 0.2;     // of the nodes, before its answers count for nothing
  double most_outside = 0.15;  // of its inputs, over the window: measured in docs/stages.md
  std::size_t window = 64;     // decisions
  double too_strange = 0.5;    // of one question's inputs: not to be answered by it, whatever the others were
  Duration settle{std::chrono::seconds{30}};     // all is well for so long before it decides again
  Duration look_every{std::chrono::seconds{5}};  // when nobody asks
  Duration reward_pause{
      std::chrono::minutes{10}};  // before a policy that did worse may try again; then twice that
  Duration longest_pause{std::chrono::hours{4}};
  RewardWatch::Options reward{};
};

struct GuardState {
  bool healthy = true;
  Fallback reason = Fallback::none;
  std::string why;  // in words, kept while it lasts
  Time since{};
  std::uint64_t falls = 0, returns = 0;
  std::uint64_t by_learned = 0, by_rule = 0;        // decisions, as the stage has it
  std::array<std::uint64_t, kFallbacks> instead{};  // of the rule in the learned policy's stead, by reason
};

// One decision as both saw it. What was not asked is not there.
struct GuardVerdict {
  PodId pod{};
  Time at{};
  bool learned = false;  // it decided
  Fallback fallback = Fallback::none;
  std::optional<NodeId> learned_choice, rule_choice;
  // Expected right after (DRS eq. 13), and how full the chosen node's fullest dimension is; where both were
  // asked.
  double learned_imbalance = 0, rule_imbalance = 0;
  double learned_fullest = 0, rule_fullest = 0;
  bool compared() const { return learned_choice && rule_choice; }
};

// A learned policy that is not trusted blindly. It decides where its stage says so and all is well; where
// anything is wrong the rule decides that very question, says why, and goes on deciding until all was well
// for a while. The rule is asked about feasible nodes only, and so is what the learned policy says checked
// against the filters: no answer of a model reaches a pod unseen.
//
// Assumes: the rule needs no model; it has an answer of its own where no node has fresh metrics (`horizon`
// then goes by kube-default). A learned policy with scores() or explain() can be asked without learning from
// it.
class Guarded final : public PlacementPolicy {
 public:
  struct Parts {
    std::string learned_name, rule_name;
    std::unique_ptr<PlacementPolicy> learned;  // none: the rule decides for good
    std::unique_ptr<PlacementPolicy> rule;
    std::string why_missing{};  // where there is no learned policy
  };
  explicit Guarded(Parts parts, GuardOptions options = {});

  // In force from the next question on. Nothing: nobody knows, so the rule decides.
  void set_stage(std::optional<StageSettings> stage, std::string why_unknown = "");
  const std::optional<StageSettings>& stage() const { return stage_; }

  const GuardState& state() const { return state_; }
  const GuardVerdict& last() const { return verdict_; }
  std::string note() const;  // who decided last, and why
  const std::string& learned_name() const { return parts_.learned_name; }
  const std::string& rule_name() const { return parts_.rule_name; }

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  Time review_at() const override;
  std::vector<EvictPod> review(const Retrospect& seen, Random& random) override;
  std::vector<LearningFigure> learning() const override;

 private:
  struct Trouble {
    Fallback reason = Fallback::none;
    std::string why{};
  };
  struct Answer {
    std::optional<NodeId> node;
    Trouble trouble;
    bool lasting = true;  // the trouble is more than this question's
  };
  Trouble standing_trouble(const ClusterState& cluster, const SchedulingOptions& options, Time now);
  Answer ask(const PlacementRequest& request, Random& random, bool binding);
  Answer look_at(const PlacementRequest& request, Answer answer);
  void judge(const Trouble& trouble, Time now);
  void fall(const Trouble& trouble, Time now);
  void compare(const PlacementRequest& request);
  bool decides(const PlacementRequest& request) const;

  Parts parts_;
  GuardOptions options_;
  LearnsFromOthers* onlooker_ =
      nullptr;  // the learned policy, where it learns from what the rule decides too
  std::optional<StageSettings> stage_{StageSettings{}};
  std::string why_unknown_;
  MetricsWatch metrics_;
  DriftWatch drift_;
  RewardWatch reward_;
  GuardState state_;
  GuardVerdict verdict_;
  std::optional<Time> well_since_;
  Time next_look_{};
  Time paused_until_ = Time::min();
  Duration next_pause_;
};

}  // namespace evenkeel::scheduling
