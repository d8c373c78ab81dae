#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduling/filters/filter.h"
#include "scheduling/pod_network.h"
#include "scheduling/policies/policy.h"
#include "scheduling/preemption.h"

namespace evenkeel::scheduling {

// One decision with all its reasons: what `place`, `explain` and the decision journal show.
struct Decision {
  struct Rejection {
    NodeId node;
    std::vector<Objection> objections;
  };
  // What it would cost to talk, from one node: once for each pair of the pod and one that is placed.
  struct Edges {
    NodeId node;
    std::vector<std::optional<std::int64_t>> costs;  // of each of `peers`; none: unknown
    std::int64_t total = 0;                          // unknown ones counting as they do in NetworkScore
  };
  std::vector<NodeId> feasible;     // by name
  std::vector<Rejection> rejected;  // by name
  ScoreSheet scores;                // of the feasible
  std::optional<NodeId> node;
  std::string unschedulable;          // why there is none, in kube-scheduler's words
  std::optional<Victims> preemption;  // who would have to go so that there is one
  // Of a pod of an application group: whom it talks to, what that would cost from each node that will do, or
  // from each node if none does; and what is missing to say more.
  std::vector<PodEdge> peers;
  std::vector<Edges> edges;  // by name
  std::string network_missing;
};

// How a draw between nodes of the same score is settled.
enum class Ties { by_name, by_lot };

struct DecisionInput {
  const Pod& pod;
  ClusterState& cluster;  // imagined different on the way, and left as it was
  const prediction::WorkloadHistory& history;
  const RunEstimates& runs;
  const SchedulingOptions& options;
  std::span<const Nomination> nominations;  // of other pods that wait, and of this one
  Time now;
};

// Asks every filter about every node, and the policy about those that are left. Whoever acts on the answer
// assumes the pod on its node. For people: the scheduler's own path asks less and is quicker.
Decision decide(const DecisionInput& input, PlacementPolicy& policy, Ties ties, Random& random);

}  // namespace evenkeel::scheduling
