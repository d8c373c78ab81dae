#include "scheduling/policies/guard_watches.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "scheduling/imbalance.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::size_t kMostPending = 4096;
constexpr std::uint64_t kLongMemory = 1000;  // samples; then the older half counts half
constexpr double kFullest = 1.5;             // of a node: more is no utilisation
constexpr double kMostOfANode = 1.0;         // a pod asks of the average node

std::string number(double value) {
  std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + 5);
}

}  // namespace

bool MetricsWatch::is_fresh(const ClusterState& cluster, NodeId node, Duration stale_after, Time now) {
  const Time measured = cluster.measured_at(node);
  return measured != Time::min() && now - measured <= stale_after;
}

const MetricsWatch::Finding& MetricsWatch::look(const ClusterState& cluster, Duration stale_after, Time now) {
  const bool same_nodes = cluster.nodes_version() == nodes_version_;
  const bool holds = finding_.fresh ? now <= fresh_until_ : cluster.last_measured() == newest_;
  if (!walked_ || !same_nodes || !holds) walk(cluster, stale_after, now);
  return finding_;
}

// The last of the samples that may be missing decides: when it goes stale, too many are.
void MetricsWatch::walk(const ClusterState& cluster, Duration stale_after, Time now) {
  walked_ = true;
  newest_ = cluster.last_measured();
  nodes_version_ = cluster.nodes_version();
  times_.clear();
  const NodeColumns& columns = cluster.columns();
  for (std::uint32_t slot = 0; slot < columns.size(); ++slot)
    if (columns.present[slot]) times_.push_back(cluster.measured_at({slot}));
  finding_ = {true, times_.size(), 0, 0};
  fresh_until_ = Time::max();
  if (times_.empty()) return;
  for (const Time measured : times_) {
    finding_.never += measured == Time::min() ? 1 : 0;
    finding_.stale += measured == Time::min() || now - measured > stale_after ? 1 : 0;
  }
  const auto spare =
      std::min(times_.size() - 1, static_cast<std::size_t>(most_stale_ * static_cast<double>(times_.size())));
  std::nth_element(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(spare), times_.end());
  finding_.fresh = times_[spare] != Time::min() && now - times_[spare] <= stale_after;
  if (finding_.fresh) fresh_until_ = times_[spare] + stale_after;
}

void DriftWatch::note(const SelfCheck& check) {
  if (check.inputs == 0) return;
  last_.push_back(check);
  inputs_ += check.inputs;
  outside_ += check.outside;
  if (last_.size() <= window_) return;
  inputs_ -= last_.front().inputs;
  outside_ -= last_.front().outside;
  last_.pop_front();
}

bool DriftWatch::drifted() {
  if (last_.size() >= std::max<std::size_t>(1, window_ / 2))
    drifted_ = share() > (drifted_ ? most_outside_ / 2 : most_outside_);
  return drifted_;
}

SelfCheck check_inputs(const PlacementRequest& request) {
  SelfCheck check;
  const NodeColumns& columns = request.cluster.columns();
  const Imbalance now = imbalance_of(utilization_field(columns), request.cluster.node_count());
  const auto look = [&](double value, double high) {
    ++check.inputs;
    check.outside += value >= 0 && value <= high ? 0 : 1;  // a NaN is outside
  };
  for (std::size_t d = 0; d < kDimensions; ++d) {
    look(now.mean[d], kFullest);
    double per_unit = 0;
    for (std::size_t slot = 0; slot < columns.size(); ++slot) per_unit += columns.per_unit[d][slot];
    look(request.demand.mean.of[d] * per_unit / static_cast<double>(request.cluster.node_count()),
         kMostOfANode);
  }
  return check;
}

void RewardWatch::Side::add(double value) {
  if (samples >= kLongMemory) {
    samples /= 2;
    squares /= 2;
  }
  ++samples;
  const double off = value - mean;
  mean += off / static_cast<double>(samples);
  squares += off * (value - mean);
}

double RewardWatch::Side::error() const {
  const auto n = static_cast<double>(samples);
  return samples < 2 ? 0 : squares / (n - 1) / n;
}

void RewardWatch::decided(bool learned, double imbalance, Time now) {
  if (pending_.size() < kMostPending) pending_.push_back({now + options_.outcome_after, learned, imbalance});
}

void RewardWatch::outcome(double imbalance, Time now) {
  while (!pending_.empty() && pending_.front().due <= now) {
    const Pending& each = pending_.front();
    (each.learned ? learned_ : rule_).add(imbalance - each.before);
    pending_.pop_front();
  }
}

void RewardWatch::reported(std::span<const LearningFigure> figures) {
  std::optional<double> reward, rule;
  for (const LearningFigure& figure : figures) {
    if (figure.name == "reward") reward = figure.value;
    if (figure.name == "rule_reward") rule = figure.value;
  }
  if (!reward || !rule) return;
  reward_ = *reward;
  rule_reward_ = *rule;
  // A reward that is no number is none.
  const bool holds = reward_ >= rule_reward_ - options_.tolerance * std::abs(rule_reward_);
  below_ = holds || std::isnan(rule_reward_) ? 0 : below_ + 1;
}

std::optional<std::string> RewardWatch::worse() const {
  if (below_ >= options_.looks)
    return "its reward, " + number(reward_) + ", is below the rule's, " + number(rule_reward_);
  if (std::min(learned_.samples, rule_.samples) < options_.least_samples) return std::nullopt;
  const double difference = learned_.mean - rule_.mean, error = std::sqrt(learned_.error() + rule_.error());
  if (!(difference > options_.sure * error) || difference <= 0) return std::nullopt;
  return "imbalance changes by " + number(learned_.mean) + " after its decisions and by " +
         number(rule_.mean) + " after the rule's (" + std::to_string(learned_.samples) + " and " +
         std::to_string(rule_.samples) + " decisions)";
}

void RewardWatch::forget() {
  learned_ = rule_ = {};
  pending_.clear();
  below_ = 0;
}

}  // namespace evenkeel::scheduling
