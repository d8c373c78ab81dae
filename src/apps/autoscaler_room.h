#pragma once
#include <functional>
#include <memory>
#include <string>

#include "autoscaling/cluster_room.h"
#include "kubernetes/cluster_follower.h"

namespace evenkeel::apps {

// What the autoscaler knows of the nodes under its workloads: the cluster, followed as a scheduler follows
// it, behind the question whether replicas fit and who had better leave. Without the rights for that, it says
// so and nobody is held back.
class LiveRoom {
 public:
  using Log = std::function<void(const std::string&)>;

  LiveRoom(kubernetes::ApiConnection& connection, autoscaling::ClusterRoom::Options options,
           std::uint64_t seed, Log log);

  kubernetes::ClusterFollower& follower() { return follower_; }
  autoscaling::ClusterRoom& room() { return room_; }
  void start() { follower_.start(); }
  // Before every decision: what happened to the cluster, and what workloads were seen to use.
  void catch_up();
  void reported(const ServiceReport& report, const ScalerSpec& spec);

 private:
  void say_what_is_known();

  kubernetes::ApiConnection& connection_;
  autoscaling::ClusterRoom::Options options_;
  Log log_;
  kubernetes::ClusterFollower follower_;
  autoscaling::ClusterRoom room_;
  Time started_;
  std::string said_;
};

}  // namespace evenkeel::apps
