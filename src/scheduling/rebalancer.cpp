#include "scheduling/rebalancer.h"

#include <algorithm>
#include <cmath>

#include "scheduling/filters/filter.h"
#include "scheduling/move_rules.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
constexpr double kHot = 0.8;  // of a node's CPU
constexpr double kPriceStep = 0.3;
constexpr double kLeastPrice = 0.001;
constexpr double kWorkAgain = 2;  // work done again counts for more than imbalance: somebody waits for it

using Shares = Usage;  // of what a node has, not in units

Shares shares(const NodeColumns& columns, std::size_t node, const Usage& usage) {
  Shares result;
  for (std::size_t d = 0; d < kDimensions; ++d) result.of[d] = usage.of[d] * columns.per_unit[d][node];
  return result;
}

const Usage& seen_or_expected(const PodRecord& record) {
  return record.samples > 0 ? record.recent : record.expected.mean;
}

}  // namespace

// A pod on a node, and when it is expected to end.
struct Rebalancer::Candidate {
  PodId id;
  std::uint32_t from;
  prediction::Lifetime life;
  double age_s;
};

struct Rebalancer::Outlook {
  struct Point {
    double ahead_s = 0;
    std::vector<Shares> nodes;
    Shares mean, squares, deviation;  // squares: sum of squared distances from the mean
    double count = 0, imbalance = 0;
  };
  std::vector<Point> points;  // one alone where nothing is expected to end
  std::vector<std::uint32_t> present;
  std::vector<Candidate> pods;
  double last_end = 0;                 // of all pods, in seconds from now
  std::vector<std::uint32_t> targets;  // the least loaded first
  std::vector<std::uint8_t> is_source;

  // What the imbalance at point k changes by when `less` leaves a and `more` comes to b.
  double change(std::size_t k, std::size_t a, const Shares& less, std::size_t b, const Shares& more) const {
    const Point& p = points[k];
    double total = 0;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const double xa = p.nodes[a].of[d] - p.mean.of[d], xb = p.nodes[b].of[d] - p.mean.of[d];
      const double l = less.of[d], m = more.of[d];
      const double shift = (m - l) / p.count;
      const double squares =
          p.squares.of[d] - 2 * xa * l + l * l + 2 * xb * m + m * m - p.count * shift * shift;
      total += std::sqrt(std::max(0.0, squares) / p.count) - p.deviation.of[d];
    }
    const auto hot = [](double cpu) { return std::max(0.0, cpu - kHot); };
    const double heat = hot(p.nodes[a].of[0] - less.of[0]) - hot(p.nodes[a].of[0]) +
                        hot(p.nodes[b].of[0] + more.of[0]) - hot(p.nodes[b].of[0]);
    return total / kDimensions + heat / p.count;
  }

  double pressure(std::size_t node) const {
    const Point& p = points.front();
    double total = 0;
    for (std::size_t d = 0; d < kDimensions; ++d)
      if (p.deviation.of[d] > 1e-9) total += (p.nodes[node].of[d] - p.mean.of[d]) / p.deviation.of[d];
    return total;
  }
};

bool Rebalancer::within_budget(Time now) {
  while (!moves_.empty() && now - moves_.front() >= 24h) moves_.pop_front();
  const double per_day = budget_.per_day > 0 ? budget_.per_day : 10 * budget_.per_hour;
  const auto this_hour = std::count_if(moves_.begin(), moves_.end(), [&](Time t) { return now - t < 1h; });
  return static_cast<double>(this_hour) + 1 <= budget_.per_hour &&
         static_cast<double>(moves_.size()) + 1 <= per_day;
}

bool Rebalancer::cooled_down(WorkloadId workload, Time now) const {
  return workload.slot >= last_of_.size() || last_of_[workload.slot] == Time::min() ||
         now - last_of_[workload.slot] >= budget_.cool_down;
}

bool Rebalancer::is_fresh(NodeId node, const ClusterState& cluster, const SchedulingOptions& options,
                          Time now) const {
  const Time measured = cluster.measured_at(node);
  return !budget_.rules.on || (measured != Time::min() && now - measured <= options.stale_after);
}

bool Rebalancer::may_look(const ClusterState& cluster, const SchedulingOptions& options, Time now) {
  return cluster.node_count() >= 2 && cluster.last_measured() != Time::min() &&
         now - cluster.last_measured() <= options.stale_after && within_budget(now);
}

