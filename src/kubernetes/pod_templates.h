#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

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

 private:
  WorkloadId workload_of(const PodObject& pod);
  void drop_unused();

  std::unordered_multimap<std::size_t, std::weak_ptr<const PodTemplate>> templates_;  // by a hash of it
  std::unordered_map<std::string, WorkloadId> workloads_;
  std::size_t drop_at_ = 1024;  // how many templates there are when the unused ones are looked for
};

}  // namespace evenkeel::kubernetes
