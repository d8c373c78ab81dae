#include "apps/decision_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/edge_view.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;
using reporting::Align;
using reporting::TextTable;
using scheduling::Decision;
using scheduling::ScoreSheet;

// To people; machines get all.
constexpr std::size_t kRowsShown = 15, kNamesShown = 4;

// Plugins score in whole steps; what other policies weigh are real numbers.
Json number(double value, bool whole) { return whole ? Json(std::llround(value)) : Json(value); }

// A plugin's score before its weight, as kube-scheduler's logs and the plugins themselves speak of it.
double score_of(const ScoreSheet& sheet, const ScoreSheet::Row& row, std::size_t term) {
  return sheet.weights.empty() ? row.parts[term] : row.parts[term] / sheet.weights[term];
}

Json json_value(const PlacedPod& placed, const ClusterState& cluster) {
  const Decision& decision = placed.decision;
  const auto name = [&](NodeId node) { return cluster.node(node).name; };
  Json value{
      {"pod", placed.pod},          {"node", decision.node ? Json(name(*decision.node)) : Json(nullptr)},
      {"policy", placed.policy},    {"feasible", Json::array()},
      {"rejected", Json::object()}, {"scores", Json::object()}};
  for (const NodeId node : decision.feasible) value["feasible"].push_back(name(node));
  for (const Decision::Rejection& rejection : decision.rejected) {
    Json& reasons = value["rejected"][name(rejection.node)] = Json::array();
    for (const scheduling::Objection& objection : rejection.objections)
      reasons.push_back({{"plugin", objection.plugin}, {"reason", objection.reason}});
  }
  const ScoreSheet& sheet = decision.scores;
  const bool whole = !sheet.weights.empty();
  for (const ScoreSheet::Row& row : sheet.rows) {
    Json& scores = value["scores"][name(row.node)] = Json::object();
    for (std::size_t term = 0; term < sheet.terms.size(); ++term)
      scores[sheet.terms[term]] = number(score_of(sheet, row, term), whole);
    scores["total"] = number(row.total, whole);
  }
  if (whole) {
    Json& weights = value["weights"] = Json::object();
    for (std::size_t term = 0; term < sheet.terms.size(); ++term)
      weights[sheet.terms[term]] = number(sheet.weights[term], true);
  }
  const PodRecord* record = cluster.pod(placed.id);
  if (!decision.edges.empty() && record) value["edges"] = edges_json(decision, record->pod, cluster);
  if (!decision.network_missing.empty()) value["network_missing"] = decision.network_missing;
  value["preempts"] = Json::array();
  if (decision.preemption) {
    for (const PodId victim : decision.preemption->pods)
      value["preempts"].push_back(cluster.pod(victim)->pod.full_name());
    value["nominated"] = name(decision.preemption->node);
  }
  value["unschedulable"] = decision.unschedulable.empty() ? Json(nullptr) : Json(decision.unschedulable);
  if (!decision.scores.note.empty()) value["note"] = decision.scores.note;
  return value;
}

Json json_value(const std::vector<PlacedPod>& placed, const ClusterState& cluster) {
  Json decisions = Json::array();
  for (const PlacedPod& pod : placed) decisions.push_back(json_value(pod, cluster));
  return {{"decisions", std::move(decisions)}};
}

std::string cell_of(double value, bool whole) {
  if (whole) return std::to_string(std::llround(value));
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

TextTable score_table(const PlacedPod& placed, const ClusterState& cluster) {
  const ScoreSheet& sheet = placed.decision.scores;
  TextTable table;
  table.columns.push_back({"node", Align::left});
  for (std::size_t term = 0; term < sheet.terms.size(); ++term) {
    const std::string times =
        sheet.weights.empty() ? "" : " x" + std::to_string(std::llround(sheet.weights[term]));
    table.columns.push_back({sheet.terms[term] + times});
  }
  table.columns.push_back({"total"});
  std::size_t shown = 0;
  for (const ScoreSheet::Row& row : sheet.rows) {
    const bool chosen = placed.decision.node == row.node;
    if (++shown > kRowsShown && !chosen) continue;
    std::vector<reporting::TextCell>& cells = table.rows.emplace_back();
    cells.push_back(
        {cluster.node(row.node).name, chosen ? reporting::Emphasis::strong : reporting::Emphasis::none});
    for (std::size_t term = 0; term < sheet.terms.size(); ++term)
      cells.push_back({cell_of(score_of(sheet, row, term), !sheet.weights.empty())});
    cells.push_back({cell_of(row.total, !sheet.weights.empty())});
  }
  return table;
}

// Nodes that are turned away for the same reason are one row: a cluster has thousands, people read a few.
TextTable rejection_table(const PlacedPod& placed, const ClusterState& cluster) {
  std::map<std::pair<std::string_view, std::string>, std::vector<NodeId>> nodes_by_reason;
  for (const Decision::Rejection& rejection : placed.decision.rejected)
    for (const scheduling::Objection& objection : rejection.objections)
      nodes_by_reason[{objection.plugin, objection.reason}].push_back(rejection.node);
  TextTable table;
  table.columns = {{"nodes"}, {"plugin", Align::left}, {"reason", Align::left}, {"which", Align::left}};
  std::vector<decltype(nodes_by_reason)::const_pointer> groups;
  for (const auto& group : nodes_by_reason) groups.push_back(&group);
  std::sort(groups.begin(), groups.end(), [](const auto* a, const auto* b) {
    return a->second.size() != b->second.size() ? a->second.size() > b->second.size() : a->first < b->first;
  });
  for (const auto* group : groups) {
    const auto& [why, nodes] = *group;
    std::string names;
    for (std::size_t i = 0; i < std::min(nodes.size(), kNamesShown); ++i)
      names += (i == 0 ? "" : ", ") + cluster.node(nodes[i]).name;
    if (nodes.size() > kNamesShown) names += ", … " + std::to_string(nodes.size() - kNamesShown) + " more";
    table.rows.push_back(
        {{std::to_string(nodes.size())}, {std::string(why.first)}, {why.second}, {std::move(names)}});
  }
  return table;
}

}  // namespace

