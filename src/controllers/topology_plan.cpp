#include "controllers/topology_plan.h"

#include <set>
#include <utility>

#include "controllers/link_costs.h"
#include "controllers/listing.h"
#include "controllers/measurements.h"

namespace evenkeel::controllers {
namespace {

NetworkTopology::Weights weights_of(const LinkCosts& costs,
                                    const std::map<LinkId, BitsPerSecond>& capacities) {
  NetworkTopology::Weights weights;
  weights.name = kMeasuredWeights;
  weights.levels = {{std::string(kRegionLabel), {}}, {std::string(kZoneLabel), {}}};
  for (const auto& [link, cost] : costs.costs) {
    auto& origins = weights.levels[link.level == LinkId::Level::zone ? 1 : 0].origins;
    if (origins.empty() || origins.back().origin != link.origin) origins.push_back({link.origin, {}});
    NetworkTopology::Cost entry;
    entry.destination = link.destination;
    entry.cost = cost;
    if (const auto at = capacities.find(link); at != capacities.end()) entry.capacity = at->second;
    origins.back().costs.push_back(std::move(entry));
  }
  return weights;
}

std::string links_text(const std::vector<LinkId>& links) {
  std::vector<std::string> names;
  names.reserve(links.size());
  for (const LinkId& link : links) names.push_back(to_text(link));
  return listed(names);
}

NetworkCondition measured_condition(const TopologyQuestion& question, const Measurements& found,
                                    const LinkCosts& costs) {
  const std::string type = "CostsMeasured", which = "p" + std::to_string(question.percentile);
  if (costs.is_too_big)
    return {
        type, false, "TooBig",
        "more than " + std::to_string(kMostLinks) + " pairs of zones or regions: no object holds so many"};
  std::string message;
  if (found.unknown_nodes > 0)
    message +=
        "; " + std::to_string(found.unknown_nodes) + " measurements are about nodes that are not there";
  if (!found.unreadable.empty()) message += "; no latency in " + listed(found.unreadable);
  if (!costs.shared_zones.empty())
    message +=
        "; several regions have a zone called " + listed(costs.shared_zones) + ", which share their costs";
  if (found.all.empty())
    return {type, false, "NoMeasurements",
            "ConfigMap " + question.topology.config_map + " has no " + which + " latencies between nodes" +
                (found.has_other_percentiles ? ", but other percentiles" : "") + message};
  const std::size_t known = costs.costs.size(), all = known + costs.unknown.size();
  std::string text = which + " of " + std::to_string(found.all.size()) + " pairs of nodes; " +
                     std::to_string(known) + " of " + std::to_string(all) + " links known, " +
                     std::to_string(costs.by_way_of_others) + " of them by way of others";
  if (!costs.unknown.empty()) text += "; unknown: " + links_text(costs.unknown);
  return {type, true, costs.unknown.empty() ? "Measured" : "Incomplete", text + message};
}

NetworkCondition constrained_condition(const std::vector<ConstrainedLink>& links) {
  if (links.empty()) return {"BandwidthConstrained", false, "WithinCapacity", ""};
  std::vector<std::string> names;
  names.reserve(links.size());
  for (const ConstrainedLink& one : links)
    names.push_back(to_text(one.link) + " (" + std::to_string(one.allocated.count) + " of " +
                    std::to_string(one.capacity.count) + " bit/s)");
  return {"BandwidthConstrained", true, "OverCapacity", "more is promised than there is: " + listed(names)};
}

NetworkCondition valid_condition(const TopologyQuestion& question) {
  std::set<std::string> twice, names, several;
  for (const NetworkTopology::Weights& weights : question.topology.weights) {
    if (!names.insert(weights.name).second) several.insert(weights.name);
    std::map<std::string, std::int64_t> costs;
    for (const NetworkTopology::Level& level : weights.levels)
      for (const NetworkTopology::Origin& origin : level.origins)
        for (const NetworkTopology::Cost& cost : origin.costs) {
          const std::string link = level.topology_key + " " + origin.origin + " -> " + cost.destination;
          const auto [at, is_new] = costs.try_emplace(link, cost.cost);
          if (!is_new && at->second != cost.cost) twice.insert(weights.name + ": " + link);
        }
  }
  std::vector<std::string> unplaced;
  for (const auto& [node, place] : question.nodes)
    if (place.region.empty() && place.zone.empty()) unplaced.push_back(node);
  std::string message, reason;
  const auto tell = [&](const char* why, std::string text) {
    if (reason.empty()) reason = why;
    message += (message.empty() ? "" : "; ") + std::move(text);
  };
  if (!several.empty())
    tell("Contradictory", "several weights are called " + listed({several.begin(), several.end()}));
  if (!twice.empty()) tell("Contradictory", "two costs for " + listed({twice.begin(), twice.end()}));
  if (!unplaced.empty())
    tell("LabelsMissing", "neither " + std::string(kRegionLabel) + " nor " + std::string(kZoneLabel) +
                              " is on " + listed(unplaced));
  return {"Valid", message.empty(), message.empty() ? "Valid" : reason, message};
}

}  // namespace

TopologyPlan plan_topology(const TopologyQuestion& question) {
  TopologyPlan plan;
  const auto capacities = link_capacities(question.topology);
  plan.constrained = constrained_links(question.loads, capacities);
  NetworkCondition measured{"CostsMeasured", false, "NoConfigMap", question.why_no_measurements};
  if (question.measurements) {
    const Measurements found = read_measurements(*question.measurements, question.nodes, question.percentile);
    const LinkCosts costs = link_costs(found.all, question.nodes);
    measured = measured_condition(question, found, costs);
    if (measured.is_true) plan.measured = weights_of(costs, capacities);
  }
  plan.conditions = {std::move(measured), constrained_condition(plan.constrained), valid_condition(question)};
  return plan;
}

}  // namespace evenkeel::controllers
