#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "scheduling/placement_request.h"

namespace evenkeel::scheduling {

// Why one node and not another: each candidate's parts and their sum. More is better.
struct ScoreSheet {
  struct Row {
    NodeId node;
    std::vector<double> parts;
    double total = 0;
  };
  std::vector<std::string> terms;
  std::vector<Row> rows;  // best first; ties in the order of node slots

  void put_best_first();
};

// Answers "which node?". One object serves simulation, training and production.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  // A feasible node; or nothing, when the pod had better wait than go anywhere now.
  virtual std::optional<NodeId> choose(const PlacementRequest& request, Random& random) = 0;
  // The same deliberation, written down.
  virtual ScoreSheet explain(const PlacementRequest& request) = 0;
};

// Among the feasible nodes with the highest score one at random: always taking the first
// would pile every pod of an empty cluster onto one machine.
NodeId pick_highest(std::span<const float> scores, std::span<const std::uint8_t> feasible, Random& random);

}  // namespace evenkeel::scheduling
