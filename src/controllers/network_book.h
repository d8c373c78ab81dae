#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cluster/app_group.h"
#include "cluster/network_facts.h"

namespace evenkeel::controllers {

using Places = std::map<std::string, Place>;  // of nodes, by name
using PodSpan = std::span<const NetworkPod* const>;

// What the pods of a group reserve on links between zones and regions (Diktyo eq. 5): every pair of pods that
// talk, its minBandwidth on the link from the one's place to the other's. A pod on a node that nobody knows
// reserves nothing, nor does a link whose one end has no name. Sums stop at a number beyond any link.
LinkLoads loads_of(const AppGroup& group, PodSpan pods, const Places& places);

// Groups, pods and nodes as last heard of, and what all of it reserves. Told of the same thing twice, or of
// the end of what it never knew, it stays as it is; what it says depends on what there is, never on how that
// came.
class NetworkBook {
 public:
  void set_node(const std::string& name, Place place);
  void drop_node(const std::string& name);
  void set_group(AppGroup group);
  void drop_group(const std::string& key);
  void set_pod(NetworkPod pod);
  void drop_pod(const std::string& key);

  const Places& places() const { return places_; }
  const std::map<std::string, AppGroup>& groups() const { return groups_; }  // by namespace/name
  const AppGroup* group(const std::string& key) const;
  std::vector<const NetworkPod*> members(const std::string& group_key) const;  // by name
  const std::map<std::string, NetworkPod>& pods() const { return pods_; }      // by namespace/name
  // Group keys whose members or spec changed since the last call, and of groups that pods speak of.
  std::set<std::string> take_changed();

  const LinkLoads& loads();

 private:
  void touch(const std::string& group_key);

  Places places_;
  std::map<std::string, AppGroup> groups_;
  std::map<std::string, NetworkPod> pods_;
  std::map<std::string, std::set<std::string>> members_;  // pods by group, whether or not the group is known
  std::map<std::string, LinkLoads> by_group_;
  std::set<std::string> stale_, changed_;  // group keys
  LinkLoads loads_;
};

}  // namespace evenkeel::controllers
