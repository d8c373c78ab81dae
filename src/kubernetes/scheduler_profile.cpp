#include "kubernetes/scheduler_profile.h"

#include <algorithm>
#include <limits>
#include <set>

namespace evenkeel::kubernetes {
namespace {

// Where a plugin has something to say. Points that only kube-scheduler's own machinery needs (PreScore,
// Reserve, Permit, PreBind, PostBind) go with these.
struct KnownPlugin {
  std::string_view name;
  std::int32_t default_weight;  // in the default profile; 0: no score
  std::vector<std::string_view> points;
  bool by_default = true;
};
constexpr std::string_view kPoints[] = {
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore",          "score",
    "reserve",    "permit",    "preBind",   "bind",   "postBind",   "placementGenerate", "placementScore"};

// In the default profile's order, which is the order of reasons.
const std::vector<KnownPlugin>& known_plugins() {
  static const std::vector<KnownPlugin> kKnown = {
      {"SchedulingGates", 0, {"preEnqueue"}},
      {"PrioritySort", 0, {"queueSort"}},
      {"NodeUnschedulable", 0, {"filter"}},
      {"NodeName", 0, {"filter"}},
      {"TaintToleration", 3, {"filter", "score"}},
      {"NodeAffinity", 2, {"preFilter", "filter", "score"}},
      {"NodePorts", 0, {"preFilter", "filter"}},
      {"NodeResourcesFit", 1, {"preFilter", "filter", "score"}},
      {"VolumeRestrictions", 0, {"preFilter", "filter"}},
      {"NodeVolumeLimits", 0, {"preFilter", "filter"}},
      {"VolumeBinding", 0, {"preFilter", "filter", "score"}},
      {"VolumeZone", 0, {"preFilter", "filter"}},
      {"PodTopologySpread", 2, {"preFilter", "filter", "score"}},
      {"InterPodAffinity", 2, {"preFilter", "filter", "score"}},
      // Pods with claims are refused by name, so there is nothing for it to say here.
      {"DynamicResources", 2, {}},
      {"DefaultPreemption", 0, {"preEnqueue", "postFilter"}},
      {"NodeResourcesBalancedAllocation", 1, {"score"}},
      {"ImageLocality", 1, {"score"}},
      {"DefaultBinder", 0, {"bind"}},
      {"NodeDeclaredFeatures", 0, {"preFilter", "filter"}},
      {"GangScheduling", 0, {}, false},
      {"Evenkeel", 0, {"score"}, false},
      // scheduler-plugins' of that name; the next two are the halves of the latter, by their names in the
      // paper.
      {"TopologicalSort", 0, {"queueSort"}, false},
      {"NetworkOverhead", 1, {"preFilter", "filter", "score"}, false},
      {"NodeNetworkCostFit", 0, {"filter"}, false},
      {"NetworkMinCost", 1, {"score"}, false},
      // Ours: both directions of an edge, bandwidth, limits.
      {"NetworkFit", 0, {"filter"}, false},
      {"NetworkScore", 1, {"score"}, false},
  };
  return kKnown;
}

const KnownPlugin* find_plugin(std::string_view name) {
  for (const KnownPlugin& plugin : known_plugins())
    if (plugin.name == name) return &plugin;
  return nullptr;
}

bool speaks_at(std::string_view name, std::string_view point) {
  const KnownPlugin* plugin = find_plugin(name);
  return plugin && std::find(plugin->points.begin(), plugin->points.end(), point) != plugin->points.end();
}

// Not so the ones that are known only so that files which name them can be read.
bool is_honoured(std::string_view name) {
  const KnownPlugin* plugin = find_plugin(name);
  return plugin && !plugin->points.empty();
}

struct PluginSet {
  std::vector<EnabledPlugin> enabled;
  std::set<std::string, std::less<>> disabled;

