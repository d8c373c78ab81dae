#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "reporting/series_history.h"
#include "reporting/table_view.h"

namespace evenkeel::reporting {

// What the dashboard page shows. Filled by whoever runs the cluster, serialised here, drawn in dashboard/.

inline constexpr std::array<const char*, 6> kDimensions = {"CPU",      "Memory", "Receive",
                                                           "Transmit", "Read",   "Write"};

// Up to this many nodes are sent whole; of more, the page gets a heat map of all and the details of the
// worst.
inline constexpr std::size_t kNodesInFull = 40;
inline constexpr std::size_t kWorstNodes = 12;
inline constexpr std::size_t kLastDecisions = 20;

struct NodeView {
  std::string name{};
  std::array<double, 6> utilization{};  // in the order of kDimensions; above 1 where demand exceeds capacity
  int pods = 0;
};

struct DecisionView {
  double at_s = 0.0;
  std::string pod{};
  std::string node{};  // empty where no node was found
  std::string policy{};
  std::vector<std::string> reasons{};  // strongest first
  std::string runner_up{};             // the node that came second; empty where there was none
};

// How a policy learns while it places; without figures it does not, or has not begun.
struct LearningView {
  struct Line {
    std::string name{};            // "reward", "loss", "epsilon"
    std::vector<double> values{};  // values[i] belongs to pods[i]
  };
  std::vector<double> pods{};  // placed by then
  std::vector<Line> figures{};
};

struct PanelView {
  std::string policy{};
  bool reference = false;  // sees the future: a yardstick, not a contender
  std::vector<NodeView> nodes{};
  int pending = 0, running = 0, finished = 0, unschedulable = 0, moves = 0;
  double imbalance = 0.0, utilization = 0.0;
  std::vector<SeriesPoint> history{};  // SeriesHistory::points() of this policy
  LearningView learning{};
  std::vector<DecisionView> last_decisions{};  // newest first; only the first kLastDecisions are sent
};

struct ScalingDecisionView {
  double at_s = 0.0;
  int from = 0, to = 0;
  std::string decided_by{};
  std::vector<std::string> reasons{};  // in the order in which they changed the number
};

// One policy's way with a service.
struct ScalingLaneView {
  std::string policy{};
  int replicas = 0, ready = 0, scalings = 0;
  double requests_per_s = 0.0, replicas_mean = 0.0;
  double violation = 0.0;                                        // share of the time so far
  std::vector<double> at_s{}, replicas_past{}, requests_past{};  // of one length
  std::vector<ScalingDecisionView> last_decisions{};             // newest first
};

// A service that is scaled by several policies side by side, each in its own world of the same requests.
struct ScalingView {
  std::string service{};
  double bound_ms = 0.0, percentile = 0.0;
  std::vector<ScalingLaneView> lanes{};  // none: nothing is scaled here
  TableView table{};                     // shown once it has rows
};

struct DashboardState {
  double now_s = 0.0;  // virtual time
  double end_s = 0.0;  // when the run will end; 0 where it is open-ended
  std::string scenario{};
  std::uint64_t seed = 0;
  bool finished = false;
  std::vector<PanelView> panels{};
  TableView table{};  // shown once it has rows
  ScalingView scaling{};
};

// Never fails: bytes that are not UTF-8 are replaced, numbers that are not finite become null.
std::string to_json(const DashboardState& state);

}  // namespace evenkeel::reporting
