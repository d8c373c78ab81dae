#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "scheduling/placement_request.h"

namespace evenkeel::scheduling {

// Rates every node column, 0 (avoid) to 100 (ideal) in whole steps, as kube-scheduler's
// plugins do, and adds weight times that to the totals; what it adds for nodes that are not
// feasible means nothing. All nodes in one call: facts about the pod are prepared once, and
// a scorer sees the whole field it has to normalise over.
struct Scorer {
  std::string_view plugin;
  float weight;
  bool (*matters)(const PlacementRequest&);  // false: the same score for every node
  void (*add)(const PlacementRequest&, float weight, std::span<float> totals);
  float idle = 0;  // the score every node has when it does not matter
};

std::span<const Scorer> kube_default_scorers(KubeVersion version);  // scorers/registry.cpp
// Those the profile names, with its weights; names nobody knows are left out.
std::vector<Scorer> profile_scorers(const SchedulingOptions& options);

// The scores of the default profile's plugins.
void least_allocated(const PlacementRequest& request, float weight, std::span<float> totals);
void most_allocated(const PlacementRequest& request, float weight, std::span<float> totals);
void balanced_allocation_1_23(const PlacementRequest& request, float weight, std::span<float> totals);
void balanced_allocation_1_36(const PlacementRequest& request, float weight, std::span<float> totals);
void taint_toleration(const PlacementRequest& request, float weight, std::span<float> totals);
void node_affinity(const PlacementRequest& request, float weight, std::span<float> totals);
void default_spreading(const PlacementRequest& request, float weight, std::span<float> totals);

bool has_prefer_no_schedule_taints(const PlacementRequest& request);
bool has_node_preferences(const PlacementRequest& request);
bool spreads_by_default(const PlacementRequest& request);
void fit_score(const PlacementRequest& request, float weight,
               std::span<float> totals);  // the profile's strategy
void balanced_score(const PlacementRequest& request, float weight, std::span<float> totals);
void topology_spread(const PlacementRequest& request, float weight, std::span<float> totals);
void inter_pod_affinity(const PlacementRequest& request, float weight, std::span<float> totals);
// NetworkOverhead's and NetworkMinCost's: upstream's cost of the pod's dependencies, the least being best.
void network_overhead(const PlacementRequest& request, float weight, std::span<float> totals);
// NetworkScore: how much of the dearest node's cost a node saves, 0 to 100.
void network_score(const PlacementRequest& request, float weight, std::span<float> totals);
bool is_of_a_group(const PlacementRequest& request);
void image_locality(const PlacementRequest& request, float weight, std::span<float> totals);

bool asks_for_balanced_resources(const PlacementRequest& request);
bool spreads_somehow(const PlacementRequest& request);
bool has_pod_preferences(const PlacementRequest& request);
bool has_known_images(const PlacementRequest& request);
bool requests_something(const PlacementRequest& request);

}  // namespace evenkeel::scheduling
