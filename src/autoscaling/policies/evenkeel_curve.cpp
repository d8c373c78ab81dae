#include "autoscaling/policies/evenkeel_curve.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace evenkeel::autoscaling {
namespace {

constexpr double kRemember = 1500;   // samples of a bin
constexpr double kQueueWorth = 3;    // samples the queue model counts for in a bin
constexpr double kPooledWorth = 12;  // samples all pods' counts together weigh beside one's own
constexpr double kFirstDeviation = 0.1, kLeastDeviation = 0.04;
constexpr double kDeviationWorth = 6;
constexpr double kDoubtBeyond = 0.1;  // per bin busier than any that was seen
constexpr double kSeen = 3;           // samples that make a bin one that was seen
constexpr double kBusiest = 0.985;    // beyond, a queue has no percentile worth the name

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

std::size_t busy_bin(double busy) {
  const double at = std::clamp(busy, 0.0, 0.9999) * ResponseCurve::kBusyBins;
  return static_cast<std::size_t>(at);
}

}  // namespace

void ResponseCurve::Bin::add(double value, double remember) {
  weight = static_cast<float>(std::min(remember, weight + 1.0));
  mean += static_cast<float>((value - mean) / weight);
}

std::size_t ResponseCurve::pod_bin(double pods) {
  if (pods < 5.5) return static_cast<std::size_t>(std::clamp(std::lround(pods), 1L, 5L)) - 1;
  return pods < 8.5 ? 5 : pods < 14.5 ? 6 : 7;
}

double ResponseCurve::queue_log_s(const ServiceLoad& load) const {
  const double left = std::max(1 - load.busy, 1 - kBusiest);
  return std::log(-std::log(1 - percentile_) / (load.per_pod * left));
}

void ResponseCurve::observe(const ServiceLoad& load, double response_s) {
  const bool usable = std::isfinite(response_s) && response_s > 0 && load.busy > 0 && load.busy < kBusiest &&
                      load.per_pod > 0 && load.pods > 0;
  if (!usable) return;
  const double off = std::clamp(std::log(response_s) - queue_log_s(load), -4.0, 3.0);
  const std::size_t busy = busy_bin(load.busy), pods = pod_bin(load.pods);
  const double surprise = off - guess(load).log_ratio;
  pooled_[busy].add(off, kRemember);
  by_pods_[pods][busy].add(off, kRemember);
  const double pace = 1 / std::min<double>(pooled_[busy].weight + kDeviationWorth, 400);
  square_[busy] += static_cast<float>(pace * (std::min(surprise * surprise, 1.0) - square_[busy]));
}

double ResponseCurve::bin_mean(std::size_t busy, std::size_t pods) const {
  const Bin& all = pooled_[busy];
  const double pooled = all.weight * all.mean / (all.weight + kQueueWorth);
  const Bin& own = by_pods_[pods][busy];
  return (own.weight * own.mean + kPooledWorth * pooled) / (own.weight + kPooledWorth);
}

ResponseCurve::Guess ResponseCurve::guess(const ServiceLoad& load) const {
  const std::size_t pods = pod_bin(load.pods);
  std::size_t busy = busy_bin(load.busy), beyond = 0;
  // Down to one that was seen; where none was, the queue model holds.
  while (busy > 0 && pooled_[busy].weight < kSeen) --busy, ++beyond;
  if (pooled_[busy].weight < kSeen) return {0, kFirstDeviation};
  double log_ratio = bin_mean(busy, pods);
  if (beyond == 0) {  // between the middles of bins
    const double part = load.busy * kBusyBins - static_cast<double>(busy) - 0.5;
    const std::size_t beside = part < 0 ? busy - (busy > 0 ? 1 : 0) : std::min(busy + 1, kBusyBins - 1);
    if (pooled_[beside].weight >= kSeen) log_ratio += std::abs(part) * (bin_mean(beside, pods) - log_ratio);
  }
  const double weight = pooled_[busy].weight;
  const double square = (weight * square_[busy] + kDeviationWorth * kFirstDeviation * kFirstDeviation) /
                        (weight + kDeviationWorth);
  const double doubt = kDoubtBeyond * static_cast<double>(beyond);
  return {log_ratio, std::max(kLeastDeviation, std::sqrt(square + doubt * doubt))};
}

double ResponseCurve::expected_s(const ServiceLoad& load) const {
  return std::exp(queue_log_s(load) + guess(load).log_ratio);
}

double ResponseCurve::chance_above(const ServiceLoad& load, double bound_s) const {
  if (load.busy >= kBusiest || load.pods <= 0 || load.per_pod <= 0) return 1;
  if (load.busy <= 0) return 0;
  const Guess at = guess(load);
  return normal_below((queue_log_s(load) + at.log_ratio - std::log(bound_s)) / at.deviation);
}

double ResponseCurve::share_above(const ServiceLoad& load, double bound_s) const {
  if (load.busy >= kBusiest || load.pods <= 0 || load.per_pod <= 0) return 1;
  if (load.busy <= 0) return 0;
  return normal_below(std::log(expected_s(load) / bound_s) / kLeastDeviation);
}

double ResponseCurve::samples() const {
  double sum = 0;
  for (const Bin& bin : pooled_) sum += bin.weight;
  return sum;
}

void ResponseCurve::save(learning::SavedState& state, const std::string& name) const {
  std::vector<learning::Real> values;
  const auto put = [&](const Bin& bin) {
    values.push_back(bin.weight);
    values.push_back(bin.mean);
  };
  for (const Bin& bin : pooled_) put(bin);
  for (const auto& row : by_pods_)
    for (const Bin& bin : row) put(bin);
  for (const float square : square_) values.push_back(square);
  state.put(name, values);
}

void ResponseCurve::restore(learning::SavedState& state, const std::string& name) {
  std::vector<learning::Real> values(2 * kBusyBins * (1 + kPodBins) + kBusyBins);
  state.reals(name, values);
  for (const learning::Real value : values)
    if (!std::isfinite(value)) return state.fail(name, "finite numbers");
  auto from = values.begin();
  const auto take = [&](Bin& bin) {
    bin.weight = static_cast<float>(std::clamp(*from++, 0.0, kRemember));
    bin.mean = static_cast<float>(*from++);
  };
  for (Bin& bin : pooled_) take(bin);
  for (auto& row : by_pods_)
    for (Bin& bin : row) take(bin);
  for (float& square : square_) square = static_cast<float>(std::clamp(*from++, 0.0, 1.0));
}

}  // namespace evenkeel::autoscaling
