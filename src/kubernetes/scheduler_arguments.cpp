// pluginConfig: the arguments of the plugins that have any.
#include <algorithm>
#include <limits>
#include <set>

#include "base/unit_text.h"
#include "kubernetes/read_common.h"
#include "kubernetes/read_pod_parts.h"
#include "kubernetes/scheduler_profile.h"

namespace evenkeel::kubernetes {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Letters, digits and what else is allowed between them.
bool is_word(std::string_view text, std::size_t longest, std::string_view between) {
  if (text.empty() || text.size() > longest || !is_alphanumeric(text.front()) ||
      !is_alphanumeric(text.back()))
    return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alphanumeric(c) || between.find(c) != std::string_view::npos; });
}

// name or prefix/name, as the API server takes keys of labels.
bool is_label_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    std::string_view prefix = text.substr(0, slash);
    if (prefix.size() > 253 ||
        std::any_of(prefix.begin(), prefix.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      return false;
    for (std::size_t dot = 0; dot != std::string_view::npos; prefix.remove_prefix(dot + 1)) {
      dot = prefix.find('.');
      if (!is_word(prefix.substr(0, dot), 253, "-")) return false;
      if (dot == std::string_view::npos) break;
    }
    text.remove_prefix(slash + 1);
  }
  return is_word(text, 63, "-_.");
}

std::vector<ResourceWeight> read_weights(const JsonField& list, const std::vector<ResourceWeight>& fallback) {
  std::vector<ResourceWeight> weights;
  for (const JsonField& item : list.items()) {
    refuse_unknown_fields(item, {"name", "weight"});
    // 0 is what the API fills in with 1.
    const std::int64_t weight = item.at("weight").integer(0, 100);
    weights.push_back({item.required_text_at("name"), weight == 0 ? 1 : weight});
  }
  return weights.empty() ? fallback : weights;
}

std::vector<ShapePoint> read_shape(const JsonField& list) {
  std::vector<ShapePoint> shape;
  for (const JsonField& item : list.items()) {
    refuse_unknown_fields(item, {"utilization", "score"});
    shape.push_back({static_cast<std::int32_t>(item.at("utilization").integer(0, 100)),
                     static_cast<std::int32_t>(item.at("score").integer(0, 10))});
    if (shape.size() > 1 && shape.back().utilization <= shape[shape.size() - 2].utilization)
      item.fail_at("utilization", "expected more than the point before");
  }
  return shape;
}

void read_fit(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(
      args, {"apiVersion", "kind", "ignoredResources", "ignoredResourceGroups", "scoringStrategy"});
  into.fit.ignored_resources = args.texts_at("ignoredResources");
  into.fit.ignored_groups = args.texts_at("ignoredResourceGroups");
  for (const std::string& name : into.fit.ignored_resources)
    if (!is_label_name(name))
      args.fail_at("ignoredResources", "expected names of resources, found '" + name + "'");
  for (const std::string& name : into.fit.ignored_groups)
    if (!is_label_name(name) || name.find('/') != std::string::npos)
      args.fail_at("ignoredResourceGroups", "expected names of groups, found '" + name + "'");
  const JsonField strategy = args.at("scoringStrategy");
  if (!strategy) return;
  refuse_unknown_fields(strategy, {"type", "resources", "requestedToCapacityRatio"});
  into.fit.strategy = strategy.choice_at<ScoringStrategy>(
      "type",
      {{"LeastAllocated", ScoringStrategy::least_allocated},
       {"MostAllocated", ScoringStrategy::most_allocated},
       {"RequestedToCapacityRatio", ScoringStrategy::requested_to_capacity_ratio}},
      ScoringStrategy::least_allocated);
  if (strategy.text_at("type").empty())
    strategy.fail_at("type",
                     "expected LeastAllocated, MostAllocated or RequestedToCapacityRatio, found nothing");
  into.fit.resources = read_weights(strategy.at("resources"), into.fit.resources);
  const JsonField ratio = strategy.at("requestedToCapacityRatio");
  refuse_unknown_fields(ratio, {"shape"});
  into.fit.shape = read_shape(ratio.at("shape"));
  const bool by_ratio = into.fit.strategy == ScoringStrategy::requested_to_capacity_ratio;
  if (by_ratio && into.fit.shape.empty())
    strategy.fail_at("requestedToCapacityRatio", "expected a shape with at least one point");
  if (!by_ratio && ratio)
    strategy.fail_at("requestedToCapacityRatio", "expected none but with type RequestedToCapacityRatio");
}

void read_balanced(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(args, {"apiVersion", "kind", "resources"});
  into.balanced.resources = read_weights(args.at("resources"), into.balanced.resources);
  std::set<std::string_view> seen;
  for (const ResourceWeight& resource : into.balanced.resources) {
    if (resource.weight != 1) args.fail_at("resources", "expected weights of 1");
    if (!seen.insert(resource.name).second)
      args.fail_at("resources", "'" + resource.name + "' is given twice");
  }
}

