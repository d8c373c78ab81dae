#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/pod.h"
#include "kubernetes/api_objects.h"

namespace evenkeel::kubernetes {

// One PodTemplate for all pods that are alike to a scheduler, however many there are: what the API server
// sends anew with every pod is compared with what is known, and dropped.
class PodTemplates {
 public:
  // The template of a pod as it was read. What differs from pod to pod without meaning anything to scheduling
  // (where it is bound, the name of the volume with its token) is left out.
  std::shared_ptr<const PodTemplate> share(PodObject& pod);

  std::size_t size() const { return templates_.size(); }
  std::size_t workloads() const { return workloads_.size(); }
  // Pods that behave alike, by a name that means the same in another run: namespace, who keeps them running,
  // and the images of their containers. A handle is given with the first mention.
  WorkloadId workload_named(const std::string& name);
  const std::string& workload_name(WorkloadId workload) const { return *names_[workload.slot]; }
  static std::string workload_name_of(const PodObject& pod);

 private:
  void drop_unused();

  std::unordered_multimap<std::size_t, std::weak_ptr<const PodTemplate>> templates_;  // by a hash of it
  std::unordered_map<std::string, WorkloadId> workloads_;
  std::vector<const std::string*> names_;  // by WorkloadId::slot; they live in the map's keys
  std::size_t drop_at_ = 1024;             // how many templates there are when the unused ones are looked for
};

}  // namespace evenkeel::kubernetes
