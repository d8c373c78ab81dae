// Nodes and pods as tests want them: small, plain, in one line.
#pragma once
#include <memory>
#include <string>

#include "cluster/node.h"
#include "cluster/pod.h"

namespace evenkeel {

inline Node test_node(std::uint32_t slot, std::int64_t milli_cpu = 4000, std::int64_t memory = 8LL << 30) {
  Node node;
  node.id = {slot};
  node.name = "node-" + std::to_string(slot);
  node.allocatable.cpu = {milli_cpu};
  node.allocatable.memory = {memory};
  node.capacity = {{static_cast<double>(milli_cpu) / 1000, static_cast<double>(memory), 1e8, 1e8, 1e8, 1e8}};
  return node;
}

inline PodSpec spec_asking(std::int64_t milli_cpu, std::int64_t memory) {
  Container container;
  container.name = container.image = "main";
  container.requests.cpu = {milli_cpu};
  container.requests.memory = {memory};
  PodSpec spec;
  spec.containers.push_back(std::move(container));
  return spec;
}

inline std::shared_ptr<const PodTemplate> test_shape(PodSpec spec, WorkloadId workload = {},
                                                     std::vector<OwnerReference> owners = {}) {
  return std::make_shared<const PodTemplate>("default", Labels{}, std::move(owners), workload,
                                             std::move(spec));
}

inline std::shared_ptr<const PodTemplate> shape_asking(std::int64_t milli_cpu, std::int64_t memory,
                                                       WorkloadId workload = {}) {
  return test_shape(spec_asking(milli_cpu, memory), workload);
}

inline Pod test_pod(PodId id, std::shared_ptr<const PodTemplate> shape) {
  Pod pod;
  pod.id = id;
  pod.name = "pod-" + std::to_string(id.slot) + "-" + std::to_string(id.generation);
  pod.shape = std::move(shape);
  return pod;
}

}  // namespace evenkeel
