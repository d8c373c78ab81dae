// How KubernetesScalingWorld looks at workloads: scales first, a few at a time, then measurements of all of
// them at once, then one report each.
#include <algorithm>
#include <utility>

#include "kubernetes/scaling_world.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr Duration kScaleWithin = 10s;

// Those of the same interval are due together, so that one question serves them all.
Time next_due(Time now, Duration interval) {
  return Time((now.time_since_epoch() / interval + 1) * interval);
}

}  // namespace

void KubernetesScalingWorld::look_when_due() {
  if (round_ || !synced() || !leads_()) return;
  const Time at = now();
  auto round = std::make_shared<Round>();
  Time soonest = Time::max();
  for (const auto& [key, slot] : by_key_) {
    Known& known = known_[slot];
    if (known.next_look > at) {
      soonest = std::min(soonest, known.next_look);
      continue;
    }
    known.next_look = next_due(at, known.scaler->spec.interval);
    round->looks.push_back({known.id, known.scaler, {}, {}});
  }
  if (!round->looks.empty()) {
    round->unseen.resize(round->looks.size());
    round_ = round;
    return look_at_next(round);
  }
  if (timer_ != 0) connection_.cancel_timer(timer_);
  timer_ = 0;
  if (soonest == Time::max()) return;
  timer_ = connection_.call_after(soonest - at, [this] {
    timer_ = 0;
    look_when_due();
  });
}

void KubernetesScalingWorld::look_at_next(const std::shared_ptr<Round>& round) {
  while (round->next < round->looks.size() && round->open < options_.most_looks) {
    ++round->open;
    read_scale_of(round, round->next++);
  }
}

void KubernetesScalingWorld::read_scale_of(const std::shared_ptr<Round>& round, std::size_t i) {
  ++looks_;
  const ScalerSpec& spec = round->looks[i].scaler->spec;
  const auto ask = [this, round, i](const ResourceType& type) {
    const ScalerSpec& of = round->looks[i].scaler->spec;
    if (Known* known = find(round->looks[i].id)) known->type = type;
    ApiRequest request;
    request.path = type.object(of.name_space, of.target.name, "scale");
    request.timeout = kScaleWithin;
    connection_.call(std::move(request),
                     [this, round, i, self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                       if (self.lock()) scale_read(round, i, answer);
                     });
  };
  targets_.find(spec.target.api_version, spec.target.kind,
                [this, round, i, ask, self = std::weak_ptr(alive_)](const Result<ResourceType>& type) {
                  if (!self.lock()) return;
                  if (type) return ask(*type);
                  looked(round, i, type.error().message);
                });
}

void KubernetesScalingWorld::scale_read(const std::shared_ptr<Round>& round, std::size_t i,
                                        const ApiAnswer& answer) {
  if (!answer.ok()) return looked(round, i, answer.error().message);
  Result<ScaleReading> scale = read_scale(answer.body);
  if (!scale) return looked(round, i, scale.error().message);
  if (scale->selector.empty()) return looked(round, i, "the target's scale is missing a selector");
  Known* known = find(round->looks[i].id);
  if (known) {
    known->scale = *std::move(scale);
    fill_in(round->looks[i], *known);
  }
  looked(round, i, known ? "" : "it is gone");
}

void KubernetesScalingWorld::fill_in(ScalingLook& look, Known& known) {
  ServiceReport& report = look.report;
  report.wanted = known.scale->wanted;
  report.there = known.scale->there;
  known.status.seen(report.there);
  const auto selector = parse_label_selector(known.scale->selector);
  if (!selector) {
    look.trouble = "selector '" + known.scale->selector + "': " + selector.error().message;
    return;
  }
  const ScalerSpec& spec = look.scaler->spec;
  const std::vector<MetricTarget> cpu(1);
  const std::vector<MetricTarget>& metrics = spec.metrics.empty() ? cpu : spec.metrics;
  report.amounts.resize(metrics.size());
  for (const ScaledPod* pod : pods_.select(spec.name_space, *selector)) {
    ReplicaReport replica = pod->replica;
    replica.samples.resize(metrics.size());
    for (const MetricTarget& metric : metrics) replica.requests.push_back(pod->request_of(metric));
    report.replicas.push_back(std::move(replica));
  }
}

void KubernetesScalingWorld::looked(const std::shared_ptr<Round>& round, std::size_t i,
                                    const std::string& why) {
  round->unseen[i] = why;
  --round->open;
  if (round->next < round->looks.size()) return look_at_next(round);
  if (round->open > 0) return;
  // Those that could not be seen are left out of what the meter is asked.
  auto seen = std::make_shared<Round>();
  for (std::size_t n = 0; n < round->looks.size(); ++n) {
    if (round->unseen[n].empty()) {
      seen->looks.push_back(std::move(round->looks[n]));
      continue;
    }
    Known* known = find(round->looks[n].id);
    if (!known) continue;
    known->status.unseen(round->unseen[n], now());
    record(*known, true, "FailedGetScale", round->unseen[n]);
    write_status(*known);
    gathered_.emplace_back(ServiceUnseen{known->id, round->unseen[n]});
  }
  if (seen->looks.empty()) return report(seen);
  meter_.measure(seen->looks, [this, seen, self = std::weak_ptr(alive_)] {
    if (self.lock()) report(seen);
  });
}

void KubernetesScalingWorld::report(const std::shared_ptr<Round>& round) {
  const Time at = now();
  for (ScalingLook& look : round->looks) {
    Known* known = find(look.id);
    if (!known) continue;
    // The same trouble again is not news.
    if (!look.trouble.empty() && look.trouble != known->told_trouble)
      record(*known, true, "FailedGetMetrics", look.trouble);
    known->told_trouble = look.trouble;
    look.report.measured = at;
    gathered_.emplace_back(ServiceReported{look.id, std::move(look.report)});
  }
  round_.reset();
  look_when_due();
}

}  // namespace evenkeel::kubernetes
