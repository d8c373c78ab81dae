#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "autoscaling/scaling_request.h"

namespace evenkeel::autoscaling {

// How many of the replicas that are about to be asked for would find a node.
struct Room {
  std::int32_t replicas = 0;
  std::string where{};    // "node-1 (2), node-2 (1)"
  std::string why{};      // there is none for the next; empty: all fit
  std::string unknown{};  // why nobody can tell; empty: the above is told
};

// Which of a workload's pods had better go, the first of them first.
struct Leavers {
  std::vector<std::string> pods{};
  std::string why{};  // these, or none; empty: there is nothing to say
};

// Who knows the cluster that replicas run on. Asked only when a change is about to be made.
class PlacementAdviser {
 public:
  virtual ~PlacementAdviser() = default;
  virtual Room room_for(const ScalingRequest& request, std::int32_t more) = 0;
  virtual Leavers leavers_of(const ScalingRequest& request, std::int32_t fewer) = 0;
  // So many more were asked for: until their pods are seen they take room all the same.
  virtual void promised(const ScalingRequest& request, std::int32_t more) = 0;
};

}  // namespace evenkeel::autoscaling
