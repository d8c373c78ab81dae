// What it costs to talk from one part of the cluster to another: Diktyo's NetworkTopology
// (networktopology.diktyo.x-k8s.io/v1alpha1), as read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/app_group.h"

namespace evenkeel {

struct NetworkTopology {
  struct Cost {
    std::string destination;
    std::int64_t cost = 0;
    std::optional<BitsPerSecond> capacity, allocated;
    bool operator==(const Cost&) const = default;
  };
  struct Origin {
    std::string origin;
    std::vector<Cost> costs;
    bool operator==(const Origin&) const = default;
  };
  struct Level {
    std::string topology_key;  // kRegionLabel, kZoneLabel
    std::vector<Origin> origins;
    bool operator==(const Level&) const = default;
  };
  struct Weights {
    std::string name;  // "UserDefined", "NetperfCosts" or somebody's own
    std::vector<Level> levels;
    bool operator==(const Weights&) const = default;
  };
  std::string name_space, name;
  std::string config_map;  // where the measurements are
  std::vector<Weights> weights;
  bool operator==(const NetworkTopology&) const = default;
};

}  // namespace evenkeel