  bool disables(std::string_view name) const { return disabled.contains("*") || disabled.contains(name); }
  const EnabledPlugin* find(std::string_view name) const {
    const auto at = std::find_if(enabled.begin(), enabled.end(),
                                 [&](const EnabledPlugin& plugin) { return plugin.name == name; });
    return at == enabled.end() ? nullptr : &*at;
  }
};

PluginSet read_set(const JsonField& field) {
  refuse_unknown_fields(field, {"enabled", "disabled"});
  PluginSet set;
  for (const JsonField& item : field.at("enabled").items()) {
    refuse_unknown_fields(item, {"name", "weight"});
    const std::string name = item.required_text_at("name");
    if (!find_plugin(name)) item.fail_at("name", "no plugin is called '" + name + "' here");
    if (set.find(name)) item.fail_at("name", "plugin '" + name + "' is enabled twice");
    set.enabled.push_back({name, item.int32_at("weight")});
  }
  for (const JsonField& item : field.at("disabled").items()) {
    refuse_unknown_fields(item, {"name", "weight"});
    set.disabled.insert(item.required_text_at("name"));
  }
  return set;
}

// The default profile's plugins with the user's over them: replaced in their place, new ones at the end.
PluginSet merged_multi_point(const PluginSet& own) {
  PluginSet merged;
  for (const KnownPlugin& plugin : known_plugins()) {
    if (!plugin.by_default || own.disables(plugin.name)) continue;
    const EnabledPlugin* replaced = own.find(plugin.name);
    merged.enabled.push_back(replaced ? *replaced
                                      : EnabledPlugin{std::string(plugin.name), plugin.default_weight});
  }
  for (const EnabledPlugin& plugin : own.enabled)
    if (!merged.find(plugin.name)) merged.enabled.push_back(plugin);
  return merged;
}

// What a point re-configures first, then multiPoint's others, then what the point alone enables. One that a
// point disables and enables is one of the last.
std::vector<EnabledPlugin> expand(std::string_view point, const PluginSet& own, const PluginSet& multi) {
  const auto from_multi = [&](std::string_view name) {
    return multi.find(name) && speaks_at(name, point) && !own.disables(name);
  };
  std::vector<EnabledPlugin> plugins;
  for (const EnabledPlugin& plugin : own.enabled)
    if (from_multi(plugin.name)) plugins.push_back(plugin);
  for (const EnabledPlugin& plugin : multi.enabled)
    if (from_multi(plugin.name) && !own.find(plugin.name)) plugins.push_back(plugin);
  for (const EnabledPlugin& plugin : own.enabled)
    if (!from_multi(plugin.name) && speaks_at(plugin.name, point)) plugins.push_back(plugin);
  for (EnabledPlugin& plugin : plugins)
    if (plugin.weight == 0) plugin.weight = 1;
  return plugins;
}

// kube-scheduler adds up what scores may come to, point and multiPoint, and refuses what could overflow. With
// a negative weight in front it is the check itself that does.
bool overflows(const PluginSet& own, const PluginSet& multi) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max(), kHighestScore = 100;
  std::set<std::string_view> seen;
  std::uint64_t total = 0;
  for (const PluginSet* set : {&own, &multi})
    for (const EnabledPlugin& plugin : set->enabled) {
      if (!speaks_at(plugin.name, "score") || !seen.insert(plugin.name).second) continue;
      const std::int64_t weight = plugin.weight == 0 ? 1 : plugin.weight;
      const auto most = static_cast<std::int64_t>(static_cast<std::uint64_t>(weight) * kHighestScore);
      if (most > static_cast<std::int64_t>(kMost - total)) return true;
      total += static_cast<std::uint64_t>(most);
    }
  return false;
}

}  // namespace

void refuse_unknown_fields(const JsonField& map, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : map.entries())
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string list;
      for (const std::string_view name : known) list += (list.empty() ? "" : ", ") + std::string(name);
      value.fail("unknown field; there are " + list);
    }
}

void read_plugins(const JsonField& plugins, SchedulerProfile& into) {
  for (const auto& [point, set] : plugins.entries()) {
    const bool known = point == "multiPoint" ||
                       std::find(std::begin(kPoints), std::end(kPoints), point) != std::end(kPoints);
    if (!known) set.fail("unknown field");
    static_cast<void>(read_set(set));  // points that are not looked at must be right all the same
  }
  const PluginSet multi = merged_multi_point(read_set(plugins.at("multiPoint")));
  const auto at = [&](std::string_view point) {
    const JsonField field = plugins.at(point);
    const PluginSet own = read_set(field);
    for (const EnabledPlugin& plugin : own.enabled)
      if (is_honoured(plugin.name) && !speaks_at(plugin.name, point))
        field.fail_at("enabled", "plugin '" + plugin.name + "' has nothing to say there");
    return expand(point, own, multi);
  };
  into.pre_enqueue = at("preEnqueue");
  if (overflows(read_set(plugins.at("score")), multi))
    plugins.fail_at("score", "expected weights that add up to less");
  into.queue_sort = at("queueSort");
  into.pre_filter = at("preFilter");
  into.filter = at("filter");
  into.post_filter = at("postFilter");
  into.score = at("score");
  into.bind = at("bind");
  if (into.queue_sort.size() != 1)
    plugins.fail_at("queueSort", "expected one plugin, found " + std::to_string(into.queue_sort.size()));
  if (into.bind.empty()) plugins.fail_at("bind", "expected at least one plugin, found none");
}

}  // namespace evenkeel::kubernetes
