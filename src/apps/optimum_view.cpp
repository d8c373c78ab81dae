#include "apps/optimum_view.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "reporting/number_format.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;
using reporting::format_number;
using scheduling::GroupProblem;

std::string node_name(const OptimumReport& report, std::uint32_t number) {
  return report.cluster.state().node(report.joined.nodes[number]).name;
}

bool waits(const OptimumReport& report, std::size_t pod) {
  return report.joined.problem.pods[pod].fixed == GroupProblem::kNowhere;
}

Json placement_of(const OptimumReport& report, const std::vector<std::uint32_t>& node_of) {
  Json placement = Json::array();
  for (std::size_t pod = 0; pod < node_of.size(); ++pod) {
    if (!waits(report, pod)) continue;
    Json entry = {{"pod", report.cluster.pod(report.joined.pods[pod]).full_name()},
                  {"group", report.groups[report.joined.application[pod]]},
                  {"node", nullptr}};
    if (node_of[pod] != GroupProblem::kNowhere) entry["node"] = node_name(report, node_of[pod]);
    placement.push_back(std::move(entry));
  }
  return placement;
}

double above(const OptimumReport& report) {
  const double best = report.best.plan.latency, theirs = report.policy.plan.latency;
  return best > 0 ? theirs / best - 1 : theirs > 0 ? std::numeric_limits<double>::infinity() : 0;
}

bool is_comparable(const OptimumReport& report) {
  return !report.policy.elsewhere && report.policy.broken.empty() &&
         accepted_by(report.joined, report.policy.plan.node_of) == report.best.accepted;
}

std::string percent(double share) {
  return std::isfinite(share) ? format_number(std::round(share * 1000) / 10) + " %" : "unknown";
}

}  // namespace

std::uint32_t accepted_by(const optimum::JoinedGroups& joined, const std::vector<std::uint32_t>& node_of) {
  std::set<std::uint32_t> waiting, missing;
  for (std::size_t pod = 0; pod < node_of.size(); ++pod) {
    if (joined.problem.pods[pod].fixed != GroupProblem::kNowhere) continue;
    waiting.insert(joined.application[pod]);
    if (node_of[pod] == GroupProblem::kNowhere) missing.insert(joined.application[pod]);
  }
  return static_cast<std::uint32_t>(waiting.size() - missing.size());
}

std::string json_of(const OptimumReport& report) {
  const optimum::PlacementOptimum& best = report.best;
  Json json = {{"applications", best.applications},
               {"accepted", best.accepted},
               {"latency", best.plan.latency},
               {"bound", std::isfinite(best.bound) ? Json(best.bound) : Json()},
               {"gap", std::isfinite(best.gap()) ? Json(best.gap()) : Json()},
               {"proven", best.proven},
               {"seconds", best.seconds},
               {"placement", placement_of(report, best.plan.node_of)}};
  const double share = above(report);
  json["policy"] = {{"name", report.policy.name},
                    {"accepted", accepted_by(report.joined, report.policy.plan.node_of)},
                    {"latency", report.policy.elsewhere ? Json() : Json(report.policy.plan.latency)},
                    {"above_optimum", is_comparable(report) && std::isfinite(share) ? Json(share) : Json()},
                    {"breaks", report.policy.broken.empty() ? Json() : Json(report.policy.broken)},
                    {"placement", placement_of(report, report.policy.plan.node_of)}};
  return json.dump(2);
}

std::string text_of(const OptimumReport& report, reporting::TextStyle style) {
  const optimum::PlacementOptimum& best = report.best;
  const auto name = [&](std::uint32_t node) {
    return node == GroupProblem::kNowhere ? std::string("-") : node_name(report, node);
  };
  reporting::TextTable table{{{"pod", reporting::Align::left},
                              {"group", reporting::Align::left},
                              {"optimum", reporting::Align::left},
                              {report.policy.name, reporting::Align::left}},
                             {},
                             {}};
  for (std::size_t pod = 0; pod < best.plan.node_of.size(); ++pod)
    if (waits(report, pod))
      table.rows.push_back({{report.cluster.pod(report.joined.pods[pod]).full_name()},
                            {report.groups[report.joined.application[pod]]},
                            {name(best.plan.node_of[pod])},
                            {name(report.policy.plan.node_of[pod])}});
  const auto note = [&](std::string text) { table.notes.push_back(std::move(text)); };
  note("groups placed: " + std::to_string(best.accepted) + " of " + std::to_string(best.applications) + ", " +
       report.policy.name + " " + std::to_string(accepted_by(report.joined, report.policy.plan.node_of)));
  note("latency: " + format_number(best.plan.latency) +
       (best.proven ? ", proven to be the least"
                    : ", not proven: nothing is below " + format_number(best.bound) + " (gap " +
                          percent(best.gap()) + ")") +
       ", in " + format_number(std::round(best.seconds * 100) / 100) + " s");
  if (best.most_accepted > best.accepted)
    note("whether " + std::to_string(best.most_accepted) +
         " groups could be placed is not known in the time");
  if (report.policy.elsewhere)
    note(report.policy.name + " takes nodes that are never of use here: not compared");
  else
    note(report.policy.name + ": " + format_number(report.policy.plan.latency) +
         (is_comparable(report) ? ", " + percent(above(report)) + " above it" : "") +
         (report.policy.broken.empty() ? "" : ", and breaks a rule: " + report.policy.broken));
  if (report.without_group > 0)
    note(std::to_string(report.without_group) + " pods that wait are of no group, and left out");
  return render_text_table(table, style);
}

}  // namespace evenkeel::apps
