#pragma once
// A service for tests of scaling policies: pods that serve fifty requests a second each, one at a time, with
// start-up, a backlog and reports every 15 s. As simple as can be and still have what policies go by.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "autoscaling/policies/policy.h"
#include "autoscaling/test_services.h"

namespace evenkeel::autoscaling {

class TestService {
 public:
  static constexpr double kPerPod = 50, kCores = 0.5;
  static constexpr Duration kStep = std::chrono::seconds{15}, kStartUp = std::chrono::seconds{10};

  explicit TestService(std::int32_t replicas, ScalerSpec spec = own_spec()) : spec_(std::move(spec)) {
    for (std::int32_t i = 0; i < replicas; ++i) pods_.push_back({next_++, now_ - std::chrono::hours{1}});
  }
  static ScalerSpec own_spec() {
    ScalerSpec spec = test_spec("evenkeel");
    spec.metrics = {MetricTarget{.target = 0.7}};
    return spec;
  }

  // Serves a rate for 15 s, asks the policy, and does what it says at once (a stabilised fall included).
  Recommendation step(double rate, ScalingPolicy& policy) {
    serve(rate);
    const ServiceReport report = this->report(rate);
    Recommendation answer =
        policy.recommend({{}, spec_, report, {}, {}, static_cast<std::int32_t>(pods_.size()), now_}, random_);
    if (answer.unable.empty()) scale(answer);
    return answer;
  }
  double violation() const { return steps_ > 0 ? violated_ / steps_ : 0; }
  double replicas() const { return steps_ > 0 ? replica_steps_ / steps_ : 0; }
  std::int32_t wanted() const { return static_cast<std::int32_t>(pods_.size()); }
  double backlog() const { return backlog_; }
  Time now() const { return now_; }
  ScalerSpec& spec() { return spec_; }
  void forget_figures() { steps_ = violated_ = replica_steps_ = 0; }

 private:
  struct Pod {
    int serial;
    Time ready;
  };
  void serve(double rate) {
    now_ += kStep;
    double ready = 0;
    for (const Pod& pod : pods_) ready += pod.ready <= now_ ? 1 : 0;
    ready = std::max(ready, 1.0);
    const double capacity = kPerPod * ready, arrived = rate * to_seconds(kStep);
    const double served = std::min(capacity * to_seconds(kStep), backlog_ + arrived);
    // Whoever has waited for half a minute gives up.
    backlog_ = std::min(backlog_ + arrived - served, 30 * capacity);
    const double busy = std::min(0.985, rate / capacity);
    response_ = -std::log(0.05) / (kPerPod * (1 - busy)) + backlog_ / capacity;
    used_ = served / to_seconds(kStep) / ready / kPerPod * kCores;
    steps_ += 1;
    violated_ += response_ > to_seconds(spec_.level.bound) ? 1 : 0;
    replica_steps_ += static_cast<double>(pods_.size());
  }
  ServiceReport report(double rate) const {
    ServiceReport report{.measured = now_, .wanted = wanted(), .there = wanted()};
    for (const Pod& pod : pods_) {
      ReplicaReport replica = test_replica(used_, kCores, now_);
      replica.name = "pod-" + std::to_string(pod.serial);
      replica.ready = pod.ready <= now_;
      replica.started = pod.ready - kStartUp;
      replica.ready_changed = replica.ready ? pod.ready : *replica.started;
      if (!replica.ready || pod.ready > now_ - kStep) replica.samples = {std::nullopt};
      report.replicas.push_back(replica);
    }
    report.requests_per_s = ServiceReport::Amount{rate, now_};
    report.response_s = ServiceReport::Amount{response_, now_};
    report.in_flight = ServiceReport::Amount{backlog_ + rate * std::min(response_, 0.3) / 3, now_};
    return report;
  }
  void scale(const Recommendation& answer) {
    const Duration window = answer.behaviour ? answer.behaviour->down.stabilisation.value_or(Duration{})
                                             : Duration{std::chrono::seconds{300}};
    recommended_.emplace_back(now_, answer.replicas);
    std::int32_t highest = 0;
    for (const auto& [at, replicas] : recommended_)
      if (at == now_ || at > now_ - window) highest = std::max(highest, replicas);
    const std::int32_t to =
        std::clamp(answer.replicas >= wanted() ? answer.replicas : std::min(wanted(), highest), 1, 20);
    while (wanted() < to) pods_.push_back({next_++, now_ + kStartUp});
    while (wanted() > to) pods_.pop_back();
  }

  ScalerSpec spec_;
  Random random_{7};
  Time now_ = kNow;
  std::vector<Pod> pods_;
  std::vector<std::pair<Time, std::int32_t>> recommended_;
  int next_ = 0;
  double backlog_ = 0, response_ = 0.05, used_ = 0;
  double steps_ = 0, violated_ = 0, replica_steps_ = 0;
};

}  // namespace evenkeel::autoscaling
