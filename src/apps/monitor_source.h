#pragma once
#include <memory>

#include "apps/metrics_source.h"
#include "messaging/report_receiver.h"

namespace evenkeel::apps {

// The stream of `evenkeel monitor` on every node.
class MonitorSource final : public MetricsSource {
 public:
  explicit MonitorSource(std::unique_ptr<messaging::ReportReceiver> receiver)
      : receiver_(std::move(receiver)) {}

  std::string_view name() const override { return "monitor"; }
  std::vector<MetricsReading> take() override {
    std::vector<NodeReport> reports = receiver_->take();
    if (reports.empty()) return {};
    return {{std::move(reports), {}}};
  }
  SourceCounts counts() const override {
    const messaging::ReportReceiver::Counts counts = receiver_->counts();
    return {counts.reports,
            0,
            {{"unauthenticated", counts.refused_unauthenticated},
             {"wrong_node", counts.refused_wrong_node},
             {"malformed", counts.refused_malformed},
             {"out_of_sequence", counts.out_of_sequence}}};
  }

 private:
  std::unique_ptr<messaging::ReportReceiver> receiver_;
};

}  // namespace evenkeel::apps
