#include "reporting/dashboard_state.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "reporting/web_assets.h"

namespace evenkeel::reporting {
namespace {

using Json = nlohmann::json;

// Four decimals are below what a pixel shows, and halve the size of what is pushed to every page.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

// Of the finite ones: a metric that is missing must not decide the order.
double dominant(const NodeView& node) {
  double busiest = 0.0;
  for (const double value : node.utilization) {
    if (std::isfinite(value)) busiest = std::max(busiest, value);
  }
  return busiest;
}

Json node_json(const NodeView& node) {
  Json utilization = Json::array();
  for (const double value : node.utilization) utilization.push_back(rounded(value));
  return {{"name", node.name}, {"utilization", std::move(utilization)}, {"pods", node.pods}};
}

std::vector<const NodeView*> nodes_to_detail(const std::vector<NodeView>& nodes) {
  std::vector<const NodeView*> detailed;
  detailed.reserve(nodes.size());
  for (const NodeView& node : nodes) detailed.push_back(&node);
  if (nodes.size() <= kNodesInFull) return detailed;
  // Equally loaded nodes keep their order (they lie in one array), so rows do not jump between states.
  std::sort(detailed.begin(), detailed.end(), [](const NodeView* a, const NodeView* b) {
    const double busy_a = dominant(*a), busy_b = dominant(*b);
    return busy_a != busy_b ? busy_a > busy_b : a < b;
  });
  detailed.resize(kWorstNodes);
  return detailed;
}

Json nodes_json(const std::vector<NodeView>& nodes) {
  Json list = Json::array();
  for (const NodeView* node : nodes_to_detail(nodes)) list.push_back(node_json(*node));
  return list;
}

// The busiest dimension of every node in whole percent: a few bytes a node, so thousands of nodes fit in one
// message.
Json heat_json(const std::vector<NodeView>& nodes) {
  Json heat = Json::array();
  if (nodes.size() <= kNodesInFull) return heat;
  for (const NodeView& node : nodes) {
    heat.push_back(static_cast<int>(std::lround(std::min(dominant(node), 9.99) * 100)));
  }
  return heat;
}

Json mean_by_dimension_json(const std::vector<NodeView>& nodes) {
  Json means = Json::array();
  for (std::size_t d = 0; d < kDimensions.size(); ++d) {
    const double total =
        std::accumulate(nodes.begin(), nodes.end(), 0.0,
                        [d](double sum, const NodeView& node) { return sum + node.utilization[d]; });
    means.push_back(nodes.empty() ? 0.0 : rounded(total / static_cast<double>(nodes.size())));
  }
  return means;
}

Json decision_json(const DecisionView& decision) {
  return {{"at_s", rounded(decision.at_s)}, {"pod", decision.pod},         {"node", decision.node},
          {"policy", decision.policy},      {"reasons", decision.reasons}, {"runner_up", decision.runner_up}};
}

Json decisions_json(const std::vector<DecisionView>& decisions) {
  Json list = Json::array();
  const std::size_t count = std::min(decisions.size(), kLastDecisions);
  for (std::size_t i = 0; i < count; ++i) list.push_back(decision_json(decisions[i]));
  return list;
}

// By column, as the chart wants it.
Json history_json(const std::vector<SeriesPoint>& history) {
  Json at = Json::array(), imbalance = Json::array(), utilization = Json::array();
  for (const SeriesPoint& point : history) {
    at.push_back(rounded(point.at_s));
    imbalance.push_back(rounded(point.imbalance));
    utilization.push_back(rounded(point.utilization));
  }
  return {
      {"at_s", std::move(at)}, {"imbalance", std::move(imbalance)}, {"utilization", std::move(utilization)}};
}

Json learning_json(const LearningView& learning) {
  Json figures = Json::array();
  for (const LearningView::Line& line : learning.figures) {
    Json values = Json::array();
    for (const double value : line.values) values.push_back(rounded(value));
    figures.push_back({{"name", line.name}, {"values", std::move(values)}});
  }
  return {{"pods", learning.pods}, {"figures", std::move(figures)}};
}

Json panel_json(const PanelView& panel, int colour) {
  return {{"policy", panel.policy},
          {"colour", colour},
          {"reference", panel.reference},
          {"node_count", panel.nodes.size()},
          {"nodes", nodes_json(panel.nodes)},
          {"heat", heat_json(panel.nodes)},
          {"mean_utilization", mean_by_dimension_json(panel.nodes)},
          {"pending", panel.pending},
          {"running", panel.running},
          {"finished", panel.finished},
          {"unschedulable", panel.unschedulable},
          {"moves", panel.moves},
          {"imbalance", rounded(panel.imbalance)},
          {"utilization", rounded(panel.utilization)},
          {"history", history_json(panel.history)},
          {"learning", learning_json(panel.learning)},
          {"last_decisions", decisions_json(panel.last_decisions)}};
}

const char* name_of(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::rule:
      return "rule";
    case PolicyKind::learned:
      return "learned";
    case PolicyKind::reference:
      return "reference";
  }
  return "rule";
}

const char* name_of(Better better) {
  switch (better) {
    case Better::lower:
      return "lower";
    case Better::higher:
      return "higher";
    case Better::neither:
      return "neither";
  }
  return "neither";
}

Json cell_json(const std::optional<TableCell>& cell, CellMarks marks) {
  if (!cell) return nullptr;
  return {{"mean", cell->mean},
          {"sd", cell->sd ? Json(*cell->sd) : Json(nullptr)},
          {"text", format_cell(cell)},
          {"best", marks.best},
          {"best_rule", marks.best_rule}};
}

Json table_json(const TableView& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const TableColumn& column : table.columns) {
    columns.push_back(
        {{"metric", column.metric}, {"label", column.label}, {"better", name_of(column.better)}});
  }
  const auto marks = mark_best(table);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const TableRow& row = table.rows[r];
    Json cells = Json::array();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      cells.push_back(c < row.cells.size() ? cell_json(row.cells[c], marks[r][c]) : Json(nullptr));
    }
    rows.push_back({{"policy", row.policy}, {"kind", name_of(row.kind)}, {"cells", std::move(cells)}});
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

