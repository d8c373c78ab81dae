#include "scheduling/spread_constraints.h"

#include <algorithm>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {
namespace {

SelectorRequirement equals(const Label& label) { return {label.key, SelectorOperator::in, {label.value}}; }

SpreadConstraint filled_in(const TopologySpreadConstraint& given, const Labels& labels) {
  SpreadConstraint constraint{given.max_skew,
                              given.topology_key,
                              given.selector,
                              given.min_domains.value_or(1),
                              given.honor_node_affinity,
                              given.honor_node_taints};
  if (!constraint.selector) return constraint;
  for (const std::string& key : given.match_label_keys)
    if (const std::string* value = labels.find(key))
      constraint.selector->requirements.push_back(equals({key, *value}));
  return constraint;
}

// What the pod's Services and its controller select by, all together.
LabelSelector selector_of_owners(const Pod& pod, const ObjectStore& objects) {
  using Kind = PodController::Kind;
  const PodTemplate& shape = *pod.shape;
  LabelSelector selector;
  const auto add = [&](const LabelSelector& more) {
    selector.requirements.insert(selector.requirements.end(), more.requirements.begin(),
                                 more.requirements.end());
  };
  const std::string services = std::to_string(static_cast<int>(Kind::service)) + "/" + shape.name_space + "/";
  for (auto at = objects.controllers().lower_bound(services);
       at != objects.controllers().end() && at->first.starts_with(services); ++at)
    if (at->second.selector && matches(*at->second.selector, shape.labels)) add(*at->second.selector);

  const auto owner = std::find_if(shape.owners.begin(), shape.owners.end(),
                                  [](const OwnerReference& o) { return o.controller; });
  if (owner == shape.owners.end()) return selector;
  std::optional<Kind> kind;
  if (owner->api_version == "v1" && owner->kind == "ReplicationController")
    kind = Kind::replication_controller;
  if (owner->api_version == "apps/v1" && owner->kind == "ReplicaSet") kind = Kind::replica_set;
  if (owner->api_version == "apps/v1" && owner->kind == "StatefulSet") kind = Kind::stateful_set;
  if (!kind) return selector;
  const PodController* controller = objects.controller(*kind, shape.name_space, owner->name);
  if (controller && controller->selector) add(*controller->selector);
  return selector;
}

const std::vector<TopologySpreadConstraint>& system_defaults() {
  static const std::vector<TopologySpreadConstraint> kDefaults = [] {
    TopologySpreadConstraint host, zone;
    host.max_skew = 3;
    host.topology_key = kHostnameLabel;
    zone.max_skew = 5;
    zone.topology_key = "topology.kubernetes.io/zone";
    host.do_not_schedule = zone.do_not_schedule = false;
    return std::vector{host, zone};
  }();
  return kDefaults;
}

std::vector<SpreadConstraint> constraints(const Pod& pod, const ClusterState& cluster, const Profile& profile,
                                          bool hard) {
  std::vector<SpreadConstraint> wanted;
  const auto& own = pod.spec().spread;
  const auto& given = !own.empty()             ? own
                      : profile.default_spread ? *profile.default_spread
                                               : system_defaults();
  for (const TopologySpreadConstraint& constraint : given)
    if (constraint.do_not_schedule == hard) wanted.push_back(filled_in(constraint, pod.shape->labels));
  if (!own.empty() || wanted.empty()) return wanted;
  const LabelSelector selector = selector_of_owners(pod, cluster.objects());
  if (selector.requirements.empty()) return {};
  for (SpreadConstraint& constraint : wanted) constraint.selector = selector;
  return wanted;
}

}  // namespace

PodQuery SpreadConstraint::query(const std::string& name_space) const {
  PodQuery query;
  query.skip_terminating = true;
  if (selector && !selector->requirements.empty()) query.all.push_back({false, {name_space}, *selector});
  return query;
}

std::vector<SpreadConstraint> hard_constraints(const Pod& pod, const ClusterState& cluster,
                                               const Profile& profile) {
  return constraints(pod, cluster, profile, true);
}

std::vector<SpreadConstraint> soft_constraints(const Pod& pod, const ClusterState& cluster,
                                               const Profile& profile) {
  return constraints(pod, cluster, profile, false);
}

bool includes(const SpreadConstraint& constraint, const PodSpec& spec, const Node& node) {
  if (constraint.honor_node_affinity && !selects(spec, node)) return false;
  return !constraint.honor_node_taints || node.taints.empty() || !has_untolerated_taint(spec, node);
}

}  // namespace evenkeel::scheduling
