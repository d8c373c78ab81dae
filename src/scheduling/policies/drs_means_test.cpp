#include "scheduling/policies/drs_means.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduling/policies/registry.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

// Scores a node by minus what it changes in the deviation of work.
learning::SharedScorer repaying() {
  learning::SharedScorer scorer(DrsMeans::shape({6}));
  const auto parameters = scorer.parameters();
  const auto& layers = scorer.network().layers();
  for (std::size_t k = 0; k < 6; ++k) {
    parameters[layers[0].weights + k * 6 + k] = 1;
    parameters[layers[0].biases + k] = 10;  // far from where ReLU bends
    parameters[layers[1].weights + k] = -1;
  }
  return scorer;
}

TEST(DrsMeans, KnowsWhatAPodChangesInTheDeviation) {
  const std::vector<NodeMetrics> values = {{0.2}, {0.6}}, added = {{0.4}, {0.4}};
  const std::vector<NodeMetrics> changes = deviation_changes(values, added);
  EXPECT_NEAR(changes[0][0], 0 - 0.2, 1e-12);    // 0.6 and 0.6
  EXPECT_NEAR(changes[1][0], 0.4 - 0.2, 1e-12);  // 0.2 and 1.0
  EXPECT_EQ(changes[0][1], 0);
}

TEST(DrsMeans, SendsPodsWhereLessWasDoneThoughBothNodesAreIdleNow) {
  TestCluster cluster(2);
  DrsMeans policy(repaying());
  const Pod pod = pod_with(spec_asking(1000, 1 << 20), {1});
  Random random(1);
  cluster.measure();
  const auto busy = [&](double first, double second) {
    cluster.state.set_base_load({0}, Usage{{first, 0, 0, 0, 0, 0}}, cluster.now);
    cluster.state.set_base_load({1}, Usage{{second, 0, 0, 0, 0, 0}}, cluster.now);
    policy.review({cluster.state, cluster.history, cluster.options, cluster.now}, random);
    cluster.now += 5s;
  };
  for (int i = 0; i < 10; ++i) busy(3, 0);
  busy(0, 0);
  EXPECT_EQ(policy.choose(cluster.question(pod), random)->slot, 1U);
  EXPECT_EQ(policy.explain(cluster.question(pod)).rows.front().node.slot, 1U);
  for (int i = 0; i < 40; ++i) busy(0, 3);
  busy(0, 0);
  EXPECT_EQ(policy.choose(cluster.question(pod), random)->slot, 0U);
}

TEST(DrsMeans, ExplainsWithoutChangingWhatItKnows) {
  TestCluster cluster(3);
  cluster.measure(Usage{{1, 0, 0, 0, 0, 0}});
  DrsMeans asked(repaying()), left_alone(repaying());
  const Pod pod = pod_with(spec_asking(1000, 1 << 20), {1});
  for (int i = 0; i < 5; ++i) {
    cluster.now += 1s;
    cluster.state.set_base_load({0}, Usage{{3.0 - i, 0, 0, 0, 0, 0}}, cluster.now);
    asked.explain(cluster.question(pod));
    Random one(1), other(1);
    EXPECT_EQ(asked.choose(cluster.question(pod), one), left_alone.choose(cluster.question(pod), other));
  }
}

TEST(DrsMeans, ServesAnyNumberOfNodesComingAndGoing) {
  for (const std::uint32_t nodes : {1U, 4U, 100U}) {
    TestCluster cluster(nodes);
    cluster.measure();
    DrsMeans policy(repaying());
    const Pod pod = pod_with(spec_asking(100, 1 << 20), {1});
    Random random(1);
    ASSERT_TRUE(policy.choose(cluster.question(pod), random));
    cluster.now += 1min;
    cluster.state.set_node(test_node(nodes + 3));
    cluster.state.remove_node({0});
    cluster.measure();
    const PlacementRequest question = cluster.question(pod);
    const auto chosen = policy.choose(question, random);
    ASSERT_TRUE(chosen && question.feasible[chosen->slot]) << nodes;
  }
}

TEST(DrsMeans, DecidesByKubeDefaultWithoutAModelOrWhereAMetricIsNoNumber) {
  TestCluster cluster(2);
  cluster.add_running({0}, shape_asking(3000, 1 << 30));
  cluster.measure();
  const Pod pod = pod_with(spec_asking(500, 1 << 20), {1});
  Random random(1);
  DrsMeans without, with(repaying());
  EXPECT_EQ(without.explain(cluster.question(pod)).terms.size(),
            WeightedScores().explain(cluster.question(pod)).terms.size());
  EXPECT_EQ(without.choose(cluster.question(pod), random)->slot, 1U);
  cluster.state.set_base_load({0}, Usage{{std::nan(""), 0, 0, 0, 0, 0}}, cluster.now);
  EXPECT_NE(with.explain(cluster.question(pod)).terms.front(), "score");
}

TEST(DrsMeans, TakesItsOwnModelsAndRefusesOthersByName) {
  const learning::Model model = DrsMeans::model_of(repaying());
  const auto policy = DrsMeans::from_model(model);
  ASSERT_TRUE(policy);
  learning::Model other = model;
  other.encoding = "ppo-lrt";
  const auto refused = DrsMeans::from_model(other);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'ppo-lrt'"), std::string::npos);
  learning::Model narrow = model;
  narrow.networks[0].shape.inputs = 3;
  EXPECT_FALSE(DrsMeans::from_model(narrow));
}

}  // namespace
}  // namespace evenkeel::scheduling
