// A group of pods to be placed together, as numbers: what the planner searches (group_plan.h) and what the
// optimum is proven of (optimum/). Knows neither Kubernetes nor the cluster.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace evenkeel::scheduling {

struct GroupProblem {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  struct Node {
    std::uint32_t zone = 0;
    std::vector<double> free;    // by resource: CPU, memory, pods, …; below 0: over-committed already
    double egress = kUnlimited;  // bit/s that may still leave it for other nodes
  };
  struct Pod {
    std::vector<double> request;        // by resource
    std::vector<std::uint8_t> allowed;  // by node: passed every other filter; empty: all
    std::vector<double> bias;        // by node: what else speaks against it, in units of cost; empty: nothing
    std::uint32_t fixed = kNowhere;  // placed already, on this node: its request is counted in `free`
  };
  // What `from` sends to `to`: costs weight times the cost from its zone to the other's.
  struct Edge {
    std::uint32_t from = 0, to = 0;  // pods
    double weight = 1;
    double bandwidth = 0;          // bit/s; reserved on every link between them and on from's node
    double max_cost = kUnlimited;  // neither may be further than that from the other
  };
  // At most one of these pods per node, or per zone. `taken`: nodes (zones) that hold one already.
  struct Apart {
    std::vector<std::uint32_t> pods;
    bool by_zone = false;
    std::vector<std::uint8_t> taken;  // by node or zone; empty: none
  };

  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<Edge> edges;
  std::vector<Apart> apart;

  std::uint32_t zones = 0;
  std::vector<double> cost;  // zones x zones, from row to column; the diagonal: between nodes of it
  double same_node = 0;
  std::vector<std::uint32_t> region;  // of each zone
  std::uint32_t regions = 0;
  // What links may still carry, bit/s. Between zones of one region, and between regions; empty: unlimited.
  std::vector<double> zone_room;    // zones x zones
  std::vector<double> region_room;  // regions x regions

  double distance(std::uint32_t from_node, std::uint32_t to_node) const {
    return from_node == to_node ? same_node : cost[nodes[from_node].zone * zones + nodes[to_node].zone];
  }
};

// Where each pod goes: a node for each of the problem's pods, kNowhere for those that found none.
struct GroupPlan {
  std::vector<std::uint32_t> node_of;
  double latency = 0;        // eq. 12: the sum over edges of weight times distance, of placed pods
  double bias = 0;           // the sum of their biases
  std::uint32_t placed = 0;  // fixed ones among them
  double objective() const { return latency + bias; }
};

}  // namespace evenkeel::scheduling
