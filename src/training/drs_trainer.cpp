#include "training/drs_trainer.h"

#include <cmath>
#include <limits>

#include "control/control_loop.h"
#include "scheduling/policies/drs_means.h"
#include "scheduling/scheduler.h"
#include "simulator/simulated_world.h"
#include "training/means_trainer.h"

namespace evenkeel::training {
namespace {

using learning::Model;
using learning::Real;
using learning::SavedState;
using scheduling::Drs;
using scheduling::DrsSettings;

struct Validation {
  std::size_t worlds = 0, every = 50;  // 0 worlds: the last model is the result
  std::string metric = "imbalance";
  std::uint64_t first = 200001;
};

struct Plan {
  DrsSettings settings;
  std::size_t worlds = 600, nodes = 0;
  std::uint64_t first_world = 100001;
  Real rate = 0, rate_end = 0;
  Validation validation;
};

class DrsTrainer final : public Trainer {
 public:
  DrsTrainer(Plan plan, TrainerInput input)
      : plan_(std::move(plan)), input_(std::move(input)), root_(input_.seed), policy_(plan_.settings) {
    Random weights = root_.fork("weights");
    policy_.make_learner(plan_.nodes, weights);
  }

  std::size_t steps() const override { return plan_.worlds; }
  std::size_t done() const override { return done_; }
  std::string_view step_name() const override { return "world"; }

  CurvePoint advance() override {
    const Real part = plan_.worlds > 1 ? static_cast<Real>(done_) / static_cast<Real>(plan_.worlds - 1) : 0;
    policy_.set_learning_rate(plan_.rate + (plan_.rate_end - plan_.rate) * part);
    Random random = root_.fork("worlds").fork(done_);
    policy_.begin_world(random);
    policy_.set_frozen(false);
    const Experiment& experiment = input_.experiments[done_ % input_.experiments.size()];
    const RunResult run = run_world(experiment, plan_.first_world + done_, random, policy_);
    const Drs::Progress& progress = policy_.progress();
    const auto mean = [](double sum, std::uint64_t n) { return n > 0 ? sum / static_cast<double>(n) : 0; };
    CurvePoint point = {{"reward", mean(progress.reward_sum, progress.rewards)},
                        {"loss", mean(progress.loss_sum, progress.updates)},
                        {"imbalance", run["imbalance"]},
                        {"imbalance_of_means", run["imbalance_of_means"]}};
    policy_.begin_world(random);  // what is pending will never be known: nothing of this world is left over
    ++done_;
    if (plan_.validation.worlds > 0 && (done_ % plan_.validation.every == 0 || done_ == plan_.worlds)) {
      const double figure = validate();
      point.push_back({"validation_" + plan_.validation.metric, figure});
      if (figure < best_figure_) {
        best_figure_ = figure;
        best_ = parameters();
      }
    }
    return point;
  }

  Model model() const override {
    Model model = policy_.model();
    std::size_t at = 0;
    if (!best_.empty())
      for (learning::ModelNetwork& network : model.networks)
        for (Real& parameter : network.parameters) parameter = best_[at++];
    for (const Experiment& experiment : input_.experiments)
      model.training_worlds.push_back(experiment.scenario.name + " from seed " +
                                      std::to_string(plan_.first_world));
    model.figures["worlds"] = static_cast<double>(done_);
    // What a policy that learns on must go on with (scheduling/policies/drs.cpp).
    const scheduling::LearnerSettings& learner = plan_.settings.learner;
    model.figures["discount"] = learner.dqn.discount;
    model.figures["reward_scale"] = learner.reward_scale;
    model.figures["epsilon"] = learner.dqn.epsilon_end;
    model.figures["learning_rate"] = plan_.rate_end;
    if (std::isfinite(best_figure_)) model.figures["validation_" + plan_.validation.metric] = best_figure_;
    return model;
  }

  std::string state() const override {
    SavedState state;
    state.put("done", done_);
    state.put("learner", policy_.learner().save());
    state.put("best", best_);
    state.put("best figure", std::span<const Real>(&best_figure_, 1));
    return state.bytes();
  }

