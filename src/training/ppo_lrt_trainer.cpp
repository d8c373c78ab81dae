#include "training/ppo_lrt_trainer.h"

#include "learning/saved_state.h"
#include "training/ppo_lrt_course.h"

namespace evenkeel::training {
namespace {

using learning::PpoStep;
using learning::Real;
using learning::SavedState;

constexpr double kCurveMemory = 0.95;  // the model's figures are means in which old episodes fade

std::vector<Real> flat(const PpoStep& step) {
  std::vector<Real> numbers = step.state;
  numbers.insert(numbers.end(), step.allowed.begin(), step.allowed.end());
  const Real rest[] = {static_cast<Real>(step.action), step.log_probability, step.value, step.reward,
                       static_cast<Real>(step.last),   step.value_after};
  numbers.insert(numbers.end(), std::begin(rest), std::end(rest));
  return numbers;
}

PpoStep step_of(std::span<const Real> numbers, std::size_t inputs, std::size_t actions) {
  PpoStep step;
  step.state.assign(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(inputs));
  for (const Real flag : numbers.subspan(inputs, actions)) step.allowed.push_back(flag != 0 ? 1 : 0);
  const std::span<const Real> rest = numbers.subspan(inputs + actions);
  step.action = static_cast<int>(rest[0]);
  step.log_probability = rest[1];
  step.value = rest[2];
  step.reward = rest[3];
  step.last = rest[4] != 0;
  step.value_after = rest[5];
  return step;
}

class PpoLrtTrainer final : public Trainer {
 public:
  explicit PpoLrtTrainer(PpoLrtCourse course)
      : course_(std::move(course)), nodes_(course_.nodes()), ppo_(fresh(course_, nodes_)) {}

  std::size_t steps() const override { return course_.recipe().episodes; }
  std::size_t done() const override { return done_; }
  std::string_view step_name() const override { return "episode"; }

  CurvePoint advance() override {
    const PpoLrtCourse::Episode episode = course_.play(done_, ppo_);
    collected_.insert(collected_.end(), episode.played.steps.begin(), episode.played.steps.end());
    ++done_;
    if (collected_.size() >= course_.recipe().update_every) learn();
    CurvePoint point = PpoLrtCourse::point_of(episode.played.verdicts);
    point.push_back({"clearings", static_cast<double>(episode.clearings)});
    point.push_back({"entropy", entropy_});
    for (const Metric& metric : point) {
      const auto [at, first] = recent_.try_emplace(metric.name, metric.value);
      if (!first) at->second = kCurveMemory * at->second + (1 - kCurveMemory) * metric.value;
    }
    return point;
  }

  learning::Model model() const override {
    learning::Model model;
    model.encoding = scheduling::ppo_lrt_encoding(course_.recipe().policy, nodes_);
    model.normalisation = scheduling::ppo_lrt_normalisation(nodes_);
    for (const Experiment& experiment : course_.experiments())
      model.training_worlds.push_back(experiment.scenario.name);
    model.figures = recent_;
    model.figures["episodes"] = static_cast<double>(done_);
    const auto parameters = ppo_.actor().parameters();
    model.networks.push_back({"actor", ppo_.actor().shape(), {parameters.begin(), parameters.end()}});
    return model;
  }

  std::string state() const override {
    SavedState state;
    state.put("learner", ppo_.save());
    state.put("done", std::uint64_t{done_});
    state.put("updates", std::uint64_t{updates_});
    std::vector<Real> steps;
    for (const PpoStep& step : collected_) {
      const std::vector<Real> numbers = flat(step);
      steps.insert(steps.end(), numbers.begin(), numbers.end());
    }
    state.put("collected", std::span<const Real>(steps));
    SavedState figures;
    for (const auto& [name, value] : recent_) figures.put(name, std::span<const Real>(&value, 1));
    state.put("figures", figures);
    state.put("entropy", std::span<const Real>(&entropy_, 1));
    return state.bytes();
  }

