#include "training/evenkeel_trainer.h"

#include <algorithm>
#include <cmath>

#include "learning/optimizer.h"
#include "learning/saved_state.h"
#include "training/counterfactual.h"
#include "training/in_parallel.h"

namespace evenkeel::training {
namespace {

using learning::Matrix;
using learning::Real;
using learning::SharedScorer;
using scheduling::EvenkeelEncoding;

struct Plan {
  std::size_t rounds = 40, worlds = 24, passes = 2, batch = 64, improve_every = 20;
  std::vector<int> hidden{32};
  Real rate = 3e-3, rate_end = 3e-4;
  Real smoothing = 0.005;     // of the weights over updates: what is used is their running average
  Real sharpness = 1.5;       // of the softmax: how far apart scores must be to be sure
  Real scenario_share = 0.5;  // of the worlds, where the recipe names scenarios
  std::uint64_t first_world = 1000001;
  RandomWorldOptions world;
  CounterfactualOptions counterfactual;
};

// What all candidates of a lesson cost on average is nobody's merit: costs count from there.
void centre(RatedNodes& lesson) {
  float mean = 0;
  for (const float cost : lesson.costs) mean += cost / static_cast<float>(lesson.costs.size());
  for (float& cost : lesson.costs) cost -= mean;
}

class EvenkeelTrainer final : public Trainer {
 public:
  EvenkeelTrainer(Plan plan, TrainerInput input)
      : plan_(std::move(plan)),
        experiments_(std::move(input.experiments)),
        seed_(input.seed),
        threads_(std::max(1U, input.threads)),
        scorer_(first_scorer(plan_.hidden, input.seed)),
        optimizer_(scorer_.parameters().size(), {.learning_rate = 1, .gradient_limit = 1}),
        gradient_(scorer_.parameters().size()),
        smooth_(scorer_.parameters().begin(), scorer_.parameters().end()) {}

  std::size_t steps() const override { return plan_.rounds; }
  std::size_t done() const override { return done_; }
  std::string_view step_name() const override { return "round"; }

  CurvePoint advance() override {
    if (done_ > 0 && done_ % plan_.improve_every == 0) player_ = smooth_;
    std::vector<RatedNodes> lessons = gather();
    for (RatedNodes& lesson : lessons) centre(lesson);
    const Figures before = judge(lessons);
    Random random = Random(seed_).fork("batches").fork(done_);
    for (std::size_t pass = 0; pass < plan_.passes; ++pass) learn(lessons, random);
    ++done_;
    // Judged before it was learnt from, so on worlds it had not seen.
    for (std::size_t i = 0; i < kAverages; ++i)
      averages_[i] += (before.of[i] - averages_[i]) / static_cast<Real>(std::min<std::size_t>(done_, 10));
    return {{"saved_by_horizon", -before.of[0]},
            {"saved", -before.of[1]},
            {"saved_by_hindsight", -before.of[2]},
            {"lessons", static_cast<double>(lessons.size())}};
  }

  learning::Model model() const override {
    learning::Model model;
    model.encoding = EvenkeelEncoding::kName;
    model.normalisation = EvenkeelEncoding::normalisation();
    for (const Experiment& experiment : experiments_)
      model.training_worlds.push_back(experiment.scenario.name + " with seeds from " +
                                      std::to_string(first_world()) + " on");
    model.training_worlds.push_back("random worlds with seeds from " + std::to_string(first_world()) +
                                    " on, at most " + std::to_string(plan_.world.most_nodes) + " nodes");
    model.figures = {{"rounds", static_cast<double>(done_)},
                     {"worlds", static_cast<double>(done_ * plan_.worlds)},
                     {"saved_by_horizon", -averages_[0]},
                     {"saved", -averages_[1]},
                     {"saved_by_hindsight", -averages_[2]}};
    model.networks.push_back({"scorer", scorer_.network().shape(), smooth_});
    return model;
  }

  std::string state() const override {
    learning::SavedState state;
    state.put("done", done_);
    state.put("parameters", scorer_.parameters());
    state.put("moments", optimizer_.moments());
    state.put("steps", optimizer_.steps());
    state.put("smooth", smooth_);
    state.put("player", player_);
    state.put("averages", averages_);
    return state.bytes();
  }

