#include "controllers/topology_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace evenkeel::controllers {
namespace {

using Vertex = std::uint32_t;
using Order = std::vector<Vertex>;

struct Graph {
  std::vector<WorkloadReference> workloads;  // by vertex, in the order of the spec
  std::vector<Order> next;                   // whom a vertex depends on, in that order as well
  std::map<std::string, Vertex, std::less<>> by_selector;

  Vertex vertex(const WorkloadReference& workload) {
    const auto [at, is_new] =
        by_selector.try_emplace(workload.selector, static_cast<Vertex>(workloads.size()));
    if (is_new) {
      workloads.push_back(workload);
      next.emplace_back();
    }
    return at->second;
  }
};

using Edge = std::pair<Vertex, Vertex>;

// How early a vertex can be placed by these edges, the first of the spec first; vertices on a cycle come
// last.
std::vector<std::size_t> ranks_by(const std::set<Edge>& edges, std::size_t count) {
  std::vector<std::uint32_t> waiting_for(count);
  for (const Edge& edge : edges) ++waiting_for[edge.second];
  std::set<Vertex> ready;
  for (Vertex vertex = 0; vertex < count; ++vertex)
    if (waiting_for[vertex] == 0) ready.insert(vertex);
  std::vector<std::size_t> ranks(count, count);
  for (std::size_t rank = 0; !ready.empty(); ++rank) {
    const Vertex vertex = *ready.begin();
    ready.erase(ready.begin());
    ranks[vertex] = rank;
    for (auto at = edges.lower_bound({vertex, 0}); at != edges.end() && at->first == vertex; ++at)
      if (--waiting_for[at->second] == 0) ready.insert(at->second);
  }
  return ranks;
}

Graph graph_of(const AppGroup& group) {
  Graph graph;
  for (const AppWorkload& one : group.workloads) graph.vertex(one.workload);
  std::set<Edge> declared;
  for (const AppWorkload& one : group.workloads)
    for (const AppDependency& dependency : one.dependencies)
      declared.emplace(graph.vertex(one.workload), graph.vertex(dependency.workload));
  // Two that name each other say nothing of who comes first: the others' order decides, which cannot close a
  // circle.
  std::set<Edge> one_way;
  for (const auto& [from, to] : declared)
    if (!declared.contains({to, from})) one_way.emplace(from, to);
  const std::vector<std::size_t> ranks = ranks_by(one_way, graph.workloads.size());
  for (const AppWorkload& one : group.workloads) {
    const Vertex from = graph.vertex(one.workload);
    for (const AppDependency& dependency : one.dependencies) {
      const Vertex to = graph.vertex(dependency.workload);
      const bool is_backwards =
          declared.contains({to, from}) && std::pair(ranks[to], to) <= std::pair(ranks[from], from);
      if (!is_backwards && declared.erase({from, to}) > 0) graph.next[from].push_back(to);
      if (!is_backwards) declared.erase({to, from});
    }
  }
  return graph;
}

std::optional<Order> kahn(const Graph& graph) {
  std::vector<std::uint32_t> waiting_for(graph.next.size());
  for (const Order& next : graph.next)
    for (const Vertex to : next) ++waiting_for[to];
  Order stack, order;
  // Backwards, so that the first of the spec comes off first.
  for (Vertex vertex = static_cast<Vertex>(graph.next.size()); vertex-- > 0;)
    if (waiting_for[vertex] == 0) stack.push_back(vertex);
  while (!stack.empty()) {
    const Vertex vertex = stack.back();
    stack.pop_back();
    order.push_back(vertex);
    for (const Vertex to : graph.next[vertex])
      if (--waiting_for[to] == 0) stack.push_back(to);
  }
  if (order.size() != graph.next.size()) return std::nullopt;
  return order;
}

// Depth first without recursion: groups come from outside, and a chain may be long. What is found first
// stands last.
class DepthFirst {
 public:
  explicit DepthFirst(const Graph& graph) : graph_(graph), state_(graph.next.size(), State::fresh) {}

