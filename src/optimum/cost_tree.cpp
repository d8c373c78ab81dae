#include "optimum/cost_tree.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace evenkeel::optimum {
namespace {

using scheduling::GroupProblem;
using Part = CostTree::Part;

Status check(const GroupProblem& problem) {
  const auto price = [&](std::uint32_t a, std::uint32_t b) { return problem.cost[a * problem.zones + b]; };
  for (std::uint32_t a = 0; a < problem.zones; ++a) {
    for (std::uint32_t b = 0; b < problem.zones; ++b)
      if (!(price(a, b) >= 0) || !std::isfinite(price(a, b)))
        return invalid("the cost from zone " + std::to_string(a) + " to " + std::to_string(b) +
                       " is no number of 0 or more");
    if (!(problem.same_node >= 0) || problem.same_node > price(a, a))
      return invalid("within a node of zone " + std::to_string(a) + " it is dearer than between its nodes");
  }
  return {};
}

// Zones joined nearest first; each join is a part, and joins of the same height are one.
class Joining {
 public:
  Joining(const GroupProblem& problem, CostTree& tree) : problem_(problem), tree_(tree) {
    for (std::uint32_t node = 0; node < problem.nodes.size(); ++node)
      tree.parts.push_back({Part::Kind::node, node, {}, {node}, problem.same_node, 0});
    std::vector<std::uint32_t> zones;
    part_of_.assign(problem.zones, 0);
    for (std::uint32_t zone = 0; zone < problem.zones; ++zone) {
      Part part{.kind = Part::Kind::zone, .number = zone, .children = {}, .nodes = {}};
      for (std::uint32_t node = 0; node < problem.nodes.size(); ++node)
        if (problem.nodes[node].zone == zone) part.children.push_back(node);
      if (part.children.empty()) continue;
      part.nodes = part.children;
      part.height = between(zone, zone);
      for (std::uint32_t other = 0; other < problem.zones; ++other)  // never above what is above it
        if (other != zone && holds_nodes(other)) part.height = std::min(part.height, between(zone, other));
      part_of_[zone] = static_cast<std::uint32_t>(tree.parts.size());
      tree.parts.push_back(std::move(part));
      zones.push_back(zone);
    }
    struct Pair {
      std::uint32_t a, b;
      double cost;
    };
    std::vector<Pair> pairs;
    for (const std::uint32_t a : zones)
      for (const std::uint32_t b : zones)
        if (a < b) pairs.push_back({a, b, between(a, b)});
    std::ranges::sort(pairs, [](const Pair& x, const Pair& y) {
      return x.cost != y.cost ? x.cost < y.cost : x.a != y.a ? x.a < y.a : x.b < y.b;
    });
    for (const Pair& pair : pairs)
      if (part_of_[pair.a] != part_of_[pair.b]) join(part_of_[pair.a], part_of_[pair.b], pair.cost);
    if (zones.size() == 1) join_alone();
  }

 private:
  double between(std::uint32_t a, std::uint32_t b) const {
    return std::min(problem_.cost[a * problem_.zones + b], problem_.cost[b * problem_.zones + a]);
  }
  bool holds_nodes(std::uint32_t zone) const {
    return std::ranges::any_of(problem_.nodes, [&](const auto& node) { return node.zone == zone; });
  }
  void join(std::uint32_t a, std::uint32_t b, double height) {
    Part part{.kind = Part::Kind::zones, .children = {}, .nodes = {}, .height = height};
    for (const std::uint32_t side : {a, b}) {
      const Part& below = tree_.parts[side];
      const bool same = below.kind == Part::Kind::zones && below.height == height;
      if (same)
        part.children.insert(part.children.end(), below.children.begin(), below.children.end());
      else
        part.children.push_back(side);
      part.nodes.insert(part.nodes.end(), below.nodes.begin(), below.nodes.end());
    }
    const auto joined = static_cast<std::uint32_t>(tree_.parts.size());
    for (std::uint32_t& of_zone : part_of_)
      if (of_zone == a || of_zone == b) of_zone = joined;
    tree_.parts.push_back(std::move(part));
  }
  void join_alone() {
    Part part{.kind = Part::Kind::zones,
              .children = {static_cast<std::uint32_t>(tree_.parts.size() - 1)},
              .nodes = tree_.parts.back().nodes,
              .height = tree_.parts.back().height};
    tree_.parts.push_back(std::move(part));
  }

  const GroupProblem& problem_;
  CostTree& tree_;
  std::vector<std::uint32_t> part_of_;  // of each zone: the part it is in so far
};

}  // namespace

Result<CostTree> cost_tree(const GroupProblem& problem) {
  if (const Status checked = check(problem); !checked) return checked.error();
  CostTree tree;
  if (problem.nodes.empty()) return invalid("there is no node");
  const Joining joining(problem, tree);
  // From the root down, so that parts taken up by others, which nobody reaches, save nothing.
  std::vector<std::uint32_t> open{static_cast<std::uint32_t>(tree.parts.size() - 1)};
  const std::size_t zones = problem.zones;
  std::vector<double> tree_cost(zones * zones, 0);
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    const Part& part = tree.parts[at];
    for (const std::uint32_t child : part.children) {
      if (part.kind != Part::Kind::zone) tree.parts[child].saving = part.height - tree.parts[child].height;
      open.push_back(child);
    }
    if (part.kind == Part::Kind::node) continue;
    for (const std::uint32_t a :
         part.nodes)  // parents come first: the lowest part that holds both has the last word
      for (const std::uint32_t b : part.nodes)
        tree_cost[problem.nodes[a].zone * zones + problem.nodes[b].zone] = part.height;
    if (part.kind == Part::Kind::zone) {
      // Also what remains between its nodes is saved by being on one of them.
      const double full = problem.cost[part.number * zones + part.number];
      for (const std::uint32_t child : part.children) tree.parts[child].saving = full - problem.same_node;
    }
  }
  tree.remainder.assign(zones * zones, 0);
  for (const auto& from : problem.nodes)
    for (const auto& to : problem.nodes) {
      const std::size_t pair = from.zone * zones + to.zone;
      tree.remainder[pair] = problem.cost[pair] - tree_cost[pair];
      if (tree.remainder[pair] > 0) tree.exact = false;
    }
  return tree;
}

}  // namespace evenkeel::optimum
