#pragma once
#include <string>
#include <vector>

#include "apps/live_observer.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {

// What a live scheduler would do to the pods that wait, gathered instead of done.
class DryRun : public LiveObserver {
 public:
  struct Row {
    std::string pod, node, outcome, why;  // node: empty where there is none
  };

  void began(const scheduling::Scheduler& scheduler, Time) override { scheduler_ = &scheduler; }
  void acted(const Action& action, Time) override;
  void decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node, Duration) override;

  const std::vector<Row>& rows() const { return rows_; }
  std::string json() const;
  reporting::TextTable table() const;

 private:
  std::string pod_name(PodId pod) const;
  std::string node_name(NodeId node) const;

  const scheduling::Scheduler* scheduler_ = nullptr;
  std::vector<Row> rows_;
};

}  // namespace evenkeel::apps
