#include "scheduling/policies/ppo_lrt_state.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {
namespace {

constexpr auto kCpu = static_cast<std::size_t>(Dimension::cpu);
constexpr auto kMemory = static_cast<std::size_t>(Dimension::memory);

double cores(const NonZeroRequest& request) { return static_cast<double>(request.cpu.count) / 1000; }
double bytes(const NonZeroRequest& request) { return static_cast<double>(request.memory.count); }

}  // namespace

void UnseenPods::drop_seen(const ClusterState& cluster) {
  std::erase_if(pods_, [&](PodId id) {
    const PodRecord* record = cluster.pod(id);
    return !record || record->samples > 0;
  });
}

NodeLoads loads_of(const ClusterState& cluster, std::span<const PodId> unseen) {
  const NodeColumns& columns = cluster.columns();
  NodeLoads loads;
  std::vector<std::size_t> place(columns.size());
  for (std::uint32_t slot = 0; slot < columns.size(); ++slot) {
    if (!columns.present[slot]) continue;
    place[slot] = loads.nodes.size();
    loads.nodes.push_back({slot});
    loads.cpu.push_back(static_cast<double>(columns.utilization[kCpu][slot]));
    loads.memory.push_back(static_cast<double>(columns.utilization[kMemory][slot]));
  }
  for (const PodId id : unseen) {
    const PodRecord* record = cluster.pod(id);
    if (!record || record->place == PodPlace::pending || !cluster.has_node(record->node)) continue;
    const std::uint32_t slot = record->node.slot;
    const NonZeroRequest& asked = record->pod.shape->non_zero;
    const Usage& expected = record->expected.mean;
    loads.cpu[place[slot]] +=
        std::max(0.0, cores(asked) - expected.of[kCpu]) * static_cast<double>(columns.per_unit[kCpu][slot]);
    loads.memory[place[slot]] += std::max(0.0, bytes(asked) - expected.of[kMemory]) *
                                 static_cast<double>(columns.per_unit[kMemory][slot]);
  }
  for (std::vector<double>* column : {&loads.cpu, &loads.memory})
    for (double& load : *column) load = std::clamp(load, 0.0, kMostLoad);  // leaves a NaN one
  return loads;
}

bool believable(const NodeLoads& loads) {
  const auto is_number = [](double load) { return std::isfinite(load); };
  return std::all_of(loads.cpu.begin(), loads.cpu.end(), is_number) &&
         std::all_of(loads.memory.begin(), loads.memory.end(), is_number);
}

int ppo_lrt_inputs(std::size_t nodes) { return static_cast<int>(2 * nodes) + 3; }

std::vector<learning::Real> ppo_lrt_state(const NodeLoads& loads, const ClusterState& cluster,
                                          const PodTemplate& shape, double last_response_s) {
  std::vector<learning::Real> state;
  state.reserve(2 * loads.nodes.size() + 3);
  double most_cpu = 0, most_memory = 0;
  for (std::size_t i = 0; i < loads.nodes.size(); ++i) {
    state.push_back(loads.cpu[i]);
    state.push_back(loads.memory[i]);
    most_cpu = std::max(most_cpu, cluster.node(loads.nodes[i]).capacity.of[kCpu]);
    most_memory = std::max(most_memory, cluster.node(loads.nodes[i]).capacity.of[kMemory]);
  }
  const auto share = [](double part, double whole) {
    return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0;
  };
  state.push_back(share(cores(shape.non_zero), most_cpu));
  state.push_back(share(bytes(shape.non_zero), most_memory));
  state.push_back(share(last_response_s, kLongResponse));
  return state;
}

std::vector<learning::FeatureRange> ppo_lrt_normalisation(std::size_t nodes) {
  std::vector<learning::FeatureRange> ranges;
  for (std::size_t i = 0; i < nodes; ++i) {
    ranges.push_back({"cpu load of node " + std::to_string(i + 1), 0, 1});
    ranges.push_back({"memory load of node " + std::to_string(i + 1), 0, 1});
  }
  ranges.push_back({"cpu asked for, of the largest node", 0, 1});
  ranges.push_back({"memory asked for, of the largest node", 0, 1});
  ranges.push_back({"last response, s", 0, kLongResponse});
  return ranges;
}

}  // namespace evenkeel::scheduling