bool Rebalancer::may_move(const PodRecord& record, const ClusterState& cluster,
                          const SchedulingOptions& options, Time now) const {
  if (record.place != PodPlace::bound || !record.started) return false;
  if (!scheduler_name_.empty() && record.pod.spec().scheduler_name != scheduler_name_) return false;
  if (!cooled_down(record.pod.shape->workload, now)) return false;
  return is_fresh(record.node, cluster, options, now);
}

Rebalancer::Outlook Rebalancer::look_ahead(const ClusterState& cluster,
                                           const prediction::WorkloadHistory& history, Time now) const {
  const NodeColumns& columns = cluster.columns();
  Outlook outlook;
  bool all_endless = true;
  for (std::uint32_t node = 0; node < columns.size(); ++node) {
    if (!columns.present[node]) continue;
    outlook.present.push_back(node);
    for (const PodId id : cluster.pods_on({node})) {
      const PodRecord& record = *cluster.pod(id);
      const prediction::Lifetime life = history.lifetime(record.pod);
      const double age = record.started ? to_seconds(now - record.since) : 0;
      outlook.pods.push_back({id, node, life, age});
      all_endless = all_endless && life.endless;
      outlook.last_end = std::max(
          outlook.last_end, life.endless ? 1e9 : std::max(life.median_s() - age, 0.05 * life.median_s()));
    }
  }

  outlook.points.resize(all_endless ? 1 : kPoints);
  const auto point_count = static_cast<double>(outlook.points.size());
  std::vector<Usage> load(columns.size());
  for (std::size_t k = 0; k < outlook.points.size(); ++k) {
    Outlook::Point& point = outlook.points[k];
    point.ahead_s =
        -to_seconds(budget_.foresight) * std::log1p(-(static_cast<double>(k) + 0.5) / point_count);
    point.count = static_cast<double>(outlook.present.size());
    point.nodes.resize(columns.size());
    for (const std::uint32_t node : outlook.present) load[node] = cluster.base_load({node});
    for (const Candidate& pod : outlook.pods)
      load[pod.from] += seen_or_expected(*cluster.pod(pod.id)) * pod.life.survival(pod.age_s, point.ahead_s);
    for (const std::uint32_t node : outlook.present) point.nodes[node] = shares(columns, node, load[node]);
    for (std::size_t d = 0; d < kDimensions; ++d) {
      for (const std::uint32_t node : outlook.present)
        point.mean.of[d] += point.nodes[node].of[d] / point.count;
      for (const std::uint32_t node : outlook.present)
        point.squares.of[d] += std::pow(point.nodes[node].of[d] - point.mean.of[d], 2);
      point.deviation.of[d] = std::sqrt(point.squares.of[d] / point.count);
      point.imbalance += point.deviation.of[d] / kDimensions;
    }
  }

  // Sources and targets: the ends of the field, or everybody where there are few.
  std::vector<std::uint32_t>& order = outlook.targets = outlook.present;
  std::vector<double> pressure(columns.size());
  for (const std::uint32_t node : order) pressure[node] = outlook.pressure(node);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return pressure[a] != pressure[b] ? pressure[a] < pressure[b] : a < b;
  });
  const std::size_t few = std::min(kFew, order.size());
  outlook.is_source.resize(columns.size());
  for (std::size_t i = order.size() - few; i < order.size(); ++i) outlook.is_source[order[i]] = 1;
  order.resize(few);
  return outlook;
}

