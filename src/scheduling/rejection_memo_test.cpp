#include "scheduling/rejection_memo.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

PodSpec spec_of(std::int64_t milli_cpu, std::int32_t priority) {
  PodSpec spec = spec_asking(milli_cpu, 0);
  spec.priority = priority;
  return spec;
}

// Few nodes, full of pods of all importance, that change at random between two questions of the same kind.
class Shifting {
 public:
  explicit Shifting(std::uint64_t seed) : random(seed), cluster(6) {
    for (int i = 0; i < 40; ++i) add_pod();
    for (const std::int32_t priority : {0, 5, 10})
      kinds.push_back(test_shape(spec_of(500 + static_cast<std::int64_t>(random.below(4000)), priority)));
  }
  void add_pod() {
    const NodeId node{static_cast<std::uint32_t>(random.below(6))};
    running.push_back(cluster.add_running(node,
                                          test_shape(spec_of(static_cast<std::int64_t>(random.below(1500)),
                                                             static_cast<std::int32_t>(random.below(12)))),
                                          {}, static_cast<double>(random.below(3600))));
  }
  void change() {
    switch (random.below(5)) {
      case 0: {
        const std::size_t gone = random.below(running.size());
        cluster.state.remove_pod(running[gone]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(gone));
        return;
      }
      case 1:
        return add_pod();
      case 2: {
        Node node = test_node(static_cast<std::uint32_t>(random.below(6)));
        node.unschedulable = random.chance(0.3);
        node.allocatable.cpu = {static_cast<std::int64_t>(3000 + random.below(3000))};
        cluster.state.set_node(node);
        return;
      }
      case 3: {
        PodDisruptionBudget budget;
        budget.name_space = "default";
        budget.name = "budget";
        budget.selector = LabelSelector{{{"app", SelectorOperator::does_not_exist, {}}}};
        budget.disruptions_allowed = static_cast<std::int32_t>(random.below(3));
        cluster.state.set_object(budget);
        return;
      }
      default: {
        if (!promised) {
          promised = test_pod({900, 1}, test_shape(spec_of(1000, 20)));
          cluster.state.add_pending(*promised);
        }
        const NodeId node{static_cast<std::uint32_t>(random.below(6))};
        if (const auto before = nominations.drop(promised->id)) cluster.state.touch(*before);
        nominations.set(promised->id, node);
        cluster.state.touch(node);
        return;
      }
    }
  }

  Random random;
  TestCluster cluster;
  std::vector<PodId> running;
  std::vector<std::shared_ptr<const PodTemplate>> kinds;
  std::optional<Pod> promised;
  Nominations nominations;
};

TEST(RejectionMemo, SaysWhatJudgingEveryNodeAnewSays) {
  std::size_t victims = 0, rejections = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Shifting world(seed);
    RejectionMemo memo;
    for (int step = 0; step < 60; ++step) {
      const Pod pod = test_pod({1000, 1}, world.kinds[world.random.below(world.kinds.size())]);
      const Demand demand;
      ClusterState& state = world.cluster.state;
      const FilterInput input{pod, state, demand, world.cluster.options};
      ASSERT_TRUE(RejectionMemo::applies(input));
      const auto remembered = memo.rejection(input, state, world.nominations, 0);
      FilterSet by = 0;
      const std::string anew = unschedulable_message(input, [&](NodeId node) {
        NodeVerdict verdict = judge_with_nominated(input, state, node, world.nominations.on(node));
        for (const Objection& objection : verdict.objections) by |= filter_bit(objection.plugin);
        return verdict;
      });
      ASSERT_EQ(remembered.why, anew) << "seed " << seed << ", step " << step;
      ASSERT_EQ(remembered.by, by);
      bool fits = false;
      for (std::uint32_t slot = 0; slot < 6; ++slot)
        fits = fits ||
               judge_with_nominated(input, state, {slot}, world.nominations.on({slot})).objections.empty();
      if (!fits) {  // nobody looks for victims otherwise
        ++rejections;
        const PreemptionOutcome a = memo.preempt(input, state, world.nominations, world.cluster.now);
        const PreemptionOutcome b = preempt(input, state, world.nominations, world.cluster.now);
        ASSERT_EQ(a.message, b.message) << "seed " << seed << ", step " << step;
        ASSERT_EQ(a.victims.has_value(), b.victims.has_value());
        if (a.victims) {
          ++victims;
          ASSERT_EQ(a.victims->node, b.victims->node) << "seed " << seed << ", step " << step;
          ASSERT_EQ(a.victims->pods, b.victims->pods);
        }
      }
      for (std::size_t i = world.random.below(4); i > 0; --i) world.change();
    }
  }
  EXPECT_GT(rejections, 500U);
  EXPECT_GT(victims, 200U);
  EXPECT_GT(rejections, victims + 100);
}

TEST(RejectionMemo, LeavesPodsAloneThatLookAtMoreThanOneNode) {
  TestCluster cluster(2);
  const auto applies = [&](const PodSpec& spec) {
    const Pod pod = pod_with(spec);
    const Demand demand;
    return RejectionMemo::applies({pod, cluster.state, demand, cluster.options});
  };
  PodSpec spec = spec_asking(100, 0);
  EXPECT_TRUE(applies(spec));
  spec.spread = {{1, "zone", true, LabelSelector{}, {}, true, false, {}}};
  EXPECT_FALSE(applies(spec));
  spec = spec_asking(100, 0);
  spec.pod_anti_affinity.required = {{LabelSelector{}, {}, {}, "zone", {}, {}}};
  EXPECT_FALSE(applies(spec));
  cluster.options.by_use.on = true;
  EXPECT_FALSE(applies(spec_asking(100, 0)));
}

}  // namespace
}  // namespace evenkeel::scheduling
