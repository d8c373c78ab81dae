#include "apps/network_page.h"

#include <map>

#include "scheduling/group_graph.h"
#include "scheduling/network_view.h"

namespace evenkeel::apps {
namespace {

constexpr std::size_t kMostLines = 5000;  // more than anybody can look at

std::string label_of(const Node& node, std::string_view key) {
  const std::string* value = node.labels.find(key);
  return value ? *value : "";
}

struct Drawer {
  const ClusterState& cluster;
  scheduling::NetworkView view;
  reporting::NetworkPicture picture{};
  std::map<std::uint32_t, std::size_t> nodes{};  // by slot
  double known = 0;
  std::size_t unknown = 0;

  void draw_nodes() {
    for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
      if (!cluster.has_node({slot})) continue;
      const Node& node = cluster.node({slot});
      nodes[slot] = picture.nodes.size();
      picture.nodes.push_back({node.name, label_of(node, kZoneLabel), label_of(node, kRegionLabel)});
    }
  }

  void draw_group(const AppGroup& group, int colour) {
    const scheduling::GroupGraph graph(group);
    std::vector<std::vector<std::size_t>> of_workload(graph.workloads());  // as drawn
    std::map<std::size_t, NodeId> where;
    for (const PodId id : cluster.groups().of(group.name_space, group.name)) {
      const PodRecord* record = cluster.pod(id);
      if (!record || record->place == PodPlace::pending || !nodes.contains(record->node.slot)) continue;
      const auto workload = graph.workload(record->pod.shape->app_workload);
      if (workload) of_workload[*workload].push_back(picture.pods.size());
      where[picture.pods.size()] = record->node;
      picture.pods.push_back({record->pod.name, nodes.at(record->node.slot), colour});
    }
    for (const scheduling::GroupGraph::Edge& edge : graph.edges())
      for (const std::size_t from : of_workload[edge.from])
        for (const std::size_t to : of_workload[edge.to])
          if (from != to) draw_line(from, to, view.cost(where.at(from), where.at(to)));
  }

  void draw_line(std::size_t from, std::size_t to, std::optional<std::int64_t> cost) {
    known += static_cast<double>(cost.value_or(0));
    unknown += cost ? 0 : 1;
    if (picture.lines.size() >= kMostLines) return;
    const std::string price = cost ? "costs " + std::to_string(*cost) : "costs nobody knows what";
    picture.lines.push_back({from, to, cost ? std::optional(static_cast<double>(*cost)) : std::nullopt,
                             picture.pods[from].name + " to " + picture.pods[to].name + " " + price});
  }
};

}  // namespace

reporting::NetworkPicture picture_of(const ClusterState& cluster,
                                     const scheduling::NetworkArguments& arguments) {
  Drawer drawer{cluster, view_network(cluster, arguments)};
  drawer.draw_nodes();
  std::string names;
  int colour = 0;
  for (const auto& [name, group] : cluster.objects().app_groups()) {
    drawer.draw_group(group, colour++);
    names += (names.empty() ? "" : ", ") + name;
  }
  drawer.picture.title = names.empty() ? "No application group" : "Who talks to whom: " + names;
  drawer.picture.legend =
      "Sum of costs over pairs that talk: " + std::to_string(static_cast<std::int64_t>(drawer.known)) +
      (drawer.unknown > 0 ? ", and " + std::to_string(drawer.unknown) + " that nobody knows" : "");
  return std::move(drawer.picture);
}

}  // namespace evenkeel::apps