  Status restore(std::string_view bytes) override {
    Result<SavedState> parsed = SavedState::parse(bytes);
    if (!parsed) return parsed.error();
    SavedState& state = *parsed;
    learning::Ppo learner = fresh(course_, nodes_);
    if (const Status restored = learner.restore(state.part("learner")); !restored) return restored;
    const std::uint64_t done = state.count("done"), updates = state.count("updates");
    const std::vector<Real> steps = state.reals("collected");
    const std::size_t inputs = static_cast<std::size_t>(scheduling::ppo_lrt_inputs(nodes_));
    const std::size_t width = inputs + 2 * nodes_ + 6;
    if (steps.size() % width != 0)
      state.fail("collected", "steps of " + std::to_string(width) + " numbers, found " +
                                  std::to_string(steps.size()) + " numbers");
    Real entropy = 0;
    state.reals("entropy", std::span(&entropy, 1));
    SavedState figures = state.part("figures");
    std::map<std::string, double> recent;
    for (const char* name : kFigures)
      if (done > 0) figures.reals(name, std::span(&recent[name], 1));
    if (!state.status()) return state.status();
    if (!figures.status()) return figures.status();
    if (done > course_.recipe().episodes)
      return invalid("saved state: " + std::to_string(done) + " episodes are done, expected at most " +
                     std::to_string(course_.recipe().episodes));
    ppo_ = std::move(learner);
    done_ = done;
    updates_ = updates;
    entropy_ = entropy;
    recent_ = std::move(recent);
    collected_.clear();
    for (std::size_t at = 0; at < steps.size(); at += width)
      collected_.push_back(step_of(std::span(steps).subspan(at, width), inputs, 2 * nodes_));
    return {};
  }

 private:
  static constexpr const char* kFigures[] = {"reward",  "response_s", "sigma_cpu", "sigma_memory",
                                             "penalty", "clearings",  "entropy"};

  static learning::Ppo fresh(const PpoLrtCourse& course, std::size_t nodes) {
    Random random = course.random_of(0).fork("weights");
    return {scheduling::ppo_lrt_inputs(nodes), static_cast<int>(2 * nodes), course.recipe().ppo, random};
  }

  void learn() {
    bool whole = true;
    for (PpoStep& step : collected_) whole = ppo_.remember(std::move(step)) && whole;
    collected_.clear();
    // A step that was not a number has cut what it stood in; what was learnt so far is worth more than the
    // rest.
    if (!whole) return ppo_.forget();
    Random random = course_.random_of(0).fork("update").fork(updates_++);
    entropy_ = ppo_.learn(random).entropy;
  }

  PpoLrtCourse course_;
  std::size_t nodes_;
  learning::Ppo ppo_;
  std::vector<PpoStep> collected_;  // since the last update
  std::size_t done_ = 0, updates_ = 0;
  Real entropy_ = 0;
  std::map<std::string, double> recent_;
};

}  // namespace

Result<std::unique_ptr<Trainer>> make_ppo_lrt_trainer(YamlReader& reader, TrainerInput input) {
  PpoLrtRecipe recipe = read_ppo_lrt_recipe(reader);
  if (input.experiments.empty()) {
    reader.fail("scenarios", "expected at least one scenario to train in, found none");
    return invalid("ppo-lrt: no scenario to train in");
  }
  std::size_t nodes = 0;
  for (const Experiment& experiment : input.experiments) {
    std::size_t here = 0;
    for (const simulator::NodeGroup& group : experiment.scenario.nodes)
      here += static_cast<std::size_t>(group.count);
    if (here == 0 || experiment.scenario.apps.empty())
      return invalid("scenario " + experiment.scenario.name +
                     ": ppo-lrt trains in worlds of listed nodes and apps, found another kind");
    if (nodes != 0 && here != nodes)
      return invalid("scenario " + experiment.scenario.name + ": expected " + std::to_string(nodes) +
                     " nodes as in the scenarios before it, found " + std::to_string(here) +
                     ": ppo-lrt's network has a place for each node");
    nodes = here;
  }
  return std::unique_ptr<Trainer>(std::make_unique<PpoLrtTrainer>(
      PpoLrtCourse(std::move(recipe), std::move(input.experiments), input.seed)));
}

}  // namespace evenkeel::training
