#include "autoscaling/policies/dscaler.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/unit_text.h"

namespace evenkeel::autoscaling {
namespace {

using learning::Mask;
using learning::Real;

constexpr int kStay = 2;  // the action that changes nothing
constexpr std::string_view kNetwork = "values";
constexpr std::string_view kEvery = "decision_s";  // among a model's figures
constexpr Real kRateAfterTraining = 1e-5;

std::string number(double value) {
  char buffer[32];
  return std::string(format_number(std::round(value * 1000) / 1000, buffer));
}

// Actions that lead out of the bounds are not there to be taken.
Mask allowed_actions(const ScalingRequest& request) {
  Mask allowed(DScaler::kActions);
  for (int action = 0; action < DScaler::kActions; ++action) {
    const std::int32_t replicas = request.wanted + action - kStay;
    allowed[static_cast<std::size_t>(action)] =
        replicas >= request.spec.min_replicas && replicas <= request.spec.max_replicas;
  }
  allowed[kStay] = 1;
  return allowed;
}

}  // namespace

learning::DqnOptions DScalerSettings::published() {
  learning::DqnOptions dqn;
  dqn.hidden = {32, 16};
  dqn.discount = 0.9;
  dqn.replay.capacity = 160;
  dqn.target_every = 100;
  // Open in the paper, ours:
  dqn.initial = learning::InitialWeights::he;
  dqn.optimizer.learning_rate = 1e-3;
  dqn.batch = dqn.learn_from = 32;
  dqn.epsilon_start = 1;
  dqn.epsilon_end = 0.01;
  dqn.epsilon_steps = 1000;
  return dqn;
}

double dscaler_reward(double utilisation, double response_s, double bound_s, double penalty) {
  return utilisation + (response_s < bound_s ? 1 / (1 + response_s / bound_s) : penalty);
}

DScaler::DScaler(DScalerSettings settings) : settings_(std::move(settings)) {}

void DScaler::make_learner(Random& random) {
  dqn_ = std::make_unique<learning::Dqn>(3, kActions, settings_.dqn, random);
}

void DScaler::set_learning_rate(Real rate) {
  settings_.dqn.optimizer.learning_rate = rate;
  if (dqn_) dqn_->optimizer().set_learning_rate(rate);
}

// What came of the last decision, as far as this look shows it: what was measured before it is not.
void DScaler::look(const ServiceFacts& facts, const ScalingRequest& request, bool last) {
  if (!facts.response_s) return;
  const bool since = facts.cpu_measured > last_->at && facts.rate_measured > last_->at;
  if (!since && !(last && last_->looks == 0)) return;
  last_->reward_sum += dscaler_reward(facts.utilisation(), *facts.response_s,
                                      to_seconds(request.spec.level.bound), settings_.penalty);
  ++last_->looks;
}

void DScaler::learn(const DScalerState& state, const Mask& allowed, Random& random) {
  const Step step = *std::move(last_);
  last_.reset();
  if (step.looks == 0) return;  // what came of it is not known
  const double reward = step.reward_sum / step.looks;
  if (settings_.frozen) {
    ++progress_.rewards;
    progress_.reward_sum += reward;
    return;
  }
  const bool kept = dqn_->remember({.state = {step.state.begin(), step.state.end()},
                                    .allowed = step.allowed,
                                    .action = step.action,
                                    .reward = reward,
                                    .next_state = {state.begin(), state.end()},
                                    .next_allowed = allowed});
  if (!kept) return;
  ++progress_.rewards;
  progress_.reward_sum += reward;
  if (const auto figures = dqn_->learn(random)) {
    ++progress_.updates;
    progress_.loss_sum += figures->loss;
  }
}

Recommendation DScaler::recommend(const ScalingRequest& request, Random& random) {
  Recommendation answer;
  answer.replicas = request.wanted;
  answer.behaviour.emplace().down.stabilisation = Duration{};  // it has no mechanism against jitter
  const ServiceFacts facts = facts_of(request);
  if (!facts.cpu_known() || !facts.requests_per_s) {
    last_.reset();
    answer.unable = !facts.cpu_known() ? "CPU utilisation is not known" : "the request rate is not known";
    return answer;
  }
  if (!dqn_) make_learner(random);
  const bool due = !last_ || request.now - last_->at >= settings_.every;
  if (last_) look(facts, request, due);
  if (!due) {
    answer.reasons.push_back({"policy", answer.replicas, "what the last decision leads to is waited for"});
    return answer;
  }
  const DScalerState state = dscaler_state(facts, settings_.ranges);
  const Mask allowed = allowed_actions(request);
  if (last_) learn(state, allowed, random);

  const int best = dqn_->best(state, allowed);
  const int action = settings_.frozen ? best : dqn_->act(state, allowed, random);
  last_ = Step{.state = state, .allowed = allowed, .action = action, .at = request.now};
  answer.replicas = request.wanted + action - kStay;
  if (settings_.explores_up_only && !settings_.frozen) answer.unexplored = request.wanted + best - kStay;
  const learning::Vector values = dqn_->network().forward(std::span<const Real>(state));
  answer.reasons.push_back(
      {"policy", answer.replicas,
       "U " + number(facts.utilisation()) + ", N " + std::to_string(facts.ready) + ", W " +
           number(*facts.requests_per_s) + "/s: value " + number(values[action]) + " of " +
           (action == best ? "the best" : "one that is tried out, the best has " + number(values[best]))});
  return answer;
}

learning::Model DScaler::model() const {
  EVENKEEL_CHECK(dqn_);
  learning::Model model;
  model.encoding = kEncoding;
  model.normalisation = dscaler_normalisation(settings_.ranges);
  model.figures[std::string(kEvery)] = to_seconds(settings_.every);
  const auto parameters = dqn_->network().parameters();
  model.networks.push_back(
      {std::string(kNetwork), dqn_->network().shape(), {parameters.begin(), parameters.end()}});
  return model;
}

Status DScaler::begin_from(const learning::Model& model) {
  const learning::ModelNetwork* network = model.find(kNetwork);
  const bool fits = model.encoding == kEncoding && network && network->shape.inputs == 3 &&
                    network->shape.outputs == kActions && model.normalisation.size() == 3;
  if (!fits)
    return invalid("policy dscaler needs a model of encoding 'dscaler' with a network '" +
                   std::string(kNetwork) + "' of 3 inputs and 5 outputs; this one is of encoding '" +
                   model.encoding + "'");
  settings_.ranges = {model.normalisation[1].high, model.normalisation[2].high};
  if (!(settings_.ranges.replicas > 0 && settings_.ranges.requests_per_s > 0))
    return invalid("policy dscaler: the model's ranges of replicas and requests/s must be positive");
  if (const auto every = model.figures.find(std::string(kEvery));
      every != model.figures.end() && every->second >= 0 && every->second < 86400)
    settings_.every = from_seconds(every->second);
  settings_.dqn.hidden = network->shape.hidden;
  settings_.dqn.activation = network->shape.activation;
  // It goes on from where training left off: hardly exploring, and so slowly that the few transitions of its
  // first hours do not wash away what many worlds taught it.
  settings_.dqn.epsilon_start = settings_.dqn.epsilon_end;
  settings_.dqn.optimizer.learning_rate = kRateAfterTraining;
  settings_.dqn.learn_from = settings_.dqn.replay.capacity;
  Random unused(0);  // every weight is the model's
  make_learner(unused);
  std::copy(network->parameters.begin(), network->parameters.end(), dqn_->network().parameters().begin());
  dqn_->copy_to_target();
  return {};
}

learning::SavedState DScaler::save() const {
  learning::SavedState state;
  state.put_text("policy", kEncoding);
  state.put("begun", dqn_ ? 1 : 0);
  if (dqn_) state.put("learner", dqn_->save());
  return state;
}

Status DScaler::restore(learning::SavedState state) {
  if (state.text("policy") != kEncoding) state.fail("policy", std::string(kEncoding));
  const bool begun = state.count("begun") != 0;
  if (!state.status() || !begun) return state.status();
  Random unused(0);  // every weight is the state's
  DScaler restored(settings_);
  restored.make_learner(unused);
  Status learner = restored.dqn_->restore(state.part("learner"));
  if (!learner) return learner;
  dqn_ = std::move(restored.dqn_);
  last_.reset();
  return {};
}

Result<std::unique_ptr<DScaler>> DScaler::make(const std::map<std::string, std::string>& arguments,
                                               const learning::Model* model) {
  DScalerSettings settings;
  std::optional<Duration> every;
  for (const auto& [name, value] : arguments) {
    const auto refuse = [&, &argument = name, &found = value](const std::string& expected) {
      return invalid("argument '" + argument + "' of policy dscaler: found '" + found + "', expected " +
                     expected);
    };
    if (name == "frozen") {
      if (value != "true" && value != "false") return refuse("true or false");
      settings.frozen = value == "true";
    } else if (name == "explore") {
      if (value != "both" && value != "up") return refuse("both or up");
      settings.explores_up_only = value == "up";
    } else if (name == "requests" || name == "replicas") {
      const std::optional<double> most = parse_number(value);
      if (!most || !(*most > 0)) return refuse("a positive number");
      (name == "requests" ? settings.ranges.requests_per_s : settings.ranges.replicas) = *most;
    } else if (name == "every") {
      const Result<Duration> duration = parse_duration(value);
      if (!duration || *duration < Duration{}) return refuse("a duration such as 60s");
      every = *duration;
    } else {
      return invalid("policy dscaler has no argument '" + name +
                     "'; there are every, explore, frozen, replicas and requests");
    }
  }
  if (settings.frozen && !model)
    return invalid("policy dscaler: 'frozen' needs a model, there is nothing learnt");
  auto policy = std::make_unique<DScaler>(std::move(settings));
  if (model)
    if (const Status begun = policy->begin_from(*model); !begun) return begun.error();
  if (every) policy->settings_.every = *every;
  return policy;
}

}  // namespace evenkeel::autoscaling
