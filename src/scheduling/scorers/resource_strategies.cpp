// NodeResourcesFit's and NodeResourcesBalancedAllocation's scores for whatever resources and strategy
// the profile names. The default (cpu and memory, alike) goes by the columns in allocation.cpp.
#include <algorithm>
#include <cmath>

#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

bool is_default(const std::vector<ResourceWeight>& resources) {
  static const std::vector<ResourceWeight> kDefault = {{"cpu", 1}, {"memory", 1}};
  return resources == kDefault;
}

std::int64_t amount(const Resources& resources, const std::string& name) {
  if (name == "cpu") return resources.cpu.count;
  if (name == "memory") return resources.memory.count;
  if (name == "ephemeral-storage") return resources.ephemeral_storage.count;
  return resources.extended_count(name);
}

bool is_scalar(const std::string& name) {
  return name != "cpu" && name != "memory" && name != "ephemeral-storage";
}

enum class Counted { non_zero, real };

struct Shares {
  std::vector<std::int64_t> allocated, requested, allocatable;  // 0 allocatable: not counted
};

Shares shares(const PlacementRequest& request, const std::vector<ResourceWeight>& resources, NodeId node,
              Counted counted) {
  const NodeColumns& c = request.cluster.columns();
  const PodTemplate& shape = *request.pod.shape;
  const Node& has = request.cluster.node(node);
  Shares found;
  for (const auto& [name, weight] : resources) {
    std::int64_t asked = amount(shape.request, name), allocatable = amount(has.allocatable, name);
    std::int64_t allocated = 0;
    if (name == "cpu" || name == "memory") {
      const bool cpu = name == "cpu";
      if (counted == Counted::non_zero) {
        asked = cpu ? shape.scored.cpu.count : shape.scored.memory.count;
        const double room = cpu ? c.room_cpu[node.slot] : c.room_memory[node.slot];
        allocated = allocatable - static_cast<std::int64_t>(room);
      } else {
        allocated =
            static_cast<std::int64_t>(cpu ? c.requested_cpu[node.slot] : c.requested_memory[node.slot]);
      }
    } else {
      allocated = amount(request.cluster.requested(node), name);
    }
    if ((asked == 0 && is_scalar(name)) || allocatable == 0) asked = allocated = allocatable = 0;
    found.allocated.push_back(allocated);
    found.requested.push_back(allocated + asked);
    found.allocatable.push_back(allocatable);
  }
  return found;
}

std::int64_t on_shape(const std::vector<UtilizationPoint>& shape, std::int64_t at) {
  constexpr std::int64_t kScale = 10;  // the API's 0..10 to 0..100
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (at > shape[i].utilization) continue;
    if (i == 0) return shape[0].score * kScale;
    const UtilizationPoint &from = shape[i - 1], &to = shape[i];
    return from.score * kScale +
           (to.score - from.score) * kScale * (at - from.utilization) / (to.utilization - from.utilization);
  }
  return shape.empty() ? 0 : shape.back().score * kScale;
}

std::int64_t resource_score(const Profile& profile, std::int64_t requested, std::int64_t allocatable) {
  switch (profile.fit) {
    case FitStrategy::least_allocated:
      return requested > allocatable ? 0 : (allocatable - requested) * 100 / allocatable;
    case FitStrategy::most_allocated:
      return std::min(requested, allocatable) * 100 / allocatable;
    case FitStrategy::requested_to_capacity_ratio:
      return on_shape(profile.fit_shape, requested > allocatable ? 100 : requested * 100 / allocatable);
  }
  return 0;
}

std::int64_t node_score(const Profile& profile, const Shares& node) {
  const bool by_shape = profile.fit == FitStrategy::requested_to_capacity_ratio;
  std::int64_t sum = 0, weights = 0;
  for (std::size_t i = 0; i < node.requested.size(); ++i) {
    if (node.allocatable[i] == 0) continue;
    const std::int64_t score = resource_score(profile, node.requested[i], node.allocatable[i]);
    if (by_shape && score <= 0) continue;
    sum += score * profile.fit_resources[i].weight;
    weights += profile.fit_resources[i].weight;
  }
  if (weights == 0) return 0;
  return by_shape ? std::llround(static_cast<double>(sum) / static_cast<double>(weights)) : sum / weights;
}

std::int64_t balance(const std::vector<std::int64_t>& requested,
                     const std::vector<std::int64_t>& allocatable) {
  std::vector<double> fractions;
  double total = 0, deviation = 0;
  for (std::size_t i = 0; i < requested.size(); ++i) {
    if (allocatable[i] == 0) continue;
    fractions.push_back(
        std::min(1.0, static_cast<double>(requested[i]) / static_cast<double>(allocatable[i])));
    total += fractions.back();
  }
  if (fractions.size() == 2) {
    deviation = std::fabs((fractions[0] - fractions[1]) / 2);
  } else if (fractions.size() > 2) {
    const double mean = total / static_cast<double>(fractions.size());
    double sum = 0;
    for (const double fraction : fractions) sum = sum + (fraction - mean) * (fraction - mean);
    deviation = std::sqrt(sum / static_cast<double>(fractions.size()));
  }
  return static_cast<std::int64_t>((1 - deviation) * 100.0);
}

template <class Score>
void for_each_feasible(const PlacementRequest& request, float weight, std::span<float> totals, Score score) {
  for (std::uint32_t slot = 0; slot < totals.size(); ++slot)
    if (request.feasible[slot]) totals[slot] += weight * static_cast<float>(score(NodeId{slot}));
}

}  // namespace

void fit_score(const PlacementRequest& request, float weight, std::span<float> totals) {
  const Profile& profile = request.options.profile;
  const bool plain = is_default(profile.fit_resources);
  if (plain && profile.fit == FitStrategy::least_allocated) return least_allocated(request, weight, totals);
  if (plain && profile.fit == FitStrategy::most_allocated) return most_allocated(request, weight, totals);
  for_each_feasible(request, weight, totals, [&](NodeId node) {
    return node_score(profile, shares(request, profile.fit_resources, node, Counted::non_zero));
  });
}

void balanced_score(const PlacementRequest& request, float weight, std::span<float> totals) {
  const auto& resources = request.options.profile.balanced_resources;
  if (is_default(resources)) return balanced_allocation_1_36(request, weight, totals);
  for_each_feasible(request, weight, totals, [&](NodeId node) {
    const Shares found = shares(request, resources, node, Counted::real);
    const std::int64_t with = balance(found.requested, found.allocatable);
    return 50 + (50 + with - balance(found.allocated, found.allocatable)) / 2;
  });
}

bool asks_for_balanced_resources(const PlacementRequest& request) {
  const auto& resources = request.options.profile.balanced_resources;
  if (is_default(resources)) return requests_something(request);
  return std::any_of(resources.begin(), resources.end(), [&](const ResourceWeight& resource) {
    return amount(request.pod.shape->request, resource.name) != 0;
  });
}

}  // namespace evenkeel::scheduling
