#include "autoscaling/imagination.h"

#include <algorithm>
#include <limits>

#include "base/match.h"
#include "scheduling/filters/filter.h"
#include "scheduling/preemption.h"

namespace evenkeel::autoscaling {

using scheduling::FilterInput;

// Placed for the moment as if it were so: rules between pods see each of them.
Imagination::~Imagination() {
  ClusterState& cluster = setting_.cluster;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    std::visit(Match{[&](const Made& made) { cluster.remove_pod(made.pod); },
                     [&](const Placed& placed) { cluster.unassume(placed.pod); },
                     [&](const Taken& taken) {
                       const PodRecord& was = taken.record;
                       cluster.found(was.pod, was.node, was.expected, was.since);
                     }},
               *step);
}

std::optional<NodeId> Imagination::place(const std::shared_ptr<const PodTemplate>& shape) {
  Pod pod;
  pod.id = {setting_.free_slot++, std::numeric_limits<std::uint32_t>::max()};
  pod.name = "next";
  pod.shape = shape;
  pod.created = setting_.now;
  setting_.cluster.add_pending(pod);
  steps_.emplace_back(Made{pod.id});
  return place(pod);
}

std::optional<NodeId> Imagination::place(const Pod& waiting) {
  const std::optional<NodeId> node = choose(waiting);
  if (!node) return std::nullopt;
  setting_.cluster.assume(waiting.id, *node, setting_.history.demand(waiting), setting_.now);
  steps_.emplace_back(Placed{waiting.id});
  return node;
}

std::optional<NodeId> Imagination::choose(const Pod& pod) {
  const Demand demand = setting_.history.demand(pod);
  const FilterInput question{pod, setting_.cluster, demand, setting_.options};
  if (const auto refused = scheduling::refusal(question)) {
    why_ = refused->reason;
    return std::nullopt;
  }
  const auto& present = setting_.cluster.columns().present;
  std::vector<std::uint8_t> feasible(present.begin(), present.end());
  scheduling::apply_filters(question, feasible);
  const auto count = static_cast<std::size_t>(std::ranges::count(feasible, 1));
  if (count == 0) return make_room(pod, demand);
  const scheduling::PlacementRequest request{pod,           setting_.cluster, setting_.history,
                                             setting_.runs, setting_.options, setting_.now,
                                             demand,        feasible,         count};
  return setting_.policy.choose(request, setting_.random);
}

// A pod that may end others does not stay pending for want of room.
std::optional<NodeId> Imagination::make_room(const Pod& pod, const Demand& demand) {
  const FilterInput question{pod, setting_.cluster, demand, setting_.options};
  why_ = scheduling::unschedulable_message(question);
  if (pod.spec().preemption == PreemptionPolicy::never ||
      !setting_.cluster.has_pods_below(pod.spec().priority))
    return std::nullopt;
  const scheduling::PreemptionOutcome outcome = scheduling::preempt(
      question, setting_.cluster, std::span<const scheduling::Nomination>{}, setting_.now);
  if (!outcome.victims) return std::nullopt;
  for (const PodId victim : outcome.victims->pods) {
    steps_.emplace_back(Taken{*setting_.cluster.pod(victim)});
    setting_.cluster.remove_pod(victim);
  }
  victims_ += outcome.victims->pods.size();
  return outcome.victims->node;
}

}  // namespace evenkeel::autoscaling
