#pragma once
#include <span>
#include <string>
#include <vector>

#include "apps/live_observer.h"
#include "reporting/metrics.h"
#include "scheduling/policies/guarded.h"

namespace evenkeel::apps {

// What guards and moves come to, for Prometheus.
class GuardMetrics {
 public:
  explicit GuardMetrics(reporting::MetricsRegistry& registry);

  void serves(std::span<const LiveProfile> profiles);
  void refresh();  // once a turn
  void acted(const Action& action);
  void observed(const ClusterEvent& event);
  void ended() { guards_.clear(); }

 private:
  struct Watched {
    std::string profile;
    scheduling::Guarded* guard;
  };
  void refresh(const Watched& watched);

  reporting::MetricFamily<reporting::Gauge>& fallback_;       // profile, reason
  reporting::MetricFamily<reporting::Counter>& transitions_;  // profile, to
  reporting::MetricFamily<reporting::Counter>& decisions_;    // profile, decider, reason
  reporting::MetricFamily<reporting::Gauge>& stage_;          // profile, stage
  reporting::MetricFamily<reporting::Counter>& moves_;        // outcome
  std::vector<Watched> guards_;
};

}  // namespace evenkeel::apps
