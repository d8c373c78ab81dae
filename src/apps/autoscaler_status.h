#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "apps/autoscaler_live.h"
#include "apps/autoscaler_records.h"
#include "apps/service_source.h"
#include "kubernetes/client_api.h"
#include "reporting/metrics.h"
#include "reporting/process_figures.h"
#include "reporting/status_server.h"

namespace evenkeel::apps {

// How a running autoscaler is asked about itself: health, /metrics, /decisions (JSON) and /preview (a page;
// /preview.json). Told by the autoscaler's thread; the server has one of its own.
class AutoscalerStatus {
 public:
  AutoscalerStatus(ScalingRecords& records, std::string command);

  void turned(const LiveAutoscaler& autoscaler, const PrometheusMeter* prometheus,
              const kubernetes::ApiClient& client);
  void stopping() { stopping_.store(true, std::memory_order_relaxed); }

  // Nothing where `listen` is empty.
  Result<std::unique_ptr<reporting::StatusServer>> serve(const std::string& listen,
                                                         const std::string& token_file);

 private:
  std::string metrics_text();
  std::optional<reporting::HttpAnswer> page(const reporting::HttpQuestion& question) const;

  ScalingRecords& records_;
  std::string command_;
  reporting::MetricsRegistry registry_;
  reporting::ProcessFigures process_{registry_};
  std::atomic<Duration::rep> last_turn_{0};
  std::atomic<bool> synced_{false}, leading_{false}, stopping_{false};
  reporting::Gauge &scalers_, &pods_, &leads_;
  reporting::Counter &decisions_, &fallbacks_, &holds_;
  reporting::MetricFamily<reporting::Counter>& scalings_;
  reporting::Counter &unseen_, &looks_, &questions_, &question_failures_;
  reporting::MetricFamily<reporting::Counter>& requests_;
  reporting::MetricFamily<reporting::Gauge>&set_, &decided_;
};

}  // namespace evenkeel::apps