Json numbers_json(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

// In the shape of a panel as far as charts look at it.
Json lane_json(const ScalingLaneView& lane, int colour) {
  Json decisions = Json::array();
  for (const ScalingDecisionView& decision : lane.last_decisions)
    decisions.push_back({{"at_s", rounded(decision.at_s)},
                         {"from", decision.from},
                         {"to", decision.to},
                         {"decided_by", decision.decided_by},
                         {"reasons", decision.reasons}});
  return {{"policy", lane.policy},
          {"colour", colour},
          {"reference", false},
          {"replicas", lane.replicas},
          {"ready", lane.ready},
          {"scalings", lane.scalings},
          {"requests_per_s", rounded(lane.requests_per_s)},
          {"replicas_mean", rounded(lane.replicas_mean)},
          {"violation", rounded(lane.violation)},
          {"history",
           {{"at_s", numbers_json(lane.at_s)},
            {"replicas", numbers_json(lane.replicas_past)},
            {"requests_per_s", numbers_json(lane.requests_past)}}},
          {"last_decisions", std::move(decisions)}};
}

Json scaling_json(const ScalingView& scaling) {
  std::vector<std::string> policies;
  for (const ScalingLaneView& lane : scaling.lanes) policies.push_back(lane.policy);
  const std::vector<int> colours = colour_slots(policies);
  Json lanes = Json::array();
  for (std::size_t i = 0; i < scaling.lanes.size(); ++i)
    lanes.push_back(lane_json(scaling.lanes[i], colours[i]));
  return {{"service", scaling.service},
          {"bound_ms", rounded(scaling.bound_ms)},
          {"percentile", rounded(scaling.percentile)},
          {"lanes", std::move(lanes)},
          {"table", table_json(scaling.table)}};
}

}  // namespace

std::string to_json(const DashboardState& state) {
  std::vector<std::string> policies;
  for (const PanelView& panel : state.panels) policies.push_back(panel.policy);
  const std::vector<int> colours = colour_slots(policies);

  Json panels = Json::array();
  for (std::size_t i = 0; i < state.panels.size(); ++i)
    panels.push_back(panel_json(state.panels[i], colours[i]));
  const Json json = {{"now_s", rounded(state.now_s)},
                     {"end_s", rounded(state.end_s)},
                     {"scenario", state.scenario},
                     {"seed", std::to_string(state.seed)},  // JavaScript keeps 53 bits

                     {"finished", state.finished},
                     {"dimensions", kDimensions},
                     {"panels", std::move(panels)},
                     {"table", table_json(state.table)},
                     {"scaling", scaling_json(state.scaling)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace evenkeel::reporting
