#include "kubernetes/network_follower.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>
#include <variant>

#include "kubernetes/json_field.h"
#include "kubernetes/network_document.h"
#include "kubernetes/read_object.h"

namespace evenkeel::kubernetes {
namespace {

std::string value_of(const Labels& labels, std::string_view key) {
  const std::string* found = labels.find(key);
  return found ? *found : "";
}

NetworkPod network_pod(PodObject object) {
  NetworkPod pod;
  pod.name_space = std::move(object.name_space);
  pod.name = std::move(object.name);
  pod.uid = std::move(object.uid);
  pod.group = value_of(object.labels, kAppGroupLabel);
  pod.workload = value_of(object.labels, kAppWorkloadLabel);
  pod.node = object.spec.node_name;
  pod.phase = object.phase;
  pod.terminating = object.terminating;
  pod.created = object.created;
  pod.priority = object.spec.priority;
  pod.bar = object.bar;
  pod.comes_back = std::ranges::any_of(object.owners, [](const OwnerReference& owner) {
    return owner.controller && owner.kind != "DaemonSet" && owner.kind != "Node";
  });
  return pod;
}

Result<std::optional<ApiObject>> read(const ObjectChange& change, const ResourceType& type) {
  const auto document =
      JsonDocument::parse(change.object.json, type.kind + " " + change.object.identity.key());
  if (!document) return document.error();
  return read_object(document->root(), type.kind, type.api_version);
}

}  // namespace

NetworkFollower::NetworkFollower(ApiConnection& connection, NetworkListener& listener, std::uint64_t seed,
                                 Log log)
    : connection_(connection), listener_(listener), seed_(seed), log_(std::move(log)) {
  follow(types::nodes(), [this](const ObjectChange& change) { node_changed(change); });
  follow(
      types::pods(), [this](const ObjectChange& change) { pod_changed(change); },
      std::string(kAppGroupLabel));
  follow(types::app_groups(), [this](const ObjectChange& change) {
    if (change.type == ObjectChange::Type::deleted)
      listener_.group_gone(change.object.identity.key());
    else
      listener_.group_set(change.object);
  });
  follow(types::network_topologies(), [this](const ObjectChange& change) {
    if (change.type == ObjectChange::Type::deleted)
      listener_.topology_gone(change.object.identity.key());
    else
      listener_.topology_set(change.object);
  });
}

void NetworkFollower::follow(const ResourceType& type, std::function<void(const ObjectChange&)> changed,
                             const std::string& label_selector) {
  ListWatch::Options options;
  options.seed = seed_;
  options.label_selector = label_selector;
  ListWatch::Handlers handlers;
  handlers.changed = std::move(changed);
  handlers.synced = [] {};
  handlers.trouble = log_;
  kinds_.push_back(std::make_unique<ListWatch>(connection_, type, options, std::move(handlers)));
}

void NetworkFollower::start() {
  for (const auto& kind : kinds_) kind->start();
}

bool NetworkFollower::synced() const {
  return std::ranges::all_of(kinds_, [](const auto& kind) { return kind->synced(); }) &&
         std::ranges::all_of(maps_, [](const auto& entry) { return entry.second.is_settled; });
}

void NetworkFollower::node_changed(const ObjectChange& change) {
  const std::string& name = change.object.identity.name;
  if (change.type == ObjectChange::Type::deleted) return listener_.node_gone(name);
  const auto object = read(change, types::nodes());
  const Node* node = object && *object ? std::get_if<Node>(&**object) : nullptr;
  if (!node) {
    if (!object) log_(object.error().message);
    return listener_.node_gone(name);
  }
  listener_.node_set(name, {value_of(node->labels, kRegionLabel), value_of(node->labels, kZoneLabel)});
}

void NetworkFollower::pod_changed(const ObjectChange& change) {
  const std::string key = change.object.identity.key();
  if (change.type == ObjectChange::Type::deleted) return listener_.pod_gone(key);
  auto object = read(change, types::pods());
  PodObject* pod = object && *object ? std::get_if<PodObject>(&**object) : nullptr;
  if (!pod) {
    if (!object) log_(object.error().message);
    return listener_.pod_gone(key);
  }
  listener_.pod_set(network_pod(std::move(*pod)));
}

void NetworkFollower::follow_config_maps(const std::vector<std::string>& keys) {
  const std::set<std::string> wanted(keys.begin(), keys.end());
  std::erase_if(maps_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  for (const std::string& key : wanted) {
    if (maps_.contains(key)) continue;
    const std::size_t slash = key.find('/');
    ListWatch::Options options;
    options.seed = seed_;
    options.name_space = key.substr(0, slash);
    // The field selector is what lets a Role with resourceNames allow list and watch.
    options.field_selector = "metadata.name=" + key.substr(slash + 1);
    options.format = WireFormat::json;
    ListWatch::Handlers handlers;
    handlers.changed = [this, key](const ObjectChange& change) { map_changed(key, change); };
    handlers.synced = [this, key] {
      maps_[key].is_settled = true;
      maps_[key].trouble.clear();
      listener_.measurements_changed(key);
    };
    handlers.trouble = [this, key](const std::string& what) {
      Map& map = maps_[key];
      map.is_settled = true;
      if (map.trouble == what) return;
      map.trouble = what;
      log_("ConfigMap " + key + ": " + what);
      listener_.measurements_changed(key);
    };
    Map& map = maps_[key];
    map.watch = std::make_unique<ListWatch>(connection_, types::config_maps(), options, std::move(handlers));
    map.watch->start();
  }
}

void NetworkFollower::map_changed(const std::string& key, const ObjectChange& change) {
  if (change.object.identity.key() != key) return;
  Map& map = maps_[key];
  map.data.reset();
  map.trouble.clear();
  if (change.type != ObjectChange::Type::deleted) {
    auto data = read_config_map_data(change.object.json);
    if (data)
      map.data = *std::move(data);
    else
      map.trouble = data.error().message;
  }
  listener_.measurements_changed(key);
}

const NetworkFollower::Data* NetworkFollower::measurements(const std::string& config_map) const {
  const auto at = maps_.find(config_map);
  return at == maps_.end() || !at->second.data ? nullptr : &*at->second.data;
}

std::string NetworkFollower::why_no_measurements(const std::string& config_map) const {
  const auto at = maps_.find(config_map);
  if (at != maps_.end() && !at->second.trouble.empty()) return at->second.trouble;
  const bool has_capitals = std::ranges::any_of(
      config_map, [](char letter) { return std::isupper(static_cast<unsigned char>(letter)); });
  return "there is no ConfigMap " + config_map +
         (has_capitals ? ", and there cannot be: their names have no capital letters" : "");
}

}  // namespace evenkeel::kubernetes
