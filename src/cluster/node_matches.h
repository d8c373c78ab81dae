#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "cluster/node.h"
#include "cluster/node_selector.h"

namespace evenkeel {

// Which nodes are meant: those with all of these labels, and that one of the terms matches, if there are any.
struct NodeQuery {
  Labels labels;
  std::vector<NodeSelectorTerm> terms;
  bool any_term = false;  // no term is asked for
  bool operator==(const NodeQuery&) const = default;
};
bool matches(const NodeQuery& query, const Node& node);

// A query is answered by walking over the nodes once; from then on its answer is kept up with every node that
// changes, so that asking again compares no strings but the query's own.
class NodeMatches {
 public:
  using NodeAt = std::function<const Node&(std::size_t slot)>;

  void node_set(std::size_t slot, const Node& node);
  // One flag per node slot, `nodes` of them at least; of slots without a node it means nothing. Valid until
  // the next call of anything.
  std::span<const std::uint8_t> of(const NodeQuery& query, std::size_t nodes, const NodeAt& node_at);

 private:
  struct Answer {
    NodeQuery query;
    std::vector<std::uint8_t> on_node;
  };
  std::vector<Answer> answers_;
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;
};

}  // namespace evenkeel
