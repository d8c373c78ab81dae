#pragma once
#include <map>
#include <memory>
#include <string>

#include "apps/polled_source.h"

namespace evenkeel::apps {

// CPU and memory out of metrics.k8s.io, through the API server. It tells nothing of networks and disks: those
// stay as they are expected to be.
//
// Samples are dated by metrics-server, whose clock need not be ours: one whose date has not moved since we
// last asked is the one we know.
class MetricsApiQuestions final : public MetricsQuestions {
 public:
  std::string_view name() const override { return "metrics-api"; }
  void ask(kubernetes::ApiConnection& connection, Duration within, Done done) override;

 private:
  struct Round;
  void finish(Round& round, Time now);

  std::map<std::string, Time> last_stamps_;  // of the nodes, by the server's clock
};

}  // namespace evenkeel::apps
