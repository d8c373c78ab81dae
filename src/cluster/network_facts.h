// What the controllers of AppGroups and NetworkTopologies look at and what they say.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/app_group.h"
#include "cluster/pod.h"

namespace evenkeel {

// A condition of an object's status, for people and for whoever waits for it.
struct NetworkCondition {
  std::string type;
  bool is_true = true;
  std::string reason, message;
  bool operator==(const NetworkCondition&) const = default;
};

struct AppGroupStatus {
  struct Rank {
    WorkloadReference workload;
    std::int32_t index = 0;  // from 1
    bool operator==(const Rank&) const = default;
  };
  std::int32_t running = 0;       // pods
  std::vector<Rank> order;        // by selector
  std::optional<Time> first_pod;  // status.scheduleStartTime
  std::vector<NetworkCondition> conditions;
};

// Where a node stands. A label that is missing is empty.
struct Place {
  std::string region, zone;
  auto operator<=>(const Place&) const = default;
};

// From one zone to another of its region, or from one region to another; the way back is another link.
struct LinkId {
  enum class Level : std::uint8_t { region, zone };
  Level level = Level::zone;
  std::string origin, destination;
  auto operator<=>(const LinkId&) const = default;
};
using LinkLoads = std::map<LinkId, BitsPerSecond>;
// "zone z1 -> z2"
inline std::string to_text(const LinkId& link) {
  return (link.level == LinkId::Level::zone ? "zone " : "region ") + link.origin + " -> " + link.destination;
}

// As much of a pod as they need.
struct NetworkPod {
  std::string name_space, name, uid;
  std::string group, workload;  // its labels; the group is in the pod's own namespace
  std::string node;             // empty: it waits
  PodPhase phase = PodPhase::pending;
  bool terminating = false;
  Time created{};
  std::int32_t priority = 0;
  MoveBar bar = MoveBar::none;
  bool comes_back = true;  // a controller makes another when it is gone, and may make it elsewhere
  bool operator==(const NetworkPod&) const = default;

  std::string key() const { return name_space + "/" + name; }
  std::string group_key() const { return name_space + "/" + group; }
  // Holds bandwidth: from its binding until it is gone or has ended.
  bool talks() const { return !node.empty() && phase != PodPhase::succeeded && phase != PodPhase::failed; }
};

}  // namespace evenkeel
