#include "training/scaling_trainer.h"

#include <algorithm>
#include <limits>

#include "autoscaling/policies/dscaler.h"
#include "training/drs_trainer.h"
#include "training/scaling_env.h"

namespace evenkeel::training {
namespace {

using autoscaling::DScaler;
using autoscaling::DScalerSettings;
using learning::Real;
using learning::SavedState;

struct Plan {
  DScalerSettings settings;
  std::size_t worlds = 60, validation_worlds = 2, validation_every = 10;
  std::uint64_t first_world = 100001, first_validation = 200001;
  Duration length{std::chrono::hours{12}};
  Real rate = 0, rate_end = 0;
};

// From anywhere: a week's nights alone would teach little.
void take_piece(simulator::ServiceWorldPlan& plan, Duration length, Random random) {
  if (plan.length <= length) return;
  simulator::RequestRates rates = *plan.rates;
  const auto steps = static_cast<std::size_t>((plan.length - length) / rates.step);
  const auto from = static_cast<std::ptrdiff_t>(random.below(steps + 1));
  for (std::vector<float>* values : {&rates.per_s, &rates.work})
    if (!values->empty()) values->erase(values->begin(), values->begin() + from);
  plan.rates = std::make_shared<const simulator::RequestRates>(std::move(rates));
  plan.length = length;
}

class DScalerTrainer final : public Trainer {
 public:
  DScalerTrainer(Plan plan, TrainerInput input)
      : plan_(std::move(plan)), input_(std::move(input)), root_(input_.seed), policy_(plan_.settings) {
    Random weights = root_.fork("weights");
    policy_.make_learner(weights);
  }

  std::size_t steps() const override { return plan_.worlds; }
  std::size_t done() const override { return done_; }
  std::string_view step_name() const override { return "world"; }

  CurvePoint advance() override {
    const Real part = plan_.worlds > 1 ? static_cast<Real>(done_) / static_cast<Real>(plan_.worlds - 1) : 0;
    policy_.set_learning_rate(plan_.rate + (plan_.rate_end - plan_.rate) * part);
    policy_.set_frozen(false);
    const RunResult seen = run(done_, plan_.first_world + done_, root_.fork("worlds").fork(done_));
    const DScaler::Progress progress = policy_.progress();
    const auto mean = [](double sum, std::uint64_t n) { return n > 0 ? sum / static_cast<double>(n) : 0; };
    CurvePoint point = {{"reward", mean(progress.reward_sum, progress.rewards)},
                        {"loss", mean(progress.loss_sum, progress.updates)},
                        {"replicas_mean", seen["replicas_mean"]},
                        {"sla_violation", seen["sla_violation"]}};
    ++done_;
    if (plan_.validation_worlds > 0 && (done_ % plan_.validation_every == 0 || done_ == plan_.worlds)) {
      const double reward = validate();
      point.push_back({"validation_reward", reward});
      if (reward > best_reward_) {
        best_reward_ = reward;
        const auto parameters = policy_.learner().network().parameters();
        best_.assign(parameters.begin(), parameters.end());
      }
    }
    return point;
  }

  learning::Model model() const override {
    learning::Model model = policy_.model();
    if (!best_.empty()) model.networks.front().parameters = best_;
    for (const ScalingExperiment& experiment : input_.scaling)
      model.training_worlds.push_back(experiment.scenario.name + " from seed " +
                                      std::to_string(plan_.first_world));
    model.figures["worlds"] = static_cast<double>(done_);
    model.figures["epsilon_end"] = plan_.settings.dqn.epsilon_end;
    if (!best_.empty()) model.figures["validation_reward"] = best_reward_;
    return model;
  }

  std::string state() const override {
    SavedState state;
    state.put("done", done_);
    state.put("policy", policy_.save());
    state.put("best", best_);
    state.put("best reward", std::span<const Real>(&best_reward_, 1));
    return state.bytes();
  }

  Status restore(std::string_view bytes) override {
    Result<SavedState> state = SavedState::parse(bytes);
    if (!state) return state.error();
    done_ = state->count("done");
    best_ = state->reals("best");
    state->reals("best reward", {&best_reward_, 1});
    if (done_ > plan_.worlds) state->fail("done", "at most " + std::to_string(plan_.worlds) + " worlds");
    if (!best_.empty() && best_.size() != policy_.learner().network().parameters().size())
      state->fail("best", "as many parameters as the network has");
    const Status policy = policy_.restore(state->part("policy"));
    return state->status() ? policy : state->status();
  }

