#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace evenkeel::autoscaling {

// A node, by what is in use of it: shares of what it has.
struct NodeLoad {
  double cpu = 0, memory = 0;
};

// A replica, by what would be free of its node without it.
struct LeavingPod {
  std::string name;
  std::size_t node = 0;
  NodeLoad load{};
};

// `count` of the pods, in the order in which they had better go: each time the one without which the nodes
// differ least, by the standard deviations of both resources. One that is alone on its node stays as long as
// another has company: replicas that stand apart fail apart. Of equals the first is taken.
std::vector<std::size_t> choose_leavers(std::span<NodeLoad> nodes, std::span<const LeavingPod> pods,
                                        std::size_t count);

// The mean of the two standard deviations over nodes.
double spread_of(std::span<const NodeLoad> nodes);

}  // namespace evenkeel::autoscaling
