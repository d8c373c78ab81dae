#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cluster/agent_messages.h"
#include "cluster/cluster_state.h"
#include "learning/model_file.h"
#include "learning/real.h"
#include "prediction/workload_history.h"
#include "scheduling/node_forecasts.h"
#include "scheduling/placement_request.h"

namespace evenkeel::scheduling {

// What one agent of a distributed scheduler sees, and how that becomes its network's inputs. All of it comes
// from its own node, from what the leader tells everybody (ClusterShares) and from the question itself: no
// other node's details are in it, so that the agent in the simulator is the agent on a node.

// What an agent knows of its own node.
struct OwnNode {
  static constexpr std::size_t kMoments = NodeForecasts::kPoints;

  Usage capacity;  // a dimension without any counts as unused
  Usage used;      // now: the last samples, and pods on their way that no sample shows yet
  Usage base;      // of that, what no pod explains
  bool healthy = true;
  double pods = 0, pod_capacity = 110;
  // `used` at later moments, those left out that will have ended by then; and how much later these are.
  std::array<Usage, kMoments> ahead;
  std::array<double, kMoments> ahead_s{};
};

// The whole view. The question's `delay` is meant from this node.
struct AgentView {
  OwnNode node;
  ClusterShares cluster;
  PodQuestion pod;
};

// For an agent that keeps a ClusterState of at least its own node: what that says.
// `own_node_now` leaves out what needs a look at every pod: `ahead` is `used`.
OwnNode own_node_now(const ClusterState& cluster, NodeId node);
OwnNode own_node(const ClusterState& cluster, const prediction::WorkloadHistory& history, NodeId node,
                 Time now, Duration horizon);
// For whoever knows all nodes: what is told to everybody.
ClusterShares cluster_shares(const ClusterState& cluster);
// The pod as it is told to agents. `delay` stays 0: it differs from node to node.
PodQuestion pod_question(const PlacementRequest& request);
// A handle as a key and back, where there are no UIDs.
PodKey pod_key(PodId pod);
PodId pod_id(const PodKey& key);

std::array<double, kDimensions> shares_used(const OwnNode& node);
std::array<double, kDimensions> shares_used(const ClusterShares& cluster);
// CPU, memory and disk: the thesis's three. Of reading and writing the fuller.
std::array<double, 3> disk_as_one(const std::array<double, kDimensions>& shares);

// Which of the two encodings.
enum class MarlEncoding {
  thesis,  // 12 entries as its log shows them: five local, three global, two of the pod, two left over
  shared,  // ours
};
std::string_view encoding_name(MarlEncoding encoding);  // of models
std::size_t input_count(MarlEncoding encoding);
std::vector<learning::FeatureRange> marl_normalisation(MarlEncoding encoding);

struct MarlInputs {
  MarlEncoding encoding = MarlEncoding::thesis;
  // The thesis's last two entries are empty in its log; its abstract names what could be in them. Ours always
  // has both.
  bool delay = false, priority = false;
};
// Every input is finite and within kInputLimit, whatever a metric claims; what is no number counts as 0.
inline constexpr double kInputLimit = 4;
void encode(const AgentView& view, const MarlInputs& inputs, std::span<learning::Real> into);
std::vector<learning::Real> encode(const AgentView& view, const MarlInputs& inputs);

}  // namespace evenkeel::scheduling
