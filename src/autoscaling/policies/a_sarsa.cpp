#include "autoscaling/policies/a_sarsa.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "autoscaling/policies/dscaler.h"
#include "base/numbers.h"

namespace evenkeel::autoscaling {
namespace {

constexpr int kStay = 1;
// Upper ends of classes; the last class has none.
constexpr std::array kUtilisationEnds{0.2, 0.4, 0.6, 0.75, 0.9};
constexpr std::array kGrowthEnds{0.8, 0.95, 1.05, 1.25};  // expected rate over the present one
constexpr std::array kResponseEnds{0.4, 0.7, 1.0};        // shares of the bound

template <std::size_t N>
std::size_t class_of(double value, const std::array<double, N>& ends) {
  return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), value) - ends.begin());
}

std::string number(double value) {
  char buffer[32];
  return std::string(format_number(std::round(value * 1000) / 1000, buffer));
}

}  // namespace

ASarsa::ASarsa(ASarsaSettings settings) : settings_(settings) {
  static_assert(kUtilisationEnds.size() + 1 == kUtilisations && kGrowthEnds.size() + 1 == kGrowths &&
                kResponseEnds.size() + 1 == kResponses);
}

std::size_t ASarsa::state_of(double utilisation, double growth, double response_share) {
  return (class_of(utilisation, kUtilisationEnds) * kGrowths + class_of(growth, kGrowthEnds)) * kResponses +
         class_of(response_share, kResponseEnds);
}

double ASarsa::epsilon() const {
  if (choices_ >= settings_.epsilon_steps) return settings_.epsilon_end;
  const double part = static_cast<double>(choices_) / static_cast<double>(settings_.epsilon_steps);
  return settings_.epsilon_start + part * (settings_.epsilon_end - settings_.epsilon_start);
}

int ASarsa::choose(std::size_t state, const ScalingRequest& request, Random& random) {
  learning::Mask allowed(kActions, 1);
  allowed[0] = request.wanted > request.spec.min_replicas;
  allowed[2] = request.wanted < request.spec.max_replicas;
  const bool explores = random.chance(epsilon());
  ++choices_;
  if (explores) return learning::any_allowed(kActions, allowed, random);
  // Among equals nothing is changed: a table that knows nothing does nothing.
  const Values& values = table_[state];
  int best = kStay;
  for (int action = 0; action < kActions; ++action) {
    const auto i = static_cast<std::size_t>(action);
    if (allowed[i] && values[i] > values[static_cast<std::size_t>(best)]) best = action;
  }
  return best;
}

Recommendation ASarsa::recommend(const ScalingRequest& request, Random& random) {
  Recommendation answer;
  answer.replicas = request.wanted;
  answer.behaviour.emplace().down.stabilisation = Duration{};
  const ServiceFacts facts = facts_of(request);
  if (!facts.cpu_known() || !facts.requests_per_s || !facts.response_s) {
    last_.reset();
    answer.unable = "CPU utilisation, request rate or response is not known";
    return answer;
  }
  const double rate = *facts.requests_per_s, bound = to_seconds(request.spec.level.bound);
  forecast_.observe(rate);
  const double expected = forecast_.next();
  const std::size_t state =
      state_of(facts.utilisation(), rate > 0 ? expected / rate : 1, *facts.response_s / bound);
  const int action = choose(state, request, random);
  if (last_) {
    const double reward = dscaler_reward(facts.utilisation(), *facts.response_s, bound, settings_.penalty);
    double& value = table_[last_->state][static_cast<std::size_t>(last_->action)];
    const double goal = reward + settings_.discount * table_[state][static_cast<std::size_t>(action)];
    if (std::isfinite(goal)) value += settings_.learning_rate * (goal - value);
  }
  last_ = Step{state, action};
  answer.replicas = request.wanted + action - kStay;
  answer.reasons.push_back(
      {"forecast", answer.replicas, "ARIMA expects " + number(expected) + "/s, now " + number(rate) + "/s"});
  answer.reasons.push_back({"policy", answer.replicas,
                            "state " + std::to_string(state) + ": value " +
                                number(table_[state][static_cast<std::size_t>(action)]) + ", explores " +
                                number(epsilon())});
  return answer;
}

learning::SavedState ASarsa::save() const {
  learning::SavedState state;
  state.put_text("policy", "a-sarsa");
  std::vector<learning::Real> values;
  for (const Values& row : table_) values.insert(values.end(), row.begin(), row.end());
  state.put("table", values);
  state.put("choices", choices_);
  forecast_.save(state, "forecast");
  return state;
}

Status ASarsa::restore(learning::SavedState state) {
  ASarsa restored(settings_);
  if (state.text("policy") != "a-sarsa") state.fail("policy", "a-sarsa");
  std::vector<learning::Real> values(table_.size() * kActions);
  state.reals("table", values);
  for (const learning::Real value : values)
    if (!std::isfinite(value)) state.fail("table", "finite numbers");
  for (std::size_t i = 0; i < values.size(); ++i) restored.table_[i / kActions][i % kActions] = values[i];
  restored.choices_ = state.count("choices");
  restored.forecast_.restore(state, "forecast");
  if (!state.status()) return state.status();
  *this = std::move(restored);
  return {};
}

Result<std::unique_ptr<ASarsa>> ASarsa::make(const std::map<std::string, std::string>& arguments) {
  if (!arguments.empty()) return invalid("policy a-sarsa has no argument '" + arguments.begin()->first + "'");
  return std::make_unique<ASarsa>();
}

}  // namespace evenkeel::autoscaling
