#include "scheduling/policies/task_topology.h"

#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

// A group whose workloads talk as the pairs say, and its pods, one after the other.
class Rollout {
 public:
  TestCluster cluster;
  TaskTopology policy;

  explicit Rollout(std::uint32_t nodes, std::int64_t cpu = 4000) {
    for (std::uint32_t slot = 0; slot < nodes; ++slot) cluster.state.set_node(test_node(slot, cpu));
  }
  void group(std::vector<std::pair<std::string, std::string>> edges) {
    AppGroup group;
    group.name_space = "default";
    group.name = "shop";
    for (const auto& [from, to] : edges) {
      AppWorkload& workload = group.workloads.emplace_back();
      workload.workload.selector = from;
      workload.dependencies.emplace_back().workload.selector = to;
    }
    cluster.state.set_object(group);
  }
  Pod add(const std::string& workload, bool alone = false, std::int64_t cpu = 1000) {
    const Labels labels{{std::string(kAppGroupLabel), "shop"}, {std::string(kAppWorkloadLabel), workload}};
    PodSpec spec = spec_asking(cpu, 1 << 20);
    if (alone) {
      PodAffinityTerm rule;
      rule.selector.emplace().requirements.push_back(
          {std::string(kAppWorkloadLabel), SelectorOperator::in, {workload}});
      rule.topology_key = "kubernetes.io/hostname";
      spec.pod_anti_affinity.required.push_back(rule);
    }
    Pod pod =
        test_pod({next_, 1}, std::make_shared<PodTemplate>("default", labels, std::vector<OwnerReference>{},
                                                           WorkloadId{}, std::move(spec)));
    pod.name = workload + std::to_string(next_++);
    cluster.state.add_pending(pod);
    return pod;
  }
  void place(const Pod& pod, NodeId node) { cluster.state.assume(pod.id, node, {}, cluster.now); }
  std::vector<float> scores(const Pod& pod) {
    const std::span<const float> rated = policy.scores(cluster.question(pod));
    return {rated.begin(), rated.end()};
  }

 private:
  std::uint32_t next_ = 1;
};

TEST(TaskTopology, ValuesANodeByHowMuchOfTheBucketFitsThere) {
  Rollout rollout(1, 4000);
  rollout.cluster.state.set_node(test_node(1, 2000));
  rollout.group({{"a", "b"}, {"b", "c"}});
  const Pod first = rollout.add("a");
  rollout.add("b");
  rollout.add("c");
  const std::vector<float> scores = rollout.scores(first);
  EXPECT_FLOAT_EQ(scores[0], 100);         // all three
  EXPECT_FLOAT_EQ(scores[1], 200.0F / 3);  // it and one more
}

TEST(TaskTopology, FollowsThoseOfItsBucketThatAreThere) {
  Rollout rollout(2);
  rollout.group({{"a", "b"}});
  const Pod a = rollout.add("a"), b = rollout.add("b");
  rollout.scores(a);  // the session opens
  rollout.place(a, {1});
  const std::vector<float> scores = rollout.scores(b);
  EXPECT_GT(scores[1], scores[0]);
}

TEST(TaskTopology, DoesNotSeeHowFarNodesAre) {
  Rollout rollout(3);
  Node near = test_node(1), far = test_node(2), home = test_node(0);
  home.labels.set(kZoneLabel, "z1");
  near.labels.set(kZoneLabel, "z1");
  far.labels.set(kZoneLabel, "z2");
  home.allocatable.cpu = {1000};
  for (const Node& node : {home, near, far}) rollout.cluster.state.set_node(node);
  rollout.group({{"a", "b"}});
  const Pod a = rollout.add("a"), b = rollout.add("b");
  rollout.scores(a);
  rollout.place(a, {0});
  const std::vector<float> scores = rollout.scores(b);
  EXPECT_EQ(scores[1], scores[2]);
}

TEST(TaskTopology, GivesPodsThatMustBeAloneBucketsOfTheirOwn) {
  Rollout rollout(2);
  rollout.group({{"a", "b"}});
  const Pod a1 = rollout.add("a", true), a2 = rollout.add("a", true), b1 = rollout.add("b"),
            b2 = rollout.add("b");
  rollout.scores(a1);
  rollout.place(a1, {0});
  // a2 has a bucket with one of the b, and its like is on the first node; the filter forbids it anyway.
  const std::vector<float> scores = rollout.scores(a2);
  EXPECT_GT(scores[1], 0);
  rollout.place(a2, {1});
  // One b is in each bucket: they part as the a did.
  const std::vector<float> first = rollout.scores(b1), second = rollout.scores(b2);
  EXPECT_NE(first[0] > first[1], second[0] > second[1]);
}

TEST(TaskTopology, HasNothingToSayOfPodsInNoGroupOrWithoutTies) {
  Rollout rollout(2);
  rollout.group({{"a", "b"}});
  const Pod loose = rollout.add("c");
  EXPECT_EQ(rollout.scores(loose), (std::vector<float>{0, 0}));
  const Pod other = test_pod({50, 1}, shape_asking(1000, 1 << 20));
  EXPECT_EQ(rollout.scores(other), (std::vector<float>{0, 0}));
  Random random(1);
  EXPECT_TRUE(rollout.policy.choose(rollout.cluster.question(other), random));
}

TEST(TaskTopology, SortsAnewWhenAPodComesThatIsInNoBucket) {
  Rollout rollout(2);
  rollout.group({{"a", "b"}});
  const Pod a = rollout.add("a");
  rollout.scores(a);
  rollout.place(a, {1});
  const Pod late = rollout.add("b");
  const std::vector<float> scores = rollout.scores(late);
  EXPECT_GT(scores[1], scores[0]);
}

}  // namespace
}  // namespace evenkeel::scheduling
