#pragma once
#include "reporting/metrics.h"

namespace evenkeel::reporting {

// What Prometheus calls process_*: the standard figures of this very process, read when asked to.
class ProcessFigures {
 public:
  explicit ProcessFigures(MetricsRegistry& registry);
  void refresh();  // from one thread at a time

 private:
  Gauge& cpu_;
  Gauge& resident_;
  Gauge& virtual_;
  Gauge& start_;
  Gauge& open_files_;
  Gauge& most_files_;
};

}  // namespace evenkeel::reporting