 private:
  RunResult run(std::size_t which, std::uint64_t seed, const Random& random) {
    const ScalingExperiment& experiment = input_.scaling[which % input_.scaling.size()];
    simulator::ServiceWorldPlan plan = simulator::expand(experiment.scenario, seed);
    take_piece(plan, plan_.length, Random(seed).fork("piece"));
    policy_.begin_world();
    policy_.clear_progress();
    RunResult result = run_scaling_world(plan, seed, random, policy_);
    policy_.begin_world();
    return result;
  }

  double validate() {
    policy_.set_frozen(true);
    double sum = 0, count = 0;
    for (std::size_t e = 0; e < input_.scaling.size(); ++e)
      for (std::size_t i = 0; i < plan_.validation_worlds; ++i) {
        run(e, plan_.first_validation + i, root_.fork("validation").fork(i));
        sum += policy_.progress().reward_sum;
        count += static_cast<double>(policy_.progress().rewards);
      }
    return count > 0 ? sum / count : -std::numeric_limits<double>::infinity();
  }

  Plan plan_;
  TrainerInput input_;
  Random root_;
  DScaler policy_;
  std::size_t done_ = 0;
  std::vector<Real> best_;
  Real best_reward_ = -std::numeric_limits<Real>::infinity();
};

Plan read_plan(YamlReader& recipe) {
  Plan plan;
  learning::DqnOptions& dqn = plan.settings.dqn;
  dqn.hidden = read_hidden_layers(recipe, dqn.hidden);
  dqn.discount = recipe.number("discount").between(0, 0.9999).or_else(dqn.discount);
  dqn.batch = dqn.learn_from = recipe.integer<std::size_t>("batch").between(1, 4096).or_else(dqn.batch);
  dqn.replay.capacity = recipe.integer<std::size_t>("pool").between(1, 10000000).or_else(dqn.replay.capacity);
  dqn.target_every = recipe.integer<std::uint64_t>("target_every").at_least(1).or_else(dqn.target_every);
  dqn.epsilon_start = recipe.number("epsilon.start").between(0, 1).or_else(dqn.epsilon_start);
  dqn.epsilon_end = recipe.number("epsilon.end").between(0, 1).or_else(dqn.epsilon_end);
  dqn.epsilon_steps = recipe.integer<std::uint64_t>("epsilon.decisions").at_least(0).or_else(20000);
  plan.rate = recipe.number("learning_rate").more_than(0).or_else(dqn.optimizer.learning_rate);
  plan.rate_end = recipe.number("learning_rate_end").more_than(0).or_else(plan.rate);
  dqn.optimizer.learning_rate = plan.rate;
  plan.settings.penalty = recipe.number("penalty").between(-1000, 0).or_else(plan.settings.penalty);
  autoscaling::DScalerRanges& ranges = plan.settings.ranges;
  ranges.replicas = recipe.number("ranges.replicas").more_than(0).or_else(ranges.replicas);
  ranges.requests_per_s = recipe.number("ranges.requests_per_s").more_than(0).or_else(ranges.requests_per_s);
  plan.settings.every = recipe.duration("decisions_every").at_least(Duration{}).or_else(plan.settings.every);
  plan.worlds = recipe.integer<std::size_t>("worlds").between(1, 10000000).or_else(plan.worlds);
  plan.first_world = recipe.integer<std::uint64_t>("first_world").at_least(1).or_else(plan.first_world);
  plan.length = recipe.duration("length").more_than(Duration{}).or_else(plan.length);
  plan.validation_worlds =
      recipe.integer<std::size_t>("validation.worlds").between(0, 1000).or_else(plan.validation_worlds);
  plan.validation_every =
      recipe.integer<std::size_t>("validation.every").at_least(1).or_else(plan.validation_every);
  return plan;
}

}  // namespace

Result<std::unique_ptr<Trainer>> make_dscaler_trainer(YamlReader& recipe, TrainerInput input) {
  Plan plan = read_plan(recipe);
  if (input.scaling.empty())
    return invalid("learner 'dscaler' needs a scenario: give --scenario, or `scenarios` in the recipe");
  for (const ScalingExperiment& experiment : input.scaling)
    if (experiment.scenario.world.services.size() != 1)
      return invalid("scenario '" + experiment.scenario.name + "' has " +
                     std::to_string(experiment.scenario.world.services.size()) +
                     " services; DScaler is trained on one");
  return std::unique_ptr<Trainer>(std::make_unique<DScalerTrainer>(std::move(plan), std::move(input)));
}

}  // namespace evenkeel::training
