// What the API's objects become on their way to the cluster model: the model's own types, with the names by
// which the API knows them where the model has handles.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cluster/node.h"
#include "cluster/objects.h"
#include "cluster/pod.h"

namespace evenkeel::kubernetes {

// Condition PodScheduled where it is False: what a scheduler last said of a pod it could not place.
struct UnscheduledCondition {
  std::string reason, message;  // empty: nobody said so
  bool operator==(const UnscheduledCondition&) const = default;
};

// A Pod before it has a handle, a workload and a shared template.
struct PodObject {
  std::string name_space, name, uid;
  Labels labels;
  std::vector<OwnerReference> owners;
  PodSpec spec;  // spec.node_name: where it is bound, empty while it waits
  std::string priority_class;
  bool priority_given = false;  // else whoever knows the PriorityClasses fills it in
  Time created{};
  PodPhase phase = PodPhase::pending;
  std::string nominated_node;
  bool terminating = false;
  std::optional<Time> started;
  bool disrupted_by_us = false;
  MoveBar bar = MoveBar::none;
  UnscheduledCondition unscheduled;
};

// metrics.k8s.io: what a node uses now.
struct NodeUsageObject {
  std::string node;
  Time measured{};
  MilliCpu cpu;
  Bytes memory;
};

// Everything of a cluster that scheduling looks at; one of these per object of the API.
using ApiObject = std::variant<Node, PodObject, ClusterObject, NodeUsageObject>;

}  // namespace evenkeel::kubernetes