void read_spread_arguments(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(args, {"apiVersion", "kind", "defaultConstraints", "defaultingType"});
  PodSpec constraints;
  read_spread(args.at("defaultConstraints"), constraints);
  into.spread.constraints = std::move(constraints.spread);
  into.spread.system_defaults =
      args.choice_at<bool>("defaultingType", {{"System", true}, {"List", false}}, true);
  if (into.spread.system_defaults && !into.spread.constraints.empty())
    args.fail_at("defaultConstraints", "expected none with defaultingType System, which is the default");
  std::set<std::pair<std::string_view, bool>> seen;
  for (const TopologySpreadConstraint& constraint : into.spread.constraints) {
    if (constraint.selector)
      args.fail_at("defaultConstraints",
                   "expected no labelSelector: it comes from the pod's Services and controllers");
    if (!is_label_name(constraint.topology_key))
      args.fail_at("defaultConstraints",
                   "expected the name of a label as topologyKey, found '" + constraint.topology_key + "'");
    if (!seen.insert({constraint.topology_key, constraint.do_not_schedule}).second)
      args.fail_at("defaultConstraints", "'" + constraint.topology_key + "' is given twice");
  }
}

void read_inter_pod(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(
      args, {"apiVersion", "kind", "hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"});
  into.inter_pod.hard_weight = static_cast<std::int32_t>(args.at("hardPodAffinityWeight").integer(0, 100, 1));
  into.inter_pod.ignore_preferred_of_existing = args.flag_at("ignorePreferredTermsOfExistingPods");
}

void read_added_affinity(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(args, {"apiVersion", "kind", "addedAffinity"});
  const JsonField affinity = args.at("addedAffinity");
  if (!affinity) return;
  PodSpec spec;
  read_node_affinity(affinity, spec);
  into.added_affinity = spec.node_affinity;
}

void read_preemption(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(args,
                        {"apiVersion", "kind", "minCandidateNodesPercentage", "minCandidateNodesAbsolute"});
  into.preemption.candidates_percent =
      static_cast<std::int32_t>(args.at("minCandidateNodesPercentage").integer(0, 100, 10));
  into.preemption.candidates_at_least = static_cast<std::int32_t>(
      args.at("minCandidateNodesAbsolute").integer(0, std::numeric_limits<std::int32_t>::max(), 100));
  if (into.preemption.candidates_percent == 0 && into.preemption.candidates_at_least == 0)
    args.fail_at("minCandidateNodesAbsolute", "expected more than 0, or minCandidateNodesPercentage to be");
}

void read_volume_binding(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(args, {"apiVersion", "kind", "bindTimeoutSeconds", "shape"});
  into.volume_bind_timeout = std::chrono::seconds{args.at("bindTimeoutSeconds").integer(0, 1'000'000, 600)};
  if (args.has("shape"))
    args.fail_at("shape",
                 "is for the StorageCapacityScoring feature, which is off by default and not honoured here");
}

// An empty list is what upstream fills in with its default.
std::vector<std::string> namespaces_at(const JsonField& args) {
  std::vector<std::string> namespaces = args.texts_at("namespaces");
  if (namespaces.empty()) namespaces.emplace_back("default");
  return namespaces;
}

void read_topological_sort(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(args, {"apiVersion", "kind", "namespaces"});
  into.sort_namespaces = namespaces_at(args);
}

// One network for all plugins of a profile: who names it twice must name it alike.
void read_network(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(args, {"apiVersion", "kind", "namespaces", "weightsName", "networkTopologyName"});
  NetworkArguments read;
  read.namespaces = namespaces_at(args);
  if (std::string name = args.text_at("weightsName"); !name.empty()) read.weights_name = std::move(name);
  if (std::string name = args.text_at("networkTopologyName"); !name.empty())
    read.topology_name = std::move(name);
  read.given = true;
  if (into.network.given && !(into.network == read))
    args.fail("expected the same as the profile's other network plugins have");
  into.network = std::move(read);
}

void read_learning(const JsonField& field, LearningArguments& into) {
  refuse_unknown_fields(field, {"online", "explore", "neverExplore", "rewardAfter"});
  into.online = field.flag_at("online");
  if (const JsonField share = field.at("explore")) {
    into.explore = share.number();
    if (!(into.explore >= 0 && into.explore <= 1)) share.fail("expected a share of decisions, 0 to 1");
  }
  const JsonField never = field.at("neverExplore");
  refuse_unknown_fields(never, {"namespaces", "priorityAtLeast"});
  into.never_explore_namespaces = never.texts_at("namespaces");
  into.never_explore_priority = never.optional_int32_at("priorityAtLeast");
  into.reward_after = duration_at(field, "rewardAfter", into.reward_after);
  if (into.reward_after < Duration{} || into.reward_after > std::chrono::minutes{10})
    field.fail_at("rewardAfter", "expected up to ten minutes");
}

