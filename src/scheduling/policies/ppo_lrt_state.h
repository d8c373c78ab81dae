#pragma once
#include <span>
#include <string>
#include <vector>

#include "learning/model_file.h"
#include "learning/real.h"
#include "scheduling/placement_request.h"

namespace evenkeel::scheduling {

// What PPO-LRT sees (seed paper 001, eq. 8-10): CPU and memory load of every node, what the pod asks for, and
// how long the last pod took from creation to end.
//
// Where the paper is silent: loads are shares of the node's capacity; a pod that asks for nothing counts as
// kube-scheduler counts it (100m, 200Mi); amounts are shares of the largest node; times are shares of
// kLongResponse. A load cannot be told from a reading taken before the last pods were placed, so pods no
// reading shows yet are counted on top, by what is expected of them or what they ask for, whichever is more:
// without that, pods that come together all go to the same node.
inline constexpr double kLongResponse = 300;  // seconds, = 1 to the network
inline constexpr double kMostLoad = 2;        // of a node: more tells no more

// Load of the nodes that are there, in the order of their slots.
struct NodeLoads {
  std::vector<NodeId> nodes;
  std::vector<double> cpu, memory;
};

// Pods placed but in no reading yet.
class UnseenPods {
 public:
  void placed(PodId pod) { pods_.push_back(pod); }
  void drop_seen(const ClusterState& cluster);
  std::span<const PodId> pods() const { return pods_; }

 private:
  std::vector<PodId> pods_;
};

NodeLoads loads_of(const ClusterState& cluster, std::span<const PodId> unseen);

// Whether each load is a number. A node whose readings went stale counts by what its pods' workloads did so
// far (ClusterState::forget_samples), and the others by their readings.
bool believable(const NodeLoads& loads);

int ppo_lrt_inputs(std::size_t nodes);
std::vector<learning::Real> ppo_lrt_state(const NodeLoads& loads, const ClusterState& cluster,
                                          const PodTemplate& shape, double last_response_s);
std::vector<learning::FeatureRange> ppo_lrt_normalisation(std::size_t nodes);

// Actions (eq. 11): 2n of them, for node a / 2 and of kind mod(a, 2): 0 sends the pods there, 1 clears part
// of the load there. Read literally, a_n = [n, mod(n, 2)] would let odd nodes only be cleared and even nodes
// only be used, and have n actions where the text counts 2n.
struct PpoLrtAction {
  std::size_t node;  // among those that are there
  bool clears;

  static PpoLrtAction of(int index) { return {static_cast<std::size_t>(index) / 2, index % 2 == 1}; }
  int index() const { return static_cast<int>(2 * node) + (clears ? 1 : 0); }
};

}  // namespace evenkeel::scheduling