  Status restore(std::string_view bytes) override {
    Result<SavedState> state = SavedState::parse(bytes);
    if (!state) return state.error();
    done_ = state->count("done");
    best_ = state->reals("best");
    state->reals("best figure", {&best_figure_, 1});
    if (done_ > plan_.worlds)
      state->fail("done",
                  "at most " + std::to_string(plan_.worlds) + " worlds, found " + std::to_string(done_));
    if (!best_.empty() && best_.size() != parameters().size())
      state->fail("best",
                  std::to_string(parameters().size()) + " parameters, found " + std::to_string(best_.size()));
    const Status learner = policy_.restore(state->part("learner"));
    return state->status() ? learner : state->status();
  }

 private:
  std::vector<Real> parameters() const {
    std::vector<Real> all;
    for (const learning::ModelNetwork& network : policy_.learner().networks())
      all.insert(all.end(), network.parameters.begin(), network.parameters.end());
    return all;
  }

  double validate() {
    policy_.set_frozen(true);
    double sum = 0;
    std::size_t runs = 0;
    for (const Experiment& experiment : input_.experiments)
      for (std::size_t i = 0; i < plan_.validation.worlds; ++i, ++runs) {
        Random random = root_.fork("validation").fork(i);
        policy_.begin_world(random);
        sum += run_world(experiment, plan_.validation.first + i, random, policy_)[plan_.validation.metric];
      }
    return sum / static_cast<double>(runs);
  }