Duration read_time(const JsonField& map, std::string_view key, Duration fallback) {
  const std::string text = map.text_at(key);
  if (text.empty()) return fallback;
  const Result<Duration> time = parse_duration(text);
  if (!time || *time <= Duration::zero())
    map.fail_at(key, "expected a time such as 30s or 10m, found '" + text + "'");
  return time ? *time : fallback;
}

double read_rate(const JsonField& map, std::string_view key) {
  if (!map.has(key)) return 0;
  const double rate = map.at(key).number();
  if (!(rate >= 0 && rate <= 1e6)) map.fail_at(key, "expected a number of 0 or more");
  return rate;
}

void read_guard(const JsonField& args, GuardArguments& into) {
  into.stage = args.choice_at<std::string>(
      "stage", {{"shadow", "shadow"}, {"canary", "canary"}, {"full", "full"}}, "full");
  const JsonField canary = args.at("canary");
  refuse_unknown_fields(canary, {"share", "namespaces"});
  if (canary.has("share")) into.share = canary.at("share").number();
  if (!(into.share >= 0 && into.share <= 1)) canary.fail_at("share", "expected a number from 0 to 1");
  into.namespaces = canary.texts_at("namespaces");
  into.stale_after = read_time(args, "staleAfter", into.stale_after);
}

void read_moves(const JsonField& moves, MoveArguments& into) {
  refuse_unknown_fields(moves, {"perHour", "perDay", "dryRun", "coolDown", "sparedNamespaces",
                                "sparedPriority", "singleReplicas", "localStorage"});
  into.per_hour = read_rate(moves, "perHour");
  into.per_day = read_rate(moves, "perDay");
  into.dry_run = moves.flag_at("dryRun");
  into.cool_down = read_time(moves, "coolDown", into.cool_down);
  if (moves.has("sparedNamespaces")) into.spared_namespaces = moves.texts_at("sparedNamespaces");
  into.spared_priority = moves.int32_at("sparedPriority", into.spared_priority);
  into.single_replicas = moves.flag_at("singleReplicas");
  into.local_storage = moves.flag_at("localStorage");
}

void read_evenkeel(const JsonField& args, SchedulerProfile& into) {
  refuse_unknown_fields(args, {"apiVersion", "kind", "policy", "model",  //
                               "stage", "canary", "staleAfter", "moves", "learning"});
  read_learning(args.at("learning"), into.evenkeel.learning);
  read_guard(args, into.evenkeel.guard);
  read_moves(args.at("moves"), into.evenkeel.moves);
  into.evenkeel.policy = args.text_at("policy", "evenkeel");
  into.evenkeel.model = args.text_at("model");
}

struct KnownArguments {
  std::string_view plugin;
  void (*read)(const JsonField&, SchedulerProfile&);
};
constexpr KnownArguments kKnown[] = {
    {"NodeResourcesFit", read_fit},
    {"NodeResourcesBalancedAllocation", read_balanced},
    {"PodTopologySpread", read_spread_arguments},
    {"InterPodAffinity", read_inter_pod},
    {"NodeAffinity", read_added_affinity},
    {"DefaultPreemption", read_preemption},
    {"VolumeBinding", read_volume_binding},
    {"Evenkeel", read_evenkeel},
    {"TopologicalSort", read_topological_sort},
    {"NetworkOverhead", read_network},
    {"NodeNetworkCostFit", read_network},
    {"NetworkMinCost", read_network},
    {"NetworkFit", read_network},
    {"NetworkScore", read_network},
};

}  // namespace

void read_plugin_arguments(const JsonField& plugin_config, SchedulerProfile& into) {
  std::set<std::string> seen;
  for (const JsonField& item : plugin_config.items()) {
    refuse_unknown_fields(item, {"name", "args"});
    const std::string name = item.required_text_at("name");
    if (!seen.insert(name).second) item.fail_at("name", "arguments of '" + name + "' are given twice");
    const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](const KnownArguments& other) { return other.plugin == name; });
    if (known == std::end(kKnown)) {
      if (name == "DynamicResources") continue;
      item.fail_at("name", "no plugin called '" + name + "' takes arguments here");
      continue;
    }
    const JsonField args = item.at("args");
    const std::string kind = args.text_at("kind", name + "Args");
    if (kind != name + "Args") args.fail_at("kind", "expected " + name + "Args, found '" + kind + "'");
    known->read(args, into);
  }
}

}  // namespace evenkeel::kubernetes