  void visit(Vertex root) {
    if (state_[root] != State::fresh) return;
    enter(root);
    while (!path_.empty()) {
      auto& [vertex, at] = path_.back();
      if (at == graph_.next[vertex].size()) {
        state_[vertex] = State::done;
        found_.push_back(vertex);
        path_.pop_back();
        continue;
      }
      const Vertex to = graph_.next[vertex][at++];
      if (state_[to] == State::open) note_cycle(to);
      if (state_[to] == State::fresh) enter(to);
    }
  }
  const Order& cycle() const { return cycle_; }
  Order order() const { return {found_.rbegin(), found_.rend()}; }

 private:
  enum class State : std::uint8_t { fresh, open, done };
  void enter(Vertex vertex) {
    state_[vertex] = State::open;
    path_.emplace_back(vertex, 0);
  }
  void note_cycle(Vertex back_to) {
    if (!cycle_.empty()) return;
    const auto begin =
        std::find_if(path_.begin(), path_.end(), [&](const auto& step) { return step.first == back_to; });
    for (auto step = begin; step != path_.end(); ++step) cycle_.push_back(step->first);
  }

  const Graph& graph_;
  std::vector<State> state_;
  std::vector<std::pair<Vertex, std::size_t>> path_;
  Order found_, cycle_;
};

DepthFirst walked(const Graph& graph, std::span<const std::string> visiting) {
  DepthFirst walk(graph);
  for (const std::string& selector : visiting)
    if (const auto at = graph.by_selector.find(selector); at != graph.by_selector.end())
      walk.visit(at->second);
  for (Vertex vertex = 0; vertex < graph.next.size(); ++vertex) walk.visit(vertex);
  return walk;
}

Order alternated(const Order& order) {
  Order result;
  for (std::size_t i = 0; i < order.size(); ++i)
    result.push_back(i % 2 == 0 ? order[i / 2] : order[order.size() - 1 - i / 2]);
  return result;
}

struct Algorithm {
  std::string_view name;
  bool is_tarjan;
  enum class Then : std::uint8_t { as_is, reverse, alternate } then;
};
constexpr Algorithm kAlgorithms[] = {{"KahnSort", false, Algorithm::Then::as_is},
                                     {"TarjanSort", true, Algorithm::Then::as_is},
                                     {"ReverseKahn", false, Algorithm::Then::reverse},
                                     {"ReverseTarjan", true, Algorithm::Then::reverse},
                                     {"AlternateKahn", false, Algorithm::Then::alternate},
                                     {"AlternateTarjan", true, Algorithm::Then::alternate}};

}  // namespace

TopologyOrder sort_topology(const AppGroup& group, std::span<const std::string> visiting) {
  const Graph graph = graph_of(group);
  TopologyOrder result;
  const auto* algorithm = std::ranges::find(kAlgorithms, group.sorting_algorithm, &Algorithm::name);
  result.is_known_algorithm = algorithm != std::end(kAlgorithms);
  if (!result.is_known_algorithm) algorithm = std::begin(kAlgorithms);
  result.algorithm = algorithm->name;

  const std::optional<Order> sorted = kahn(graph);
  if (!sorted) {
    const DepthFirst walk = walked(graph, {});
    for (const Vertex vertex : walk.cycle()) result.cycle.push_back(graph.workloads[vertex].selector);
    result.workloads = graph.workloads;
    return result;
  }
  Order order = algorithm->is_tarjan ? walked(graph, visiting).order() : *sorted;
  if (algorithm->then == Algorithm::Then::reverse) std::ranges::reverse(order);
  if (algorithm->then == Algorithm::Then::alternate) order = alternated(order);
  for (const Vertex vertex : order) result.workloads.push_back(graph.workloads[vertex]);
  return result;
}

}  // namespace evenkeel::controllers
