#pragma once
#include <span>
#include <string>
#include <vector>

#include "apps/live_observer.h"
#include "reporting/metrics.h"

namespace evenkeel::apps {

// How policies that learn on the cluster are getting on, for Prometheus: what PlacementPolicy::learning()
// says, by profile. Nothing is shown of a profile that does not learn.
class LearningMetrics {
 public:
  explicit LearningMetrics(reporting::MetricsRegistry& registry);

  void serves(std::span<const LiveProfile> profiles);
  void refresh();  // about once a second, from the deciding thread
  void ended() { watched_.clear(); }

 private:
  struct Watched {
    std::string profile;
    const scheduling::PlacementPolicy* policy;
  };
  void refresh(const Watched& watched);

  template <typename Metric>
  struct Shown {
    std::string_view figure, label;  // label: of the second one, where there is a second
    reporting::MetricFamily<Metric>* family;
  };
  std::vector<Shown<reporting::Counter>> counters_;
  std::vector<Shown<reporting::Gauge>> gauges_;
  std::vector<Watched> watched_;
};

}  // namespace evenkeel::apps
