#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "autoscaling/cluster_room.h"
#include "simulator/service_world.h"

namespace evenkeel::training {

// A world of services as a cluster: its nodes and pods told to a ClusterRoom as an API server would tell
// them, before every question.
class MirroredRoom final : public autoscaling::PlacementAdviser {
 public:
  MirroredRoom(const simulator::ServiceWorld& world, const simulator::ServiceWorldPlan& plan,
               autoscaling::ClusterRoom::Options options);

  void catch_up();
  void reported(const ServiceReported& event);
  autoscaling::Room room_for(const autoscaling::ScalingRequest& request, std::int32_t more) override;
  autoscaling::Leavers leavers_of(const autoscaling::ScalingRequest& request, std::int32_t fewer) override;
  // Its pods are there at once.
  void promised(const autoscaling::ScalingRequest&, std::int32_t) override {}

 private:
  struct Known {
    PodId id;
    int node = -1;
    bool seen = false;
  };
  void look_at(std::size_t service, const simulator::Replica& replica);

  const simulator::ServiceWorld& world_;
  const simulator::ServiceWorldPlan& plan_;
  autoscaling::ClusterRoom room_;
  std::vector<std::shared_ptr<const PodTemplate>> shapes_;       // by service
  std::map<std::pair<std::size_t, std::uint64_t>, Known> pods_;  // by service and serial
  std::uint32_t slots_ = 0;
};

}  // namespace evenkeel::training