void Rebalancer::try_targets(const Outlook& outlook, const Candidate& candidate, const ClusterState& cluster,
                             const SchedulingOptions& options, Time now, std::optional<Move>& best) const {
  const NodeColumns& columns = cluster.columns();
  const PodRecord& record = *cluster.pod(candidate.id);
  const Usage& usage = seen_or_expected(record);
  // Work done again is load that nobody asked for.
  double waste = 0;
  if (!candidate.life.endless)
    for (const double share : shares(columns, candidate.from, usage).of)
      waste += kWorkAgain * share * candidate.age_s / (kDimensions * outlook.points.front().count);
  const auto point_count = static_cast<double>(outlook.points.size());
  std::optional<bool> may_go;  // asked when it matters: few pods are worth the look at every budget
  for (const std::uint32_t to : outlook.targets) {
    if (to == candidate.from || columns.cordoned[to]) continue;
    double gain = 0;
    const Shares leaving = shares(columns, candidate.from, usage), coming = shares(columns, to, usage);
    for (std::size_t k = 0; k < outlook.points.size(); ++k) {
      const double ahead = outlook.points[k].ahead_s;
      const double stays = candidate.life.survival(candidate.age_s, ahead);
      const double anew = candidate.life.survival(0, ahead);
      Shares less = leaving, more = coming;
      for (double& share : less.of) share *= stays;
      for (double& share : more.of) share *= anew;
      gain -= outlook.change(k, candidate.from, less, to, more);
    }
    gain *= to_seconds(budget_.foresight) / point_count;
    gain -= waste;
    if (best && gain <= best->gain) continue;
    if (!may_go) may_go = !budget_.rules.on || why_not_move(record, cluster, budget_.rules).empty();
    if (!*may_go) return;
    if (!is_fresh({to}, cluster, options, now)) continue;
    if (!objections({record.pod, cluster, record.expected, options}, {to}).empty()) continue;
    best = Move{candidate.id, {candidate.from}, {to}, gain, {}};
  }
}

std::optional<Move> Rebalancer::propose(const ClusterState& cluster,
                                        const prediction::WorkloadHistory& history,
                                        const SchedulingOptions& options, Time now) {
  next_look_ = now + budget_.every;
  if (!may_look(cluster, options, now)) return std::nullopt;
  const Outlook outlook = look_ahead(cluster, history, now);
  std::optional<Move> best;
  for (const Candidate& candidate : outlook.pods) {
    if (!outlook.is_source[candidate.from]) continue;
    if (!may_move(*cluster.pod(candidate.id), cluster, options, now)) continue;
    if (!candidate.life.endless && candidate.life.median_s() > outlook.last_end) continue;
    try_targets(outlook, candidate, cluster, options, now, best);
  }

  const double scale = outlook.points.front().imbalance * to_seconds(budget_.foresight);
  const double floor = budget_.least_gain * to_seconds(budget_.foresight);
  const double per_day = budget_.per_day > 0 ? budget_.per_day : 10 * budget_.per_hour;
  const double wanted = std::min(budget_.per_hour, per_day / 24) * to_seconds(budget_.every) / 3600;
  const bool worth_it = best && best->gain >= std::max(price_ * scale, floor);
  price_ = std::clamp(price_ * std::exp(kPriceStep * ((worth_it ? 1.0 : 0.0) - wanted)), kLeastPrice, 1.0);
  if (!worth_it) return std::nullopt;
  best->why =
      "evens out the cluster: " + cluster.node(best->from).name + " to " + cluster.node(best->to).name;
  note_move(*best, cluster, now);
  return best;
}

std::optional<Move> Rebalancer::relieve(PodId pod, const ClusterState& cluster,
                                        const prediction::WorkloadHistory& history,
                                        const SchedulingOptions& options, Time now) {
  const PodRecord* record = cluster.pod(pod);
  if (!record || budget_.per_hour <= 0 || !may_look(cluster, options, now) ||
      !may_move(*record, cluster, options, now))
    return std::nullopt;
  const Outlook outlook = look_ahead(cluster, history, now);
  const auto candidate = std::find_if(outlook.pods.begin(), outlook.pods.end(),
                                      [&](const Candidate& each) { return each.id == pod; });
  if (candidate == outlook.pods.end()) return std::nullopt;
  std::optional<Move> best;
  try_targets(outlook, *candidate, cluster, options, now, best);
  if (!best || best->gain < 0) return std::nullopt;
  best->why = "relieves " + cluster.node(best->from).name + " in favour of " + cluster.node(best->to).name;
  note_move(*best, cluster, now);
  return best;
}

void Rebalancer::note_move(const Move& move, const ClusterState& cluster, Time now) {
  cool_down(cluster.pod(move.pod)->pod.shape->workload, now);
  moves_.push_back(now);
}

void Rebalancer::cool_down(WorkloadId workload, Time now) {
  if (workload.slot >= last_of_.size()) last_of_.resize(workload.slot + std::size_t{1}, Time::min());
  last_of_[workload.slot] = now;
}

}  // namespace evenkeel::scheduling
