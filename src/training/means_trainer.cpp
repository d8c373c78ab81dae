#include "training/means_trainer.h"

#include <cmath>
#include <limits>

#include "learning/algorithms/evolution.h"
#include "scheduling/policies/drs_means.h"
#include "training/drs_trainer.h"
#include "training/in_parallel.h"

namespace evenkeel::training {
namespace {

using learning::Evolution;
using learning::Real;
using learning::SavedState;
using learning::SharedScorer;
using scheduling::DrsMeans;

struct Plan {
  std::vector<int> hidden;
  learning::EvolutionOptions evolution;
  std::size_t generations = 80, worlds = 4, validation_worlds = 5, validation_every = 10;
  std::uint64_t first_world = 100001, first_validation = 200001;
  Real of_means = 1, of_moments = 0;
};

std::vector<Real> first_parameters(const Plan& plan, const Random& root) {
  Random random = root.fork("weights");
  const SharedScorer scorer(DrsMeans::shape(plan.hidden), random);
  return {scorer.parameters().begin(), scorer.parameters().end()};
}

class MeansTrainer final : public Trainer {
 public:
  MeansTrainer(Plan plan, TrainerInput input)
      : plan_(std::move(plan)),
        input_(std::move(input)),
        root_(input_.seed),
        evolution_(first_parameters(plan_, root_), plan_.evolution, root_.fork("evolution")) {}

  std::size_t steps() const override { return plan_.generations; }
  std::size_t done() const override { return evolution_.generation(); }
  std::string_view step_name() const override { return "generation"; }

  CurvePoint advance() override {
    const std::uint64_t first = plan_.first_world + evolution_.generation() * plan_.worlds;
    std::vector<std::vector<Real>> trials;
    for (std::size_t i = 0; i < evolution_.trials(); ++i) trials.push_back(evolution_.trial(i));
    const std::vector<Costs> costs = judge(trials, first, plan_.worlds);
    std::vector<Real> results;
    CurvePoint point = {{"imbalance_of_means", 0}, {"imbalance", 0}};
    for (const Costs& cost : costs) {
      results.push_back(total(cost));
      point[0].value += cost.of_means / static_cast<double>(costs.size());
      point[1].value += cost.of_moments / static_cast<double>(costs.size());
    }
    evolution_.advance(results);
    if (plan_.validation_worlds > 0 &&
        (done() % plan_.validation_every == 0 || done() == plan_.generations)) {
      const Costs seen = judge({evolution_.parameters()}, plan_.first_validation, plan_.validation_worlds)[0];
      point.push_back({"validation_imbalance_of_means", seen.of_means});
      point.push_back({"validation_imbalance", seen.of_moments});
      if (total(seen) < best_figure_) {
        best_figure_ = total(seen);
        best_ = evolution_.parameters();
      }
    }
    return point;
  }

  learning::Model model() const override {
    learning::Model model = DrsMeans::model_of(scorer_of(best_.empty() ? evolution_.parameters() : best_));
    for (const Experiment& experiment : input_.experiments)
      model.training_worlds.push_back(experiment.scenario.name + " from seed " +
                                      std::to_string(plan_.first_world));
    model.figures["generations"] = static_cast<double>(done());
    if (std::isfinite(best_figure_)) model.figures["validation_cost"] = best_figure_;
    return model;
  }

  std::string state() const override {
    SavedState state;
    state.put("evolution", evolution_.save());
    state.put("best", best_);
    state.put("best figure", std::span<const Real>(&best_figure_, 1));
    return state.bytes();
  }

  Status restore(std::string_view bytes) override {
    Result<SavedState> state = SavedState::parse(bytes);
    if (!state) return state.error();
    best_ = state->reals("best");
    state->reals("best figure", {&best_figure_, 1});
    if (!best_.empty() && best_.size() != evolution_.parameters().size())
      state->fail("best", std::to_string(evolution_.parameters().size()) + " parameters, found " +
                              std::to_string(best_.size()));
    const Status evolution = evolution_.restore(state->part("evolution"));
    return state->status() ? evolution : state->status();
  }

 private:
  struct Costs {
    double of_means = 0, of_moments = 0;
  };

  Real total(const Costs& costs) const {
    return plan_.of_means * costs.of_means + plan_.of_moments * costs.of_moments;
  }

  SharedScorer scorer_of(const std::vector<Real>& parameters) const {
    SharedScorer scorer(DrsMeans::shape(plan_.hidden));
    std::copy(parameters.begin(), parameters.end(), scorer.parameters().begin());
    return scorer;
  }

  Costs judge_one(const std::vector<Real>& parameters, std::uint64_t first, std::size_t worlds) const {
    Costs costs;
    const double share = 1 / static_cast<double>(worlds * input_.experiments.size());
    for (const Experiment& experiment : input_.experiments)
      for (std::size_t i = 0; i < worlds; ++i) {
        DrsMeans policy(scorer_of(parameters));
        const RunResult run = run_world(experiment, first + i, Random(first + i), policy);
        costs.of_means += share * run["imbalance_of_means"];
        costs.of_moments += share * run["imbalance"];
      }
    return costs;
  }

  // Each trial by one thread whole, so that sums do not depend on how many there are.
  std::vector<Costs> judge(const std::vector<std::vector<Real>>& trials, std::uint64_t first,
                           std::size_t worlds) const {
    std::vector<Costs> costs(trials.size());
    in_parallel(trials.size(), input_.threads,
                [&](std::size_t i) { costs[i] = judge_one(trials[i], first, worlds); });
    return costs;
  }

  Plan plan_;
  TrainerInput input_;
  Random root_;
  Evolution evolution_;
  std::vector<Real> best_;
  Real best_figure_ = std::numeric_limits<Real>::infinity();
};

}  // namespace

Result<std::unique_ptr<Trainer>> make_means_trainer(YamlReader& recipe, TrainerInput input) {
  Plan plan;
  plan.hidden = read_hidden_layers(recipe, {8});
  plan.generations = recipe.integer<std::size_t>("generations").between(1, 100000).or_else(plan.generations);
  plan.worlds = recipe.integer<std::size_t>("worlds").between(1, 1000).or_else(plan.worlds);
  plan.first_world = recipe.integer<std::uint64_t>("first_world").at_least(1).or_else(plan.first_world);
  plan.evolution.pairs = recipe.integer<std::size_t>("pairs").between(1, 10000).or_else(plan.evolution.pairs);
  plan.evolution.deviation = recipe.number("deviation").more_than(0).or_else(plan.evolution.deviation);
  plan.evolution.optimizer.learning_rate =
      recipe.number("learning_rate").more_than(0).or_else(plan.evolution.optimizer.learning_rate);
  plan.of_means = recipe.number("objective.imbalance_of_means").at_least(0).or_else(plan.of_means);
  plan.of_moments = recipe.number("objective.imbalance").at_least(0).or_else(plan.of_moments);
  plan.validation_worlds =
      recipe.integer<std::size_t>("validation.worlds").between(0, 1000).or_else(plan.validation_worlds);
  plan.validation_every =
      recipe.integer<std::size_t>("validation.every").at_least(1).or_else(plan.validation_every);
  if (input.experiments.empty())
    return invalid("policy 'drs-means' needs a scenario: give --scenario, or `scenarios` in the recipe");
  return std::unique_ptr<Trainer>(std::make_unique<MeansTrainer>(std::move(plan), std::move(input)));
}

}  // namespace evenkeel::training