std::string json_of(const std::vector<PlacedPod>& placed, const ClusterState& cluster) {
  // A name may hold anything; what is no UTF-8 is replaced rather than thrown about.
  return json_value(placed, cluster).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string error_json(const std::string& message) {
  return Json{{"error", message}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string yaml_of(const std::vector<PlacedPod>& placed, const ClusterState& cluster) {
  std::string out = "decisions:\n";
  for (const PlacedPod& pod : placed) {
    std::string_view lead = "- ";
    const Json entry = json_value(pod, cluster);
    for (const auto& [key, value] : entry.items()) {
      out +=
          std::string(lead) + key + ": " + value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
      lead = "  ";
    }
  }
  return out;
}

TextTable table_of(const std::vector<PlacedPod>& placed, const ClusterState& cluster) {
  TextTable table;
  table.columns = {
      {"pod", Align::left}, {"node", Align::left}, {"score"}, {"candidates"}, {"why", Align::left}};
  for (const PlacedPod& pod : placed) {
    const Decision& decision = pod.decision;
    const std::string of = std::to_string(decision.feasible.size()) + " of " +
                           std::to_string(decision.feasible.size() + decision.rejected.size());
    if (!decision.node) {
      table.rows.push_back({{pod.pod}, {"-"}, {"-"}, {of}, {decision.unschedulable}});
      continue;
    }
    const ScoreSheet& sheet = decision.scores;
    const auto row = std::find_if(sheet.rows.begin(), sheet.rows.end(),
                                  [&](const ScoreSheet::Row& r) { return r.node == decision.node; });
    std::string why, score = "-";
    if (row != sheet.rows.end()) {
      score = cell_of(row->total, !sheet.weights.empty());
      for (std::size_t term = 0; term < sheet.terms.size(); ++term)
        why += (why.empty() ? "" : ", ") + sheet.terms[term] + " " +
               cell_of(score_of(sheet, *row, term), !sheet.weights.empty());
    }
    table.rows.push_back({{pod.pod}, {cluster.node(*decision.node).name}, {score}, {of}, {why}});
  }
  return table;
}

std::string account_of(const PlacedPod& placed, const ClusterState& cluster, reporting::TextStyle style) {
  const Decision& decision = placed.decision;
  std::string out = placed.pod + ": ";
  out += decision.node ? "goes to " + cluster.node(*decision.node).name + " (" + placed.policy + ")"
                       : "stays pending: " + decision.unschedulable;
  out += "\n";
  if (!decision.scores.note.empty()) out += decision.scores.note + "\n";
  if (decision.preemption) {
    out += "it would fit on " + cluster.node(decision.preemption->node).name + " without";
    for (const PodId victim : decision.preemption->pods) out += " " + cluster.pod(victim)->pod.full_name();
    out += "\n";
  }
  const std::size_t candidates = decision.scores.rows.size();
  if (candidates > 0) out += "\n" + render_text_table(score_table(placed, cluster), style);
  if (candidates > kRowsShown)
    out += "… " + std::to_string(candidates - kRowsShown) + " more candidates; --json shows all\n";
  out += edges_text(decision, cluster, style);
  if (!decision.rejected.empty()) out += "\n" + render_text_table(rejection_table(placed, cluster), style);
  return out;
}

}  // namespace evenkeel::apps
