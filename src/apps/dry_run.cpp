#include "apps/dry_run.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/match.h"

namespace evenkeel::apps {

std::string DryRun::pod_name(PodId pod) const {
  const PodRecord* record = scheduler_->cluster().pod(pod);
  return record ? record->pod.full_name() : "?";
}

std::string DryRun::node_name(NodeId node) const {
  return scheduler_->cluster().has_node(node) ? scheduler_->cluster().node(node).name : "?";
}

void DryRun::decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node, Duration) {
  if (!node)
    rows_.push_back({request.pod.full_name(), "", "held back", "better waits than goes anywhere now"});
}

void DryRun::acted(const Action& action, Time) {
  std::visit(
      Match{
          [&](const BindPod& bind) {
            rows_.push_back({pod_name(bind.pod), node_name(bind.node), "bind", ""});
          },
          [&](const MarkUnschedulable& mark) {
            rows_.push_back({pod_name(mark.pod), "", "unschedulable", mark.why});
          },
          [&](const PreemptPods& preempt) {
            std::string victims;
            for (const PodId victim : preempt.victims)
              victims += (victims.empty() ? "preempts " : ", ") + pod_name(victim);
            rows_.push_back({pod_name(preempt.pod), node_name(preempt.node), "preempt", victims});
          },
          [&](const EvictPod& evict) {
            rows_.push_back({pod_name(evict.pod), evict.destination ? node_name(*evict.destination) : "",
                             "move", evict.why});
          },
      },
      action);
}

std::string DryRun::json() const {
  auto all = nlohmann::json::array();
  for (const Row& row : rows_)
    all.push_back({{"pod", row.pod}, {"node", row.node}, {"outcome", row.outcome}, {"why", row.why}});
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

reporting::TextTable DryRun::table() const {
  reporting::TextTable table;
  for (const char* header : {"Pod", "Outcome", "Node", "Why"})
    table.columns.push_back({header, reporting::Align::left});
  for (const Row& row : rows_) table.rows.push_back({{row.pod}, {row.outcome}, {row.node}, {row.why}});
  return table;
}

}  // namespace evenkeel::apps
