#include "kubernetes/network_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/kube_quantity.h"
#include "kubernetes/json_field.h"
#include "kubernetes/read_common.h"
#include "kubernetes/read_network.h"
#include "kubernetes/rfc3339.h"

namespace evenkeel::kubernetes {
namespace {

using nlohmann::json;

std::string time_text(Time time) {
  return format_rfc3339(time.time_since_epoch().count() / 1'000'000, 0, false)
      .value_or("1970-01-01T00:00:00Z");
}

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

Result<json> parsed(std::string_view text) {
  json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return invalid("expected an object");
  return document;
}

// The lists and maps below a key; none where it is something else, which the reader complains about.
json* list_at(json& map, const char* key) {
  const auto at = map.is_object() ? map.find(key) : map.end();
  return map.is_object() && at != map.end() && at->is_array() ? &*at : nullptr;
}

void rename(json& map, const char* old, const char* name, std::vector<std::string>& renamed) {
  if (!map.is_object() || !map.contains(old)) return;
  // Whoever gave the old name did so after the last rewriting: theirs is the newer one.
  json value = std::move(map[old]);
  map.erase(old);
  map[name] = std::move(value);
  std::string what = std::string(old) + " is " + name;
  if (std::ranges::find(renamed, what) == renamed.end()) renamed.push_back(std::move(what));
}

template <class Visit>
void each_cost(json& topology, const Visit& visit) {
  json* weights = list_at(topology["spec"], "weights");
  if (!weights) return;
  for (json& one : *weights)
    if (json* levels = list_at(one, "topologyList"))
      for (json& level : *levels)
        if (json* origins = list_at(level, "originList"))
          for (json& origin : *origins)
            if (json* costs = list_at(origin, "costList"))
              for (json& cost : *costs) visit(one, level, origin, cost);
}

std::vector<std::string> use_todays_names(json& topology) {
  std::vector<std::string> renamed;
  if (!topology.contains("spec") || !topology["spec"].is_object()) return renamed;
  json& spec = topology["spec"];
  rename(spec, "configMapName", "configmapName", renamed);
  json* weights = list_at(spec, "weights");
  if (!weights) return renamed;
  for (json& one : *weights) {
    rename(one, "costList", "topologyList", renamed);
    if (json* levels = list_at(one, "topologyList"))
      for (json& level : *levels) {
        rename(level, "originCosts", "originList", renamed);
        if (json* origins = list_at(level, "originList"))
          for (json& origin : *origins) rename(origin, "costs", "costList", renamed);
      }
  }
  each_cost(topology, [&](json&, json&, json&, json& cost) {
    rename(cost, "bandwidthAllocatable", "bandwidthAllocated", renamed);
  });
  return renamed;
}

json merge_difference(const json& from, const json& to) {
  json patch = json::object();
  for (const auto& [key, value] : to.items()) {
    if (!from.contains(key))
      patch[key] = value;
    else if (from[key] != value)
      patch[key] = from[key].is_object() && value.is_object() ? merge_difference(from[key], value) : value;
  }
  for (const auto& [key, value] : from.items())
    if (!to.contains(key)) patch[key] = nullptr;
  return patch;
}

std::optional<std::string> patch_between(const json& before, const json& after) {
  json patch = merge_difference(before, after);
  if (patch.empty()) return std::nullopt;
  const json& metadata = before.contains("metadata") ? before["metadata"] : before;
  if (metadata.is_object() && metadata.contains("resourceVersion"))
    patch["metadata"] = {{"resourceVersion", metadata["resourceVersion"]}};
  return text_of(patch);
}

void set_conditions(json& status, const std::vector<NetworkCondition>& conditions, Time now) {
  if (!list_at(status, "conditions")) status["conditions"] = json::array();
  json& list = status["conditions"];
  for (const NetworkCondition& one : conditions) {
    const std::string word = one.is_true ? "True" : "False";
    json wanted = {{"type", one.type},
                   {"status", word},
                   {"reason", one.reason},
                   {"message", one.message},
                   {"lastTransitionTime", time_text(now)}};
    const auto at = std::find_if(list.begin(), list.end(), [&](const json& known) {
      return known.is_object() && known.value("type", json()) == one.type;
    });
    if (at == list.end()) {
      list.push_back(std::move(wanted));
      continue;
    }
    if (at->value("status", json()) == word && at->contains("lastTransitionTime"))
      wanted["lastTransitionTime"] = (*at)["lastTransitionTime"];
    *at = std::move(wanted);
  }
}

// As short as it can be said exactly: 100M, 104857600.
std::string bandwidth_text(std::int64_t bits) {
  const char* suffixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t thousands = 0;
  bits = std::min(bits, kMostOfAResource);
  while (bits != 0 && bits % 1000 == 0 && thousands + 1 < std::size(suffixes)) {
    bits /= 1000;
    ++thousands;
  }
  return std::to_string(bits) + suffixes[thousands];
}

// Another spelling of the same number stays.
void set_bandwidth(json& cost, const char* key, std::int64_t bits) {
  const std::int64_t wanted = std::min(bits, kMostOfAResource);
  if (cost.contains(key)) {
    const json& known = cost[key];
    const auto number = parse_quantity(known.is_string() ? known.get<std::string>() : known.dump());
    if (number && *number == wanted) return;
  }
  cost[key] = bandwidth_text(wanted);
}

std::optional<LinkId> link_of(const json& level, const json& origin, const json& cost) {
  const auto text = [](const json& map, const char* key) {
    return map.is_object() && map.contains(key) && map[key].is_string() ? map[key].get<std::string>() : "";
  };
  LinkId link{LinkId::Level::zone, text(origin, "origin"), text(cost, "destination")};
  const std::string key = text(level, "topologyKey");
  if (key == kRegionLabel)
    link.level = LinkId::Level::region;
  else if (key != kZoneLabel)
    return std::nullopt;
  return link;
}

// What others may have added to an entry of ours is carried over; links that are gone go.
json measured_json(const NetworkTopology::Weights& measured, json known_weights) {
  std::map<std::string, json> known;
  json holder = {{"spec", {{"weights", json::array({std::move(known_weights)})}}}};
  each_cost(holder, [&](json&, json& level, json& origin, json& cost) {
    if (const auto link = link_of(level, origin, cost)) known[to_text(*link)] = cost;
  });
  json levels = json::array();
  for (const NetworkTopology::Level& level : measured.levels) {
    json origins = json::array();
    for (const NetworkTopology::Origin& origin : level.origins) {
      json costs = json::array();
      for (const NetworkTopology::Cost& cost : origin.costs) {
        json entry = {{"destination", cost.destination}};
        const auto link = link_of({{"topologyKey", level.topology_key}}, {{"origin", origin.origin}}, entry);
        if (const auto at = link ? known.find(to_text(*link)) : known.end(); at != known.end())
          entry = at->second;
        entry["networkCost"] = cost.cost;
        if (cost.capacity)
          set_bandwidth(entry, "bandwidthCapacity", cost.capacity->count);
        else
          entry.erase("bandwidthCapacity");
        costs.push_back(std::move(entry));
      }
      origins.push_back({{"origin", origin.origin}, {"costList", std::move(costs)}});
    }
    levels.push_back({{"topologyKey", level.topology_key}, {"originList", std::move(origins)}});
  }
  return {{"name", measured.name}, {"topologyList", std::move(levels)}};
}

void set_measured(json& topology, const NetworkTopology::Weights& measured) {
  if (!list_at(topology["spec"], "weights")) topology["spec"]["weights"] = json::array();
  json& weights = topology["spec"]["weights"];
  for (json& one : weights)
    if (one.is_object() && one.value("name", json()) == measured.name) {
      one = measured_json(measured, one);
      return;
    }
  weights.push_back(measured_json(measured, json::object()));
}

void set_allocated(json& topology, const LinkLoads& loads) {
  each_cost(topology, [&](json&, json& level, json& origin, json& cost) {
    const auto link = link_of(level, origin, cost);
    if (!link || !cost.is_object()) return;
    const auto at = loads.find(*link);
    const bool says_something =
        at != loads.end() || cost.contains("bandwidthCapacity") || cost.contains("bandwidthAllocated");
    if (says_something) set_bandwidth(cost, "bandwidthAllocated", at == loads.end() ? 0 : at->second.count);
  });
}

json order_json(const std::vector<AppGroupStatus::Rank>& order) {
  json list = json::array();
  for (const AppGroupStatus::Rank& rank : order) {
    json workload = {
        {"kind", rank.workload.kind}, {"name", rank.workload.name}, {"selector", rank.workload.selector}};
    if (!rank.workload.api_version.empty()) workload["apiVersion"] = rank.workload.api_version;
    if (!rank.workload.name_space.empty()) workload["namespace"] = rank.workload.name_space;
    list.push_back({{"workload", std::move(workload)}, {"index", rank.index}});
  }
  return list;
}

template <class T, class Read>
Result<T> read_document(std::string_view text, const char* kind, const Read& read) {
  const auto document = JsonDocument::parse(text, kind);
  if (!document) return document.error();
  JsonReading reading(kind);
  const JsonField root(reading, document->root());
  const Metadata metadata = read_metadata(root);
  reading.set_subject(std::string(kind) + " " + metadata.name_space + "/" + metadata.name);
  T made = read(root);
  if (reading.error()) return *reading.error();
  return made;
}

json& status_of(json& object) {
  if (!object.contains("status") || !object["status"].is_object()) object["status"] = json::object();
  return object["status"];
}

}  // namespace

Result<NamedTopology> read_topology_document(std::string_view text) {
  auto document = parsed(text);
  if (!document) return document.error();
  NamedTopology named;
  named.renamed = use_todays_names(*document);
  auto read = read_document<NetworkTopology>(text_of(*document), "NetworkTopology", read_network_topology);
  if (!read) return read.error();
  named.topology = *std::move(read);
  return named;
}

Result<AppGroup> read_group_document(std::string_view text) {
  return read_document<AppGroup>(text, "AppGroup", read_app_group);
}

Result<std::map<std::string, std::string>> read_config_map_data(std::string_view text) {
  return read_document<std::map<std::string, std::string>>(text, "ConfigMap", [](const JsonField& root) {
    std::map<std::string, std::string> data;
    for (const auto& [key, value] : root.at("data").entries()) data.emplace(key, value.text());
    return data;
  });
}

Result<std::optional<std::string>> topology_patch(std::string_view text, const TopologyContent& content,
                                                  Time now) {
  const auto before = parsed(text);
  if (!before) return before.error();
  if (!before->contains("spec") || !(*before)["spec"].is_object()) return invalid("spec: expected a map");
  json after = *before;
  (void)use_todays_names(after);
  const json named = after;
  if (content.measured) set_measured(after, *content.measured);
  const bool has_new_costs = after != named;
  if (content.loads) set_allocated(after, *content.loads);
  json& status = status_of(after);
  status["nodeCount"] = content.nodes;
  set_conditions(status, content.conditions, now);
  const bool was_calculated = status.contains("weightCalculationTime");
  if (content.measured && (content.is_recalculated || has_new_costs || !was_calculated))
    status["weightCalculationTime"] = time_text(now);
  return patch_between(*before, after);
}

Result<std::optional<std::string>> group_patch(std::string_view text, const AppGroupStatus& wanted,
                                               Time now) {
  const auto before = parsed(text);
  if (!before) return before.error();
  json after = *before;
  json& status = status_of(after);
  status["runningWorkloads"] = wanted.running;
  if (wanted.first_pod) status["scheduleStartTime"] = time_text(*wanted.first_pod);
  const json order = order_json(wanted.order);
  // Others may say more of each workload than we do.
  const json* known = list_at(status, "topologyOrder");
  const bool is_same =
      known && known->size() == order.size() &&
      std::equal(known->begin(), known->end(), order.begin(), [](const json& a, const json& b) {
        return a.is_object() && a.value("workload", json()) == b["workload"] &&
               a.value("index", json()) == b["index"];
      });
  if (!is_same) status["topologyOrder"] = order;
  if (!is_same || !status.contains("topologyCalculationTime"))
    status["topologyCalculationTime"] = time_text(now);
  set_conditions(status, wanted.conditions, now);
  return patch_between(*before, after);
}

Result<std::optional<std::string>> trouble_patch(std::string_view text, const std::string& trouble,
                                                 Time now) {
  const auto before = parsed(text);
  if (!before) return before.error();
  json after = *before;
  set_conditions(status_of(after), {{"Valid", false, "Unreadable", trouble}}, now);
  return patch_between(*before, after);
}

}  // namespace evenkeel::kubernetes
