#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "cluster/labels.h"
#include "cluster/scaler.h"
#include "cluster/service_report.h"
#include "kubernetes/reflector.h"

namespace evenkeel::kubernetes {

// As much of a pod as scaling looks at.
struct ScaledPod {
  struct Container {
    std::string name;
    double cpu = 0, memory = 0;  // requested, in cores and bytes; 0: nothing is
  };
  std::string uid;
  Labels labels;
  ReplicaReport replica;              // without samples
  std::vector<Container> containers;  // and init containers that stay
  std::string deletion_cost{};        // as its annotation says; empty: none does

  // What utilisation of this metric is a share of; 0: it is of no resource, or a container asks for none of
  // it.
  double request_of(const MetricTarget& metric) const;
};

Result<ScaledPod> read_scaled_pod(std::string_view json);

// The pods of a cluster, found by selector without a walk over all of them.
class ScalingPods {
 public:
  Status apply(const ObjectChange& change);
  // By name. They stay where they are until the next change.
  std::vector<const ScaledPod*> select(const std::string& name_space, const LabelSelector& selector) const;
  std::size_t size() const { return count_; }

 private:
  using Pods = std::vector<const ScaledPod*>;
  struct NameSpace {
    std::unordered_map<std::string, std::unique_ptr<ScaledPod>> by_name;
    std::unordered_map<std::string, Pods> by_label;  // "key=value"
  };
  static void unlink(NameSpace& space, const ScaledPod& pod);

  std::unordered_map<std::string, NameSpace> spaces_;
  std::size_t count_ = 0;
};

}  // namespace evenkeel::kubernetes