  Status restore(std::string_view bytes) override {
    Result<learning::SavedState> state = learning::SavedState::parse(bytes);
    if (!state) return state.error();
    done_ = state->count("done");
    if (done_ > plan_.rounds)
      state->fail("done",
                  "at most " + std::to_string(plan_.rounds) + " rounds, found " + std::to_string(done_));
    state->reals("parameters", scorer_.parameters());
    std::vector<Real> moments(optimizer_.moments().size());
    state->reals("moments", moments);
    optimizer_.restore(moments, state->count("steps"));
    state->reals("smooth", smooth_);
    player_ = state->reals("player");
    if (!player_.empty() && player_.size() != scorer_.parameters().size())
      state->fail("player", std::to_string(scorer_.parameters().size()) + " parameters or none, found " +
                                std::to_string(player_.size()));
    state->reals("averages", averages_);
    return state->status();
  }

 private:
  static constexpr std::size_t kAverages = 3;
  struct Figures {
    std::array<Real, kAverages> of{};  // by horizon, by the scorer, by the best candidate in hindsight
  };

  // Begins as horizon, give or take a little: the last layer's weights are small.
  static SharedScorer first_scorer(const std::vector<int>& hidden, std::uint64_t seed) {
    Random random = Random(seed).fork("weights");
    SharedScorer scorer(EvenkeelEncoding::shape(hidden), random);
    const learning::Network::Layer& last = scorer.network().layers().back();
    for (Real& weight : scorer.parameters().subspan(last.weights)) weight *= 0.1;
    return scorer;
  }

  // Worlds of the recipe's scenarios come evenly between the random ones, each scenario in turn.
  RandomWorld make_world(std::size_t i, std::uint64_t seed) const {
    const auto before = static_cast<std::size_t>(plan_.scenario_share * static_cast<Real>(i));
    const auto with = static_cast<std::size_t>(plan_.scenario_share * static_cast<Real>(i + 1));
    if (experiments_.empty() || before == with) return make_random_world(plan_.world, seed);
    return make_scenario_world(experiments_[with % experiments_.size()], seed);
  }

  std::vector<RatedNodes> gather() const {
    std::vector<std::vector<RatedNodes>> by_world(plan_.worlds);
    std::optional<SharedScorer> player;
    if (!player_.empty()) {
      player.emplace(scorer_.shape());
      std::copy(player_.begin(), player_.end(), player->parameters().begin());
    }
    in_parallel(plan_.worlds, threads_, [&](std::size_t i) {
      const std::uint64_t world = first_world() + done_ * plan_.worlds + i;
      by_world[i] =
          lessons_of(make_world(i, world), player ? &*player : nullptr, plan_.counterfactual, world);
    });
    std::vector<RatedNodes> lessons;
    for (std::vector<RatedNodes>& some : by_world)
      std::move(some.begin(), some.end(), std::back_inserter(lessons));
    return lessons;
  }

  // Trainings of different seeds see different worlds.
  std::uint64_t first_world() const { return plan_.first_world + seed_ * 1'000'000; }

  static std::vector<Real> reals(const std::vector<float>& values) { return {values.begin(), values.end()}; }
  static Matrix nodes_of(const RatedNodes& lesson) {
    return Eigen::Map<const Eigen::MatrixXf>(lesson.question.features.data(), EvenkeelEncoding::kNode,
                                             static_cast<Eigen::Index>(lesson.question.nodes.size()))
        .cast<Real>();
  }

  Figures judge(const std::vector<RatedNodes>& lessons) const {
    Figures figures;
    for (const RatedNodes& lesson : lessons) {
      const learning::Vector learned =
          scorer_.forward(reals(lesson.question.item), nodes_of(lesson), reals(lesson.question.summary));
      std::size_t horizon = 0, scorer = 0;
      const auto score = [&](std::size_t i) {
        return lesson.question.base[i] + learned[static_cast<Eigen::Index>(i)];
      };
      for (std::size_t i = 1; i < lesson.costs.size(); ++i) {
        if (lesson.question.base[i] > lesson.question.base[horizon]) horizon = i;
        if (score(i) > score(scorer)) scorer = i;
      }
      const auto share = 1 / static_cast<Real>(lessons.size());
      figures.of[0] += share * lesson.costs[horizon];
      figures.of[1] += share * lesson.costs[scorer];
      figures.of[2] += share * *std::min_element(lesson.costs.begin(), lesson.costs.end());
    }
    return figures;
  }

