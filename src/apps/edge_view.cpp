#include "apps/edge_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/sort_stably.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;
using scheduling::Decision;
using scheduling::PodEdge;

constexpr std::size_t kRowsShown = 15, kPeersShown = 8;  // to people

std::string named(const Pod& pod) {
  return pod.shape->app_workload.empty() ? pod.name : pod.shape->app_workload;
}

}  // namespace

Json edges_json(const Decision& decision, const Pod& pod, const ClusterState& cluster) {
  Json nodes = Json::object();
  for (const Decision::Edges& from : decision.edges) {
    Json& edges = nodes[cluster.node(from.node).name] = Json::array();
    for (std::size_t i = 0; i < decision.peers.size(); ++i) {
      const PodEdge& peer = decision.peers[i];
      const Pod& other = cluster.pod(peer.peer)->pod;
      Json edge{{"peer", other.full_name()},
                {"peer_node", cluster.node(peer.peer_node).name},
                {"from", named(peer.is_target ? pod : other)},
                {"to", named(peer.is_target ? other : pod)},
                {"cost", from.costs[i] ? Json(*from.costs[i]) : Json(nullptr)},
                {"bandwidth", peer.bandwidth}};
      if (peer.max_cost != scheduling::GroupGraph::kNoLimit) edge["max_cost"] = peer.max_cost;
      edges.push_back(std::move(edge));
    }
  }
  return nodes;
}

std::string edges_text(const Decision& decision, const ClusterState& cluster, reporting::TextStyle style) {
  std::string text;
  if (!decision.network_missing.empty()) text += "\nthe network: " + decision.network_missing + "\n";
  if (decision.edges.empty()) return text;
  const std::size_t shown = std::min(decision.peers.size(), kPeersShown);
  reporting::TextTable table;
  table.columns.push_back({"node", reporting::Align::left});
  for (std::size_t i = 0; i < shown; ++i) {
    const PodEdge& peer = decision.peers[i];
    table.columns.push_back({(peer.is_target ? "to " : "from ") + cluster.pod(peer.peer)->pod.name + " on " +
                             cluster.node(peer.peer_node).name});
  }
  table.columns.push_back({"network cost"});
  std::vector<const Decision::Edges*> rows;
  for (const Decision::Edges& edges : decision.edges) rows.push_back(&edges);
  sort_stably(rows, [](const Decision::Edges* a, const Decision::Edges* b) { return a->total < b->total; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool chosen = decision.node == rows[i]->node;
    if (i >= kRowsShown && !chosen) continue;
    auto& cells = table.rows.emplace_back();
    cells.push_back(
        {cluster.node(rows[i]->node).name, chosen ? reporting::Emphasis::strong : reporting::Emphasis::none});
    for (std::size_t k = 0; k < shown; ++k)
      cells.push_back({rows[i]->costs[k] ? std::to_string(*rows[i]->costs[k]) : "unknown"});
    cells.push_back({std::to_string(rows[i]->total)});
  }
  text += "\n" + render_text_table(table, style);
  if (decision.peers.size() > shown)
    text +=
        "… " + std::to_string(decision.peers.size() - shown) + " more pods it talks to; --json shows all\n";
  if (rows.size() > kRowsShown)
    text += "… " + std::to_string(rows.size() - kRowsShown) + " more nodes; --json shows all\n";
  return text;
}

}  // namespace evenkeel::apps