  Plan plan_;
  TrainerInput input_;
  Random root_;
  Drs policy_;
  std::size_t done_ = 0;
  std::vector<Real> best_;  // of the networks, one after the other
  Real best_figure_ = std::numeric_limits<Real>::infinity();
};

DrsSettings read_settings(YamlReader& recipe) {
  const std::string name = recipe.text("policy").or_else("drs");
  std::optional<DrsSettings> known = scheduling::drs_settings(name);
  if (!known) {
    std::string all;
    for (const std::string_view policy : scheduling::drs_policies()) all += std::string(policy) + ", ";
    recipe.fail("policy", "found '" + name + "', expected one of " + all + "drs-means");
    return *scheduling::drs_settings("drs");
  }
  DrsSettings& s = *known;
  scheduling::LearnerSettings& l = s.learner;
  l.dqn.hidden = l.ppo.hidden = l.sac.hidden = read_hidden_layers(recipe, l.dqn.hidden);
  const Real discount = recipe.number("discount").between(0, 0.9999).or_else(l.dqn.discount);
  l.dqn.discount = l.ppo.discount = l.sac.discount = discount;
  const auto batch = recipe.integer<std::size_t>("batch").between(1, 4096).or_else(l.dqn.batch);
  l.dqn.batch = l.dqn.learn_from = l.sac.batch = l.sac.learn_from = l.ppo.minibatch = batch;
  const auto pool = recipe.integer<std::size_t>("pool").between(1, 10000000).or_else(l.dqn.replay.capacity);
  l.dqn.replay.capacity = l.sac.replay.capacity = pool;
  l.learn_after = s.name == "drs-literal" ? pool + 1 : std::max(batch, l.learn_after);
  l.learn_after = recipe.integer<std::size_t>("learn_after").between(1, 10000000).or_else(l.learn_after);
  l.dqn.target_every = recipe.integer<std::uint64_t>("target_every").at_least(1).or_else(l.dqn.target_every);
  l.dqn.epsilon_start = recipe.number("epsilon.start").between(0, 1).or_else(l.dqn.epsilon_start);
  l.dqn.epsilon_end = recipe.number("epsilon.end").between(0, 1).or_else(l.dqn.epsilon_end);
  const auto worlds = recipe.integer<std::uint64_t>("epsilon.worlds").between(0, 10000000).or_else(0);
  l.dqn.epsilon_steps = worlds * 300;  // DRS's pods a world
  l.ppo_every = recipe.integer<std::size_t>("ppo.every").between(1, 100000).or_else(l.ppo_every);
  l.ppo.entropy_bonus = recipe.number("ppo.entropy_bonus").between(0, 10).or_else(l.ppo.entropy_bonus);
  l.sac.target_entropy_share =
      recipe.number("sac.target_entropy_share").between(0, 1).or_else(l.sac.target_entropy_share);
  l.reward_scale = recipe.number("reward.scale").more_than(0).or_else(l.reward_scale);
  s.beta = recipe.number("reward.beta").at_least(0).or_else(s.beta);
  s.reward_after = recipe.duration("reward.after").more_than(Duration{}).or_else(s.reward_after);
  l.dqn.error_limit = recipe.number("error_limit").at_least(0).or_else(l.dqn.error_limit);
  return s;
}

}  // namespace

std::vector<int> read_hidden_layers(YamlReader& recipe, const std::vector<int>& otherwise) {
  const auto given = recipe.numbers("hidden").optional();
  if (!given) return otherwise;
  std::vector<int> hidden;
  for (const double width : *given) {
    if (!(width >= 1 && width <= 4096 && width == std::floor(width)))
      recipe.fail("hidden", "expected widths of 1 to 4096, found " + std::to_string(width));
    hidden.push_back(static_cast<int>(width));
  }
  if (hidden.empty()) recipe.fail("hidden", "expected at least one hidden layer, found none");
  return hidden;
}

Result<std::unique_ptr<Trainer>> make_drs_trainer(YamlReader& recipe, TrainerInput input) {
  if (recipe.text("policy").or_else("drs") == scheduling::DrsMeans::kEncoding)
    return make_means_trainer(recipe, std::move(input));
  Plan plan;
  plan.settings = read_settings(recipe);
  const scheduling::LearnerSettings& learner = plan.settings.learner;
  const Real own_rate = learner.algorithm == scheduling::DrsAlgorithm::dqn
                            ? learner.dqn.optimizer.learning_rate
                            : learner.ppo.actor.learning_rate;
  plan.rate = recipe.number("learning_rate").more_than(0).or_else(own_rate);
  plan.rate_end = recipe.number("learning_rate_end").more_than(0).or_else(plan.rate);
  plan.worlds = recipe.integer<std::size_t>("worlds").between(1, 10000000).or_else(plan.worlds);
  plan.first_world = recipe.integer<std::uint64_t>("first_world").at_least(1).or_else(plan.first_world);
  plan.validation.worlds = recipe.integer<std::size_t>("validation.worlds").between(0, 1000).or_else(5);
  plan.validation.every = recipe.integer<std::size_t>("validation.every").at_least(1).or_else(50);
  plan.validation.metric =
      recipe.word("validation.metric", {"imbalance", "imbalance_of_means", "response_s_mean", "makespan_s"})
          .or_else("imbalance");
  if (input.experiments.empty())
    return invalid("learner 'drs' needs a scenario: give --scenario, or `scenarios` in the recipe");
  for (const Experiment& experiment : input.experiments) {
    const std::size_t nodes = simulator::expand(experiment.scenario, plan.first_world).nodes.size();
    if (plan.nodes == 0) plan.nodes = nodes;
    if (nodes != plan.nodes)
      return invalid("scenario '" + experiment.scenario.name + "' has " + std::to_string(nodes) +
                     " nodes, '" + input.experiments.front().scenario.name + "' has " +
                     std::to_string(plan.nodes) + ": a flat network is trained for one number of nodes");
    if (nodes > Drs::kMostNodes)
      return invalid("scenario '" + experiment.scenario.name + "' has " + std::to_string(nodes) +
                     " nodes; a flat network serves at most " + std::to_string(Drs::kMostNodes));
  }
  return std::unique_ptr<Trainer>(std::make_unique<DrsTrainer>(std::move(plan), std::move(input)));
}

RunResult run_world(const Experiment& experiment, std::uint64_t world_seed, Random random,
                    scheduling::PlacementPolicy& policy) {
  const simulator::WorldPlan plan = simulator::expand(experiment.scenario, world_seed);
  simulator::SimulatedWorld world(plan, Random(world_seed), false);
  scheduling::Scheduler scheduler(experiment.options);
  control::ControlLoop loop(world, scheduler, policy, random);
  loop.run();
  RunResult result;
  result.metrics = metrics_of(world, plan.pods.size());
  return result;
}

std::size_t run_drs_epochs(const Experiment& experiment, std::uint64_t seed) {
  Drs policy(*scheduling::drs_settings("drs"));
  run_world(experiment, seed, Random(seed), policy);
  return policy.progress().rewards;
}

}  // namespace evenkeel::training
