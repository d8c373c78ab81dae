#include <algorithm>
#include <array>
#include <map>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

// To add a filter: write its file, add its line.
std::span<const Filter> all_filters() {
  static const std::array kFilters = {
      kNodeUnschedulable,
      kNodeName,
      kTaintToleration,
      kNodeAffinity,
      kNodePorts,
      kResourceFit,
      kUseFit,
      kVolumeRestrictions,
      kNodeVolumeLimits,
      kVolumeBinding,
      kVolumeZone,
      kPodTopologySpread,
      kInterPodAffinity,
      kNodeDeclaredFeatures,
      kNetworkOverhead,
      kNodeNetworkCostFit,
      kNetworkFit,
  };
  return kFilters;
}

namespace {

constexpr std::string_view kNotNamed = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

using Names = std::optional<std::vector<std::string>>;
bool is_among(const Names& names, const Filter& filter) {
  if (!names) return filter.by_default;
  return filter.plugin == kUseFit.plugin ||
         std::find(names->begin(), names->end(), filter.plugin) != names->end();
}

// What a filter objects to on the node, if anything.
NodeVerdict ask(const Filter& filter, const FilterInput& input, NodeId node) {
  if (!counts(filter, input)) return {};
  Verdict verdict = filter.judge(input, node);
  NodeVerdict found{{}, verdict.unresolvable, verdict.failed};
  for (std::string& reason : verdict.reasons) found.objections.push_back({filter.plugin, std::move(reason)});
  return found;
}

bool names_nodes(const FilterInput& input) {
  return !input.pod.shape->plain && is_among(input.options.profile.pre_filters, kNodeAffinity) &&
         input.pod.spec().node_affinity.required.has_value();
}

// What is said of every node but the named ones, before any filter is asked.
bool is_left_out(const FilterInput& input, NodeId node) {
  if (!names_nodes(input)) return false;
  const auto names = named_nodes(input.pod.spec());
  return names && std::find(names->begin(), names->end(), input.cluster.node(node).name) == names->end();
}

}  // namespace

bool counts(const Filter& filter, const FilterInput& input) {
  return filter.matters(input) && is_among(input.options.profile.filters, filter);
}

void enable_filter(std::string_view plugin, Profile& profile) {
  if (!profile.filters) {
    profile.filters.emplace();
    for (const Filter& filter : all_filters())
      if (filter.by_default) profile.filters->emplace_back(filter.plugin);
  }
  if (std::find(profile.filters->begin(), profile.filters->end(), plugin) == profile.filters->end())
    profile.filters->emplace_back(plugin);
}

std::optional<Refusal> refusal(const FilterInput& input) {
  if (input.pod.shape->plain) return std::nullopt;
  std::optional<Refusal> first;
  for (const Filter& filter : all_filters()) {
    if (!filter.refuse || !filter.matters(input) || !is_among(input.options.profile.pre_filters, filter))
      continue;
    std::optional<Refusal> found = filter.refuse(input);
    if (found && found->unresolvable) return found;
    if (found) first = std::move(found);  // the last that others may change is what is reported
  }
  return first;
}

void apply_filters(const FilterInput& input, std::span<std::uint8_t> feasible) {
  if (refusal(input)) {
    std::fill(feasible.begin(), feasible.end(), std::uint8_t{0});
    return;
  }
  for (const Filter& filter : all_filters())
    if (counts(filter, input)) filter.apply(input, feasible);
  // Nodes are named before any filter is asked, and so by a profile that leaves this one out, too.
  if (is_among(input.options.profile.filters, kNodeAffinity) || !names_nodes(input)) return;
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && is_left_out(input, {slot})) feasible[slot] = 0;
}

NodeVerdict judge(const FilterInput& input, NodeId node) {
  if (is_left_out(input, node)) return {{{kNodeAffinity.plugin, std::string(kNotNamed)}}, true};
  // A profile may have an order of its own; what is not kube-scheduler's to name comes last.
  if (const auto& named = input.options.profile.filters)
    for (const std::string& name : *named)
      for (const Filter& filter : all_filters())
        if (filter.plugin == name)
          if (NodeVerdict found = ask(filter, input, node); !found.objections.empty()) return found;
  for (const Filter& filter : all_filters())
    if (NodeVerdict found = ask(filter, input, node); !found.objections.empty()) return found;
  return {};
}

std::vector<Objection> objections(const FilterInput& input, NodeId node) {
  if (std::optional<Refusal> refused = refusal(input)) return {{refused->plugin, std::move(refused->reason)}};
  return judge(input, node).objections;
}

std::string unschedulable_message(const FilterInput& input) {
  return unschedulable_message(input, [&](NodeId node) { return judge(input, node); });
}

std::string unschedulable_message(const FilterInput& input,
                                  const std::function<NodeVerdict(NodeId)>& verdict_on) {
  if (input.cluster.node_count() == 0) return "no nodes available to schedule pods";
  std::string message = "0/" + std::to_string(input.cluster.node_count()) + " nodes are available:";
  if (const std::optional<Refusal> refused = refusal(input)) return message + " " + refused->reason + ".";
  std::map<std::string, int> reasons;
  const std::size_t slots = input.cluster.columns().size();
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (!input.cluster.has_node({slot})) continue;
    for (Objection& objection : verdict_on({slot}).objections) ++reasons[std::move(objection.reason)];
  }
  // kube-scheduler sorts the finished phrases, count and all.
  std::vector<std::string> phrases;
  for (const auto& [reason, nodes] : reasons) phrases.push_back(std::to_string(nodes) + " " + reason);
  std::sort(phrases.begin(), phrases.end());
  for (std::size_t i = 0; i < phrases.size(); ++i) message += (i == 0 ? " " : ", ") + phrases[i];
  return phrases.empty() ? message : message + ".";
}

std::string_view unsupported_feature(const PodSpec& spec) {
  if (!spec.resource_claims.empty()) return "dynamic resource claims";
  return {};
}

}  // namespace evenkeel::scheduling
