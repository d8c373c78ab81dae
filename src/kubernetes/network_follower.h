#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/network_facts.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/list_watch.h"

namespace evenkeel::kubernetes {

// Whoever looks after AppGroups and NetworkTopologies hears of them through this; objects by namespace/name.
class NetworkListener {
 public:
  virtual ~NetworkListener() = default;
  virtual void node_set(const std::string& name, Place place) = 0;
  virtual void node_gone(const std::string& name) = 0;
  virtual void pod_set(NetworkPod pod) = 0;  // one that has a group's label
  virtual void pod_gone(const std::string& key) = 0;
  virtual void group_set(const WireObject& object) = 0;
  virtual void group_gone(const std::string& key) = 0;
  virtual void topology_set(const WireObject& object) = 0;
  virtual void topology_gone(const std::string& key) = 0;
  // A ConfigMap that was asked for is there, is another, or is gone.
  virtual void measurements_changed(const std::string& key) = 0;
};

// Nodes, labelled pods, AppGroups, NetworkTopologies and the ConfigMaps these name, followed by LIST and
// WATCH.
class NetworkFollower {
 public:
  using Log = std::function<void(const std::string&)>;
  using Data = std::map<std::string, std::string>;

  NetworkFollower(ApiConnection& connection, NetworkListener& listener, std::uint64_t seed, Log log);

  void start();
  bool synced() const;  // every kind, and every ConfigMap asked for, was listed once

  // Those that are named from here on, by namespace/name; others are let go of.
  void follow_config_maps(const std::vector<std::string>& keys);
  const Data* measurements(const std::string& config_map) const;
  std::string why_no_measurements(const std::string& config_map) const;

 private:
  struct Map {
    std::unique_ptr<ListWatch> watch;
    std::optional<Data> data;
    std::string trouble;
    bool is_settled = false;  // listed, or refused
  };
  void follow(const ResourceType& type, std::function<void(const ObjectChange&)> changed,
              const std::string& label_selector = "");
  void node_changed(const ObjectChange& change);
  void pod_changed(const ObjectChange& change);
  void map_changed(const std::string& key, const ObjectChange& change);

  ApiConnection& connection_;
  NetworkListener& listener_;
  std::uint64_t seed_;
  Log log_;
  std::vector<std::unique_ptr<ListWatch>> kinds_;
  std::map<std::string, Map> maps_;
};

}  // namespace evenkeel::kubernetes
