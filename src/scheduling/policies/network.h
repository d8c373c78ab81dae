#pragma once
#include "scheduling/policies/horizon.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {

// `network`: pods that talk to each other go where talking costs least; among nodes that are as near, where
// kube-scheduler's plugins and the load say. One sum, each part explained:
//
//   25 x NetworkScore   the share of the dearest candidate's cost that a node saves: Diktyo's eq. 7 and 8
//   over all
//                       edges of the pod, incoming and outgoing, each once for each pair of pods
//                       (pod_network.h)
//    1 x plugin         each of the profile's, by its own weight; in the default profile twelve together
//    6 x Load           where load is known: how even the cluster stays (horizon.h), stretched over 0 to 100
//
// To save an eighth of the dearest candidate's cost thus outweighs the whole range of any one plugin, to save
// half of it all of them together. Its filter, NetworkFit, keeps limits and bandwidth; its queue is in
// topological order within a priority.
//
// Assumes: costs add up over edges, and every pair of replicas talks. Deviates from the paper, which sums the
// dependencies of the pod at hand alone: what is placed first would never be drawn to what depends on it.
class Network final : public PlacementPolicy {
 public:
  static constexpr std::int32_t kNetworkWeight = 25;
  static constexpr double kLoadWeight = 6;

  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  std::span<const float> scores(const PlacementRequest& request) override;

 private:
  void rate_load(const PlacementRequest& request, Column<float>& part);

  WeightedScores plugins_;
  Horizon load_;
  Column<float> total_, part_;
};

// What the policies need of the profile they are laid over.
void prepare_network(SchedulingOptions& options);
// `diktyo`: upstream's shipped profile, NetworkOverhead with a weight of 5 in place of NodeResourcesFit's
// score.
void prepare_diktyo(SchedulingOptions& options);

}  // namespace evenkeel::scheduling
