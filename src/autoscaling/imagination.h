#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "cluster/cluster_state.h"
#include "prediction/workload_history.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::autoscaling {

// Pods that a scheduler would place, one after the other, each seeing those before it; the cluster is left as
// it was found.
class Imagination {
 public:
  struct Setting {
    ClusterState& cluster;
    const prediction::WorkloadHistory& history;
    const scheduling::RunEstimates& runs;
    const scheduling::SchedulingOptions& options;
    scheduling::PlacementPolicy& policy;
    Random& random;
    Time now;
    std::uint32_t free_slot;  // from here on no pod is known
  };
  explicit Imagination(const Setting& setting) : setting_(setting) {}
  ~Imagination();
  Imagination(const Imagination&) = delete;
  Imagination& operator=(const Imagination&) = delete;

  // Where it would go; nowhere: `why` says why, as the scheduler would.
  std::optional<NodeId> place(const Pod& waiting);
  std::optional<NodeId> place(const std::shared_ptr<const PodTemplate>& shape);
  const std::string& why() const { return why_; }
  std::size_t victims() const { return victims_; }  // pods of lower priority that would have to leave

 private:
  // What is to be undone.
  struct Taken {
    PodRecord record;  // of a pod that was ended
  };
  struct Placed {
    PodId pod;
  };
  struct Made {
    PodId pod;
  };
  using Step = std::variant<Taken, Placed, Made>;
  std::optional<NodeId> choose(const Pod& pod);
  std::optional<NodeId> make_room(const Pod& pod, const Demand& demand);

  Setting setting_;
  std::vector<Step> steps_;  // to be taken back, the last first
  std::string why_;
  std::size_t victims_ = 0;
};

}  // namespace evenkeel::autoscaling
