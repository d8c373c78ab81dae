#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/app_group.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

// `task-topology`: the rule of Volcano's plugin of that name, on AppGroups. A group's pods are sorted into
// buckets, each pod to the one where most of those are that it talks to; a node is worth as much as it holds
// of the pod's bucket, plus as many of those still waiting as would fit beside it.
//
// Assumes: who talks to whom is all that counts; how far nodes are from each other is not looked at. A
// dependency is an affinity of the two workloads, a required rule of a workload against its own pods (by
// node) an anti-affinity. Buckets are made when a pod is first asked about and kept until one comes that is
// in none: Volcano makes them once per session. Its order of tasks (big buckets first) is left to the queue:
// without anti-affinity there is one bucket, and nothing to order.
class TaskTopology final : public PlacementPolicy {
 public:
  std::optional<NodeId> choose(const PlacementRequest& request, Random& random) override;
  ScoreSheet explain(const PlacementRequest& request) override;
  std::span<const float> scores(const PlacementRequest& request) override;

 private:
  // Whom a workload likes and dislikes to be beside.
  struct Affinities {
    std::map<std::string, std::vector<std::string>, std::less<>> likes;  // by selector, sorted
    std::vector<std::string> solitary;                                   // dislike their own kind; sorted
    bool like(std::string_view a, std::string_view b) const;
    bool dislike(std::string_view a, std::string_view b) const;
  };
  struct Bucket {
    std::vector<PodId> pods;
    std::map<std::string, int, std::less<>> workloads;  // how many pods of each
    double request = 0;                                 // CPU in m and memory in MiB, of those that wait
  };
  struct Group {
    Affinities affinities;
    std::vector<Bucket> buckets;
    std::map<PodId, std::size_t> bucket_of;
    std::size_t largest = 0;
    std::uint64_t version = 0;
  };

  const Group* group_of(const PlacementRequest& request);
  static Affinities affinities_of(const AppGroup& group, const PlacementRequest& request,
                                  std::span<const PodId> members);
  static void fill_buckets(Group& group, const PlacementRequest& request, std::span<const PodId> members);

  std::map<std::string, Group, std::less<>> groups_;
  std::vector<float> scores_;
};

}  // namespace evenkeel::scheduling
