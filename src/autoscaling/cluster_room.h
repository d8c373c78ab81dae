#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "autoscaling/imagination.h"
#include "autoscaling/placement.h"
#include "base/random.h"
#include "cluster/cluster_state.h"
#include "prediction/workload_history.h"
#include "scheduling/policies/policy.h"
#include "scheduling/run_estimates.h"

namespace evenkeel::autoscaling {

// The cluster as the scheduler sees it, for the autoscaler: told the same facts, asked by the same filters.
// Replicas are imagined onto nodes one after the other, as they would be scheduled: after the pods that wait
// already and rank no lower, and after replicas that were asked for and have no pods yet.
class ClusterRoom final : public PlacementAdviser {
 public:
  struct Options {
    bool room = true;     // false: nobody is held back; a node autoscaler makes room for pods that wait
    bool leavers = true;  // false: who leaves is left to whoever ends pods
  };
  explicit ClusterRoom(Options options);
  ~ClusterRoom() override;

  void observe(const ClusterEvent& event, Time now);
  // Until everything was listed, and without the right to: why nothing is known. Empty: it is.
  void set_blind(std::string why) { blind_ = std::move(why); }
  const std::string& blind() const { return blind_; }
  // What its pods were seen to use of CPU counts on their nodes instead of what they ask for.
  void note_usage(const ServiceReport& report, const ScalerSpec& spec);

  Room room_for(const ScalingRequest& request, std::int32_t more) override;
  Leavers leavers_of(const ScalingRequest& request, std::int32_t fewer) override;
  void promised(const ScalingRequest& request, std::int32_t more) override;

  const ClusterState& cluster() const { return state_; }

 private:
  struct Promise {
    std::shared_ptr<const PodTemplate> shape;
    std::int32_t missing = 0;
    Time until{};
  };

  void appeared(const Pod& pod);
  void forget(PodId pod);
  const PodRecord* find(const std::string& name_space, const std::string& name) const;
  std::shared_ptr<const PodTemplate> shape_of(const ScalingRequest& request) const;
  std::string unknown_for(const ScalingRequest& request, const PodTemplate* shape) const;
  void place_others(Imagination& imagination, const ScalingRequest& request, std::int32_t priority);

  Options options_;
  std::string blind_ = "the cluster was not listed yet";
  ClusterState state_;
  prediction::WorkloadHistory history_;
  scheduling::RunEstimates runs_;
  scheduling::SchedulingOptions scheduling_;
  std::unique_ptr<scheduling::PlacementPolicy> policy_;
  Random random_{1};                                // between equals, as a scheduler draws lots
  std::unordered_map<std::string, PodId> by_name_;  // namespace/name
  std::set<PodId> waiting_;
  std::uint32_t slots_ = 0;  // below that are pods that were told of
  std::map<ScalerId, Promise> promises_;
};

}  // namespace evenkeel::autoscaling
