#pragma once
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "cluster/ids.h"

namespace evenkeel::scheduling {

// A pod that waits for a node it was promised.
struct Nomination {
  PodId pod;
  NodeId node;
};

// Which waiting pods were promised which node, found by either. A pod has one promise at most.
class Nominations {
 public:
  void set(PodId pod, NodeId node);
  std::optional<NodeId> drop(PodId pod);  // the node it was promised
  std::optional<NodeId> of(PodId pod) const;
  std::span<const Nomination> on(NodeId node) const;
  const std::map<NodeId, std::vector<Nomination>>& by_node() const { return by_node_; }
  bool empty() const { return by_pod_.empty(); }

 private:
  std::unordered_map<PodId, NodeId> by_pod_;
  std::map<NodeId, std::vector<Nomination>> by_node_;  // in the order they were made
};

}  // namespace evenkeel::scheduling