  void learn(const std::vector<RatedNodes>& lessons, Random& random) {
    std::vector<std::size_t> order(lessons.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    random.shuffle(order);
    const Real part = plan_.rounds > 1 ? static_cast<Real>(done_) / static_cast<Real>(plan_.rounds - 1) : 0;
    optimizer_.set_learning_rate(plan_.rate + (plan_.rate_end - plan_.rate) * part);
    for (std::size_t from = 0; from + plan_.batch <= order.size(); from += plan_.batch) {
      for (std::size_t i = from; i < from + plan_.batch; ++i) add_gradient(lessons[order[i]]);
      // A gradient that is not finite is refused, and the weights stay as they are.
      (void)optimizer_.step(scorer_.parameters(), gradient_);
      for (std::size_t i = 0; i < smooth_.size(); ++i)
        smooth_[i] += plan_.smoothing * (scorer_.parameters()[i] - smooth_[i]);
    }
  }

  void add_gradient(const RatedNodes& lesson) {
    learning::Network::Trace trace;
    learning::Vector chance =
        scorer_.forward(reals(lesson.question.item), nodes_of(lesson), reals(lesson.question.summary), trace);
    Real expected = 0, total = 0;
    for (Eigen::Index i = 0; i < chance.size(); ++i)
      chance[i] += lesson.question.base[static_cast<std::size_t>(i)];
    const Real highest = chance.maxCoeff();
    for (Eigen::Index i = 0; i < chance.size(); ++i) {
      chance[i] = std::exp(plan_.sharpness * (chance[i] - highest));
      total += chance[i];
    }
    chance /= total;
    for (Eigen::Index i = 0; i < chance.size(); ++i)
      expected += chance[i] * lesson.costs[static_cast<std::size_t>(i)];
    learning::Vector slope(chance.size());
    for (Eigen::Index i = 0; i < chance.size(); ++i)
      slope[i] = plan_.sharpness * chance[i] * (lesson.costs[static_cast<std::size_t>(i)] - expected) /
                 static_cast<Real>(plan_.batch);
    scorer_.backward(trace, slope, gradient_);
  }

  Plan plan_;
  std::vector<Experiment> experiments_;
  std::uint64_t seed_;
  unsigned threads_;
  SharedScorer scorer_;
  learning::Optimizer optimizer_;
  std::vector<Real> gradient_;
  std::vector<Real> smooth_;  // running average of the parameters
  std::vector<Real> player_;  // parameters of who plays the worlds; empty: horizon
  std::array<Real, kAverages> averages_{};
  std::size_t done_ = 0;
};

}  // namespace

Result<std::unique_ptr<Trainer>> make_evenkeel_trainer(YamlReader& recipe, TrainerInput input) {
  Plan plan;
  const auto count = [&](std::string_view name, std::size_t otherwise, std::int64_t most) {
    return static_cast<std::size_t>(
        recipe.integer(name).between(1, most).or_else(static_cast<std::int64_t>(otherwise)));
  };
  plan.rounds = count("rounds", plan.rounds, 100'000);
  plan.worlds = count("worlds", plan.worlds, 100'000);
  plan.passes = count("passes", plan.passes, 1000);
  plan.batch = count("batch", plan.batch, 100'000);
  plan.improve_every = count("improve_every", plan.improve_every, 100'000);
  plan.hidden = {static_cast<int>(count("hidden", 32, 1024))};
  plan.rate = recipe.number("learning_rate").between(0, 1).or_else(plan.rate);
  plan.rate_end = recipe.number("learning_rate_end").between(0, 1).or_else(plan.rate_end);
  plan.scenario_share = recipe.number("scenario_share").between(0, 1).or_else(plan.scenario_share);
  plan.smoothing = recipe.number("smoothing").between(1e-6, 1).or_else(plan.smoothing);
  plan.sharpness = recipe.number("sharpness").between(0.01, 100).or_else(plan.sharpness);
  plan.first_world = count("first_world", plan.first_world, 1'000'000'000'000);
  plan.world.most_nodes = static_cast<int>(count("most_nodes", 200, 5000));
  plan.world.laboratory_share =
      recipe.number("laboratory_share").between(0, 1).or_else(plan.world.laboratory_share);
  plan.counterfactual.lessons = count("lessons", plan.counterfactual.lessons, 100'000);
  plan.counterfactual.candidates = count("candidates", plan.counterfactual.candidates, 5000);
  plan.counterfactual.unserved_weight =
      recipe.number("unserved_weight").between(0, 1000).or_else(plan.counterfactual.unserved_weight);
  return std::unique_ptr<Trainer>(std::make_unique<EvenkeelTrainer>(std::move(plan), std::move(input)));
}

}  // namespace evenkeel::training
