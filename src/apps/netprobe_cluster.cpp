#include "apps/netprobe_cluster.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/kube_quantity.h"
#include "cluster/app_group.h"
#include "kubernetes/resource_type.h"
#include "kubernetes/writes.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using kubernetes::ApiAnswer;
using kubernetes::ObjectChange;

constexpr std::size_t kLongestKey = 253;
constexpr Duration kAfterFailure = 5s;

kubernetes::ListWatch::Options node_options() {
  kubernetes::ListWatch::Options options;
  options.format = kubernetes::WireFormat::json;  // the tables of the other one leave addresses out
  return options;
}

}  // namespace

std::string config_map_patch(const monitor::ConfigChanges& changes) {
  Json data = Json::object();
  for (const auto& [key, value] : changes)
    if (key.size() <= kLongestKey) data[key] = value ? Json(*value) : Json();
  return Json{{"data", std::move(data)}}.dump();
}

std::vector<std::string> config_map_keys(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  std::vector<std::string> keys;
  if (const auto data = json.is_object() ? json.find("data") : json.end();
      json.is_object() && data != json.end() && data->is_object())
    for (const auto& [key, value] : data->items()) keys.push_back(key);
  return keys;
}

NetprobeCluster::NetprobeCluster(kubernetes::ApiConnection& connection, Options options)
    : connection_(connection),
      options_(std::move(options)),
      watch_(connection, kubernetes::types::nodes(), node_options(),
             {.changed = [this](const ObjectChange& change) { changed(change); },
              .synced = [] {},
              .trouble = [this](const std::string& text) { complain("nodes: " + text); }}) {}

void NetprobeCluster::complain(const std::string& text) {
  if (text != complaint_) options_.say(text);
  complaint_ = text;
}

void NetprobeCluster::changed(const ObjectChange& change) {
  const std::string& name = change.object.identity.name;
  if (change.type == ObjectChange::Type::deleted) {
    has_changed_ = nodes_.erase(name) > 0 || has_changed_;
    return;
  }
  auto node = read_probe_node(change.object.json, options_.port);
  if (!node) return complain("node " + name + ": " + node.error().message);
  ProbeNode& known = nodes_[name];
  has_changed_ = has_changed_ || !(known == *node);
  known = *std::move(node);
}

std::optional<std::vector<ProbeNode>> NetprobeCluster::take_nodes() {
  if (!watch_.synced() || !std::exchange(has_changed_, false)) return std::nullopt;
  std::vector<ProbeNode> nodes;
  for (const auto& [name, node] : nodes_) nodes.push_back(node);
  return nodes;
}

std::set<std::string> NetprobeCluster::names() const {
  std::set<std::string> names;
  for (const auto& [name, node] : nodes_) names.insert(name);
  return names;
}

bool NetprobeCluster::cleans_for_all() const {
  for (const auto& [name, node] : nodes_)
    if (node.is_ready) return name == options_.node;
  return false;
}

void NetprobeCluster::look_at_config_map(monitor::ProbeRow& row) {
  connection_.call(
      kubernetes::read_request(kubernetes::types::config_maps(), options_.name_space, options_.config_map,
                               kubernetes::WireFormat::json),
      [this, &row](const ApiAnswer& answer) {
        if (answer.code == 404) return;
        if (!answer.ok()) return complain("ConfigMap " + options_.config_map + ": " + answer.error().message);
        const auto keys = config_map_keys(answer.body);
        row.found(keys, names(), connection_.now());
        monitor::ConfigChanges gone;
        for (const std::string& key : monitor::orphans(keys, names(), cleans_for_all() ? "" : options_.node))
          gone[key] = std::nullopt;
        if (gone.empty()) return;
        counts_.removed += gone.size();
        row.not_written(gone);
      });
}

void NetprobeCluster::write(monitor::ProbeRow& row, const monitor::ProbeRow::Bounds& bounds) {
  if (is_writing_ || connection_.steady_now() < not_before_) return;
  monitor::ConfigChanges changes = row.changes(bounds, connection_.now());
  if (changes.empty()) return;
  is_writing_ = true;
  auto request =
      kubernetes::patch_request(kubernetes::types::config_maps(), options_.name_space, options_.config_map,
                                "", kubernetes::PatchKind::merge, config_map_patch(changes));
  connection_.call(std::move(request), [this, &row, changes = std::move(changes)](const ApiAnswer& answer) {
    if (answer.code == 404) return create(row, changes);
    written(row, changes, answer);
  });
}

// Where deploy's manifest did not make it.
void NetprobeCluster::create(monitor::ProbeRow& row, const monitor::ConfigChanges& changes) {
  Json object = Json::parse(config_map_patch(changes));
  std::erase_if(object["data"].get_ref<Json::object_t&>(),
                [](const auto& entry) { return entry.second.is_null(); });
  object["apiVersion"] = "v1";
  object["kind"] = "ConfigMap";
  object["metadata"] = {{"name", options_.config_map}};
  connection_.call(
      kubernetes::create_request(kubernetes::types::config_maps(), options_.name_space, object.dump()),
      [this, &row, changes](const ApiAnswer& answer) { written(row, changes, answer); });
}

void NetprobeCluster::written(monitor::ProbeRow& row, const monitor::ConfigChanges& changes,
                              const ApiAnswer& answer) {
  is_writing_ = false;
  if (answer.ok()) {
    ++counts_.written;
    complaint_.clear();
    return;
  }
  ++counts_.failed;
  row.not_written(changes);
  not_before_ = connection_.steady_now() + kAfterFailure;
  complain("ConfigMap " + options_.name_space + "/" + options_.config_map +
           " could not be written: " + answer.error().message);
}

void NetprobeCluster::advertise(std::int64_t bits_per_second) {
  const std::string wanted = std::to_string(bits_per_second);
  const auto own = nodes_.find(options_.node);
  if (own == nodes_.end() || is_advertising_ || connection_.steady_now() < advertise_not_before_) return;
  // The API has spellings of its own: 10000000000 comes back as 10G.
  const auto says = parse_quantity(own->second.bandwidth);
  if (says && *says == bits_per_second) return;
  is_advertising_ = true;
  // Kubelets derive the one from the other; where there is none, both are what we say.
  const Json amount = {{std::string(kBandwidthResource), wanted}};
  const Json body = {{"status", {{"capacity", amount}, {"allocatable", amount}}}};
  connection_.call(kubernetes::patch_request(kubernetes::types::nodes(), "", options_.node, "status",
                                             kubernetes::PatchKind::merge, body.dump()),
                   [this, wanted](const ApiAnswer& answer) {
                     is_advertising_ = false;
                     advertise_not_before_ = connection_.steady_now() + 2 * kAfterFailure;
                     if (answer.ok())
                       options_.say("the node's status says " + wanted + " bit/s of bandwidth");
                     else
                       complain("the node's bandwidth could not be advertised: " + answer.error().message);
                   });
}

}  // namespace evenkeel::apps
