#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autoscaling/encoding.h"
#include "autoscaling/policies/policy.h"
#include "base/result.h"
#include "learning/algorithms/dqn.h"
#include "learning/model_file.h"

namespace evenkeel::autoscaling {

// DScaler (seed paper 003, Algorithm 1): a DQN that sees CPU utilisation, replicas and request rate and says
// -2 to +2. Assumes that both and the response are reported at every decision. What the paper leaves open,
// and how we read it: docs/algorithms/dscaler.md.
struct DScalerSettings {
  // Longer than a pod takes to start and to be measured: N and U then say what came of the last decision.
  static constexpr Duration kUsualEvery{std::chrono::seconds{60}};

  learning::DqnOptions dqn = published();
  double penalty = -2;            // eq. 4
  DScalerRanges ranges{};         // N and W that count as 1; ours
  Duration every = kUsualEvery;   // between decisions, at least; ours
  bool frozen = false;            // neither learns nor explores
  bool explores_up_only = false;  // ours, for clusters with users; the paper explores both ways

  static learning::DqnOptions published();
};

// eq. 3 and 4
double dscaler_reward(double utilisation, double response_s, double bound_s, double penalty);

class DScaler final : public ScalingPolicy {
 public:
  static constexpr std::string_view kEncoding = "dscaler";
  static constexpr int kActions = 5;  // -2 … +2
  struct Progress {
    std::uint64_t rewards = 0, updates = 0;
    double reward_sum = 0, loss_sum = 0;
  };

  // Arguments: frozen (true, false), explore (both, up), every (between decisions), requests (W that counts
  // as 1), replicas (N likewise).
  static Result<std::unique_ptr<DScaler>> make(const std::map<std::string, std::string>& arguments,
                                               const learning::Model* model);
  explicit DScaler(DScalerSettings settings);

  Recommendation recommend(const ScalingRequest& request, Random& random) override;
  learning::SavedState save() const override;
  Status restore(learning::SavedState state) override;

  // For trainers: what was decided last is not learnt from in another world.
  void begin_world() { last_.reset(); }
  void set_frozen(bool frozen) { settings_.frozen = frozen; }
  void set_learning_rate(learning::Real rate);
  learning::Dqn& learner() { return *dqn_; }
  void make_learner(Random& random);
  learning::Model model() const;
  const Progress& progress() const { return progress_; }
  void clear_progress() { progress_ = {}; }

 private:
  struct Step {
    DScalerState state{};
    learning::Mask allowed;
    int action = 0;
    Time at{};
    // Of what was measured since; at the end at least one look counts.
    double reward_sum = 0;
    int looks = 0;
  };
  Status begin_from(const learning::Model& model);
  void look(const ServiceFacts& facts, const ScalingRequest& request, bool last);
  void learn(const DScalerState& state, const learning::Mask& allowed, Random& random);

  DScalerSettings settings_;
  std::unique_ptr<learning::Dqn> dqn_;  // made at the first decision, of its random numbers
  std::optional<Step> last_;
  Progress progress_;
};

}  // namespace evenkeel::autoscaling
