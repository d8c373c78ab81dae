#pragma once
#include <span>
#include <string_view>

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
};

std::span<const Scorer> kube_default_scorers(KubeVersion version);  // scorers/registry.cpp

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
bool requests_something(const PlacementRequest& request);

}  // namespace evenkeel::scheduling
