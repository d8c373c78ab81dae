#include "autoscaling/policies/evenkeel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "base/spelling.h"

namespace evenkeel::autoscaling {
namespace {

constexpr double kDrain = 30;        // seconds within which a backlog is to be gone
constexpr double kSteady = 0.1;      // relative change between two looks up to which they describe one state
constexpr double kSaturated = 0.93;  // of a pod's CPU: beyond, arrivals say nothing about cost
constexpr double kTrusted = 12;      // samples of cost that make CPU use a measure of arrivals
constexpr std::size_t kReadyKept = 12;
constexpr double kPresent = 50;         // seconds that the present rate speaks for
constexpr double kForgetMost = 0.9998;  // per look; half in about a day at 15 s

std::string number(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  char buffer[32];
  return std::string(format_number(std::round(value * scale) / scale, buffer));
}
std::string rate_text(double value) { return number(value, value < 10 ? 2 : value < 100 ? 1 : 0) + "/s"; }
std::string percent(double share) { return number(100 * share, share < 0.01 ? 2 : 1) + " %"; }
std::string seconds_text(Duration duration) { return number(to_seconds(duration), 0) + " s"; }

std::string listed(std::span<const double> values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + number(value, 3);
  return text;
}

}  // namespace

Evenkeel::Evenkeel(EvenkeelSettings settings)
    : settings_(settings), curve_(ServiceLevel{}.percentile), manners_(settings.first) {}

double Evenkeel::cores_of(const ServiceFacts& facts) const {
  return facts.request * std::max(1.0, most_cores_);
}

void Evenkeel::learn_service(const ScalingRequest& request, const ServiceFacts& facts) {
  const double rate = *facts.requests_per_s;
  const bool same_pods = ready_.size() > 2 && ready_.back().ready == ready_[ready_.size() - 2].ready &&
                         ready_.back().ready == ready_[ready_.size() - 3].ready;
  const bool steady = last_ && same_pods && last_->requests_per_s &&
                      std::abs(rate - *last_->requests_per_s) <= kSteady * std::max(rate, 1e-9);
  if (!steady || facts.ready == 0) return;
  const double bound = to_seconds(request.spec.level.bound);
  const bool keeps_up = facts.response_s ? *facts.response_s < 1.5 * bound : true;
  if (facts.cpu_known() && facts.measured == facts.ready) {
    most_cores_ = std::max(most_cores_ * kForgetMost, facts.utilisation());
    const bool busy = facts.utilisation() > kSaturated * std::max(1.0, most_cores_);
    if (keeps_up && !busy) service_rate_.observe(rate / facts.ready, facts.cores);
  }
  if (!facts.response_s || !service_rate_.known()) return;
  const double per_pod = service_rate_.per_pod(cores_of(facts));
  if (per_pod <= 0 || backlog_ > rate) return;
  curve_.observe({rate / (per_pod * facts.ready), static_cast<double>(facts.ready), per_pod},
                 *facts.response_s);
}

// Pods that came are known by when they became ready. Those that left did so at the beginning: a fall is
// ordered right after a look.
void Evenkeel::note_ready(const ServiceReport& report, std::int32_t ready) {
  Look look{report.measured, ready, static_cast<double>(ready)};
  if (!ready_.empty()) {
    const Time before = ready_.back().at;
    if (look.at <= before) return;
    for (const ReplicaReport& replica : report.replicas)
      if (replica.ready && !replica.leaves && replica.ready_changed && *replica.ready_changed > before)
        look.since -=
            std::min(1.0, to_seconds(*replica.ready_changed - before) / to_seconds(look.at - before));
    look.since = std::max(look.since, 0.0);
  }
  if (ready_.size() == kReadyKept) ready_.erase(ready_.begin());
  ready_.push_back(look);
}

std::optional<double> Evenkeel::ready_during(Time from, Time to) const {
  if (from >= to || ready_.size() < 2 || ready_.front().at > from || ready_.back().at < to)
    return std::nullopt;
  double sum = 0;
  for (std::size_t i = 1; i < ready_.size(); ++i) {
    const Duration both = std::min(to, ready_[i].at) - std::max(from, ready_[i - 1].at);
    if (both > Duration{}) sum += to_seconds(both) * ready_[i].since;
  }
  return sum / to_seconds(to - from);
}

Evenkeel::Arrivals Evenkeel::arrivals_of(const ServiceFacts& facts) const {
  const Arrivals reported{*facts.requests_per_s, facts.rate_measured};
  const bool tells = service_rate_.samples() >= kTrusted && facts.cpu_known() &&
                     2 * facts.measured > facts.ready && facts.cpu_window <= std::chrono::seconds{30};
  if (!tells) return reported;
  const auto pods = ready_during(facts.cpu_measured - facts.cpu_window, facts.cpu_measured);
  if (!pods) return reported;
  // What one pod did times how many there were.
  const double served = service_rate_.per_pod(facts.cores) * *pods;
  // Pods that can do no more, or have not yet done what came, show less than arrives.
  const bool saturated = facts.utilisation() > kSaturated * std::max(1.0, most_cores_);
  return {saturated ? std::max(served, reported.per_s) : served,
          std::max(facts.cpu_measured, facts.rate_measured)};
}

void Evenkeel::learn(const ScalingRequest& request, const ServiceFacts& facts) {
  start_up_.observe(request.report);
  note_ready(request.report, facts.ready);
  if (!last_ || facts.rate_measured > last_->rate_measured) learn_service(request, facts);
  arrivals_ = arrivals_of(facts);
  forecast_.observe(arrivals_.at, arrivals_.per_s);
  level_.observe(arrivals_.at, arrivals_.per_s);
}

// Measured where it is; else what arrived beyond what could be served.
double Evenkeel::backlog_of(const ServiceFacts& facts, double per_pod, Duration elapsed) {
  if (facts.in_flight) return *facts.in_flight;
  const double gap = arrivals_.per_s - per_pod * facts.ready;
  return std::clamp(backlog_ + gap * to_seconds(elapsed), 0.0, 600 * arrivals_.per_s);
}

Recommendation Evenkeel::recommend(const ScalingRequest& request, Random& /*random*/) {
  Recommendation answer;
  answer.replicas = request.wanted;
  const ServiceFacts facts = facts_of(request);
  if (!facts.requests_per_s) {
    answer.unable = "the request rate is not known";
    return answer;
  }
  learn(request, facts);
  const Duration elapsed =
      last_ ? std::clamp(request.now - last_turn_, Duration{}, Duration{std::chrono::minutes{2}})
            : request.spec.interval;
  const double request_cores = facts.cpu_known() ? facts.request : last_ ? last_->request : 0;
  ServiceFacts seen = facts;
  seen.request = request_cores;
  last_ = seen;
  last_turn_ = request.now;
  if (!service_rate_.known()) {
    answer.unable = "how much a request costs is not known yet (" + number(service_rate_.samples(), 0) +
                    " of " + number(ServiceRate::kNeeded, 0) + " samples)";
    return answer;
  }
  const double per_pod = service_rate_.per_pod(cores_of(seen));
  if (!(per_pod > 0)) {
    answer.unable = "its pods request no CPU that requests could be served with";
    return answer;
  }
  backlog_ = backlog_of(facts, per_pod, elapsed);

  // One that is ordered now helps once it was seen to be needed, made, started and found ready.
  const Duration age = std::max(Duration{}, request.now - arrivals_.at);
  const Duration start_up = start_up_.expected();
  const Duration lead = age + start_up + request.spec.interval;
  const prediction::RateOutlook ahead = forecast_.ahead(lead);
  // Within a minute the present rate with its margins is the better forecast; beyond, what is expected
  // counts.
  const double counts = std::clamp((to_seconds(lead) - kPresent) / kPresent, 0.0, 1.0);
  const double expected = arrivals_.per_s + counts * (ahead.median() - arrivals_.per_s);
  const double jumps = level_.bursts() + counts * std::max(0.0, level_.noise() - level_.bursts());
  const RateSeen rates{std::max(arrivals_.per_s, expected), level_.level(), level_.noise(), jumps};
  const LevelModel model{curve_, per_pod, to_seconds(request.spec.level.bound), backlog_ / kDrain,
                         request.spec.max_replicas};
  const Needs needs = needs_of(model, rates);

  const double tolerance = request.spec.behaviour ? request.spec.behaviour->up.tolerance.value_or(0.1) : 0.1;
  manners_.follow({.needs = needs,
                   .service = {arrivals_.per_s, per_pod, model.bound_s, curve_},
                   .cores_per_request_share = 1 / (service_rate_.per_core() * std::max(request_cores, 1e-9)),
                   .idle_share = service_rate_.idle_cores() / std::max(request_cores, 1e-9),
                   .target = cpu_target(request.spec),
                   .tolerance = tolerance,
                   .wanted = request.wanted,
                   .least = request.spec.min_replicas,
                   .most = request.spec.max_replicas,
                   .now = request.now,
                   .measured = arrivals_.at,
                   .elapsed = elapsed,
                   .hpa_window = down_window(request.spec),
                   .start_up = start_up,
                   .bursts = level_.bursts(),
                   .window = request.spec.behaviour ? std::optional(down_window(request.spec)) : std::nullopt,
                   .adapts = settings_.adapts});

  const Manner& manner = manners_.chosen();
  answer.replicas =
      std::clamp(recommended_by(manner, needs, request.wanted, request.spec.behaviour.has_value()),
                 request.spec.min_replicas, request.spec.max_replicas);
  answer.behaviour.emplace().down.stabilisation = window_of(manner, level_.bursts());

  const std::int32_t needed = needs.now[manner.margin][manner.reserve];
  const double to_serve = rate_to_serve(rates, manner.margin, manner.reserve);
  answer.reasons.push_back({"service", needed,
                            "service rate " + rate_text(per_pod) + " a pod (±" +
                                percent(service_rate_.doubt()) + "), ready after " + seconds_text(start_up) +
                                ", " + std::to_string(facts.ready) + " ready and " +
                                std::to_string(facts.starting) + " starting"});
  answer.reasons.push_back({"forecast", needed,
                            "forecast " + rate_text(ahead.median()) + " in " + seconds_text(lead) + " (p95 " +
                                rate_text(ahead.quantile(0.95)) + ", by " +
                                std::string(forecast_.leading(lead)) + "), now " +
                                rate_text(arrivals_.per_s) + ", lately " + rate_text(level_.level()) + " ±" +
                                percent(level_.noise())});
  answer.reasons.push_back({"level", needed,
                            "needs " + std::to_string(needed) + " to serve " + rate_text(to_serve) +
                                " with p" + number(100 * request.spec.level.percentile, 1) + " within " +
                                number(1000 * model.bound_s, 0) + " ms"});
  const ShadowScaling::Tally &own = manners_.chosen_tally(), &hpa = manners_.hpa_tally();
  answer.reasons.push_back({"policy", answer.replicas,
                            "this way would have had " + percent(own.violation()) + " violations with " +
                                number(own.replicas(), 2) + " replicas, HPA's " + percent(hpa.violation()) +
                                " with " + number(hpa.replicas(), 2)});
  return answer;
}

learning::SavedState Evenkeel::save() const {
  learning::SavedState state;
  state.put_text("policy", "evenkeel");
  state.put("forecast", forecast_.save());
  service_rate_.save(state, "service rate");
  start_up_.save(state, "start-up");
  curve_.save(state, "response");
  level_.save(state, "level");
  manners_.save(state, "manners");
  state.put("most cores", std::span<const learning::Real>(&most_cores_, 1));
  return state;
}

Status Evenkeel::restore(learning::SavedState state) {
  Evenkeel restored(settings_);
  if (state.text("policy") != "evenkeel") state.fail("policy", "evenkeel");
  Status forecast = restored.forecast_.restore(state.part("forecast"));
  if (!forecast) return forecast;
  restored.service_rate_.restore(state, "service rate");
  restored.start_up_.restore(state, "start-up");
  restored.curve_.restore(state, "response");
  restored.level_.restore(state, "level");
  restored.manners_.restore(state, "manners");
  state.reals("most cores", {&restored.most_cores_, 1});
  if (!(restored.most_cores_ >= 0 && restored.most_cores_ < 1e6)) state.fail("most cores", "a share");
  if (!state.status()) return state.status();
  *this = std::move(restored);
  return {};
}

Result<std::unique_ptr<Evenkeel>> Evenkeel::make(const std::map<std::string, std::string>& arguments) {
  EvenkeelSettings settings;
  for (const auto& [name, value] : arguments) {
    const auto refuse = [&, &argument = name, &found = value](const std::string& expected) {
      return invalid("argument '" + argument + "' of policy evenkeel: found '" + found + "', expected " +
                     expected);
    };
    if (name == "adapt") {
      if (value != "true" && value != "false") return refuse("true or false");
      settings.adapts = value == "true";
    } else if (name == "margin" || name == "reserve" || name == "band" || name == "window") {
      std::vector<double> known(kMargins.begin(), kMargins.end());
      if (name == "reserve") known.assign(kReserves.begin(), kReserves.end());
      if (name == "band") known.assign(kBands.begin(), kBands.end());
      if (name == "window") known.assign(kWindows.begin(), kWindows.end());
      const auto found = std::find(known.begin(), known.end(), parse_number(value).value_or(-1));
      if (found == known.end()) return refuse("one of " + listed(known));
      std::size_t& chosen = name == "margin"    ? settings.first.margin
                            : name == "reserve" ? settings.first.reserve
                            : name == "band"    ? settings.first.band
                                                : settings.first.window;
      chosen = static_cast<std::size_t>(found - known.begin());
    } else {
      return invalid("policy evenkeel has no argument '" + name +
                     "'; there are adapt, band, margin, reserve and window");
    }
  }
  return std::make_unique<Evenkeel>(settings);
}

}  // namespace evenkeel::autoscaling
