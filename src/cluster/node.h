#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/ids.h"
#include "cluster/labels.h"
#include "cluster/resources.h"
#include "cluster/usage.h"

namespace evenkeel {

enum class TaintEffect { no_schedule, prefer_no_schedule, no_execute };

struct Taint {
  std::string key, value;
  TaintEffect effect = TaintEffect::no_schedule;
  bool operator==(const Taint&) const = default;
};

struct NodeImage {
  std::string name;
  Bytes size;
  bool operator==(const NodeImage&) const = default;
};

enum class ConditionStatus { unknown, no, yes };

struct NodeConditions {
  ConditionStatus ready = ConditionStatus::yes;
  ConditionStatus memory_pressure = ConditionStatus::no;
  ConditionStatus disk_pressure = ConditionStatus::no;
  ConditionStatus pid_pressure = ConditionStatus::no;
  ConditionStatus network_unavailable = ConditionStatus::no;
  bool operator==(const NodeConditions&) const = default;
};

struct Node {
  NodeId id;
  std::string name;
  Labels labels;
  std::vector<Taint> taints;
  bool unschedulable = false;  // cordoned
  Resources allocatable;
  std::int64_t max_pods = 110;
  // What it can do in the six dimensions. CPU and memory follow from the machine;
  // network and disk rates are found by probing or configured.
  Usage capacity;
  NodeConditions conditions;
  std::vector<NodeImage> images;               // one for each name of an image
  std::vector<std::string> declared_features;  // status.declaredFeatures
  std::vector<std::string> addresses;          // status.addresses: what else it is called by
  bool operator==(const Node&) const = default;
};

}  // namespace evenkeel
