#include "scheduling/policies/blended_scores.h"

#include <gtest/gtest.h>

#include "scheduling/policies/registry.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

TestCluster random_cluster(Random& random, std::uint32_t nodes) {
  TestCluster cluster;
  for (std::uint32_t slot = 0; slot < nodes; ++slot) {
    Node node = test_node(slot, 1000 * static_cast<std::int64_t>(2 + random.below(15)));
    if (random.below(5) == 0) node.taints = {{"spot", "", TaintEffect::prefer_no_schedule}};
    node.unschedulable = random.below(8) == 0 && slot > 0;
    cluster.state.set_node(node);
    for (std::uint64_t i = 0; i < random.below(4); ++i)
      cluster.add_running({slot},
                          shape_asking(static_cast<std::int64_t>(100 * random.below(4)), 1 << 20,
                                       {static_cast<std::uint32_t>(random.below(6))}),
                          Usage{{random.between(0, 0.9), random.between(0, 1e9), 1e6, 1e6, 0, 0}},
                          random.between(0, 100));
  }
  for (int i = 0; i < 20; ++i)
    cluster.history.observe_end(pod_with(spec_asking(100, 1), {1}), std::chrono::seconds{60});
  if (random.below(6) != 0) cluster.measure(Usage{{0.05, 1e8, 0, 0, 0, 0}});
  return cluster;
}

// As it was chosen from the score sheet before there were scores.
NodeId chosen_from_sheet(BlendedScores& policy, const PlacementRequest& request, Random& random) {
  const ScoreSheet sheet = policy.explain(request);
  std::size_t best = 1;
  while (best < sheet.rows.size() && sheet.rows[best].total == sheet.rows[0].total) ++best;
  return sheet.rows[best == 1 ? 0 : static_cast<std::size_t>(random.below(best))].node;
}

class BlendedPolicies : public testing::TestWithParam<const char*> {};

TEST_P(BlendedPolicies, ChooseByScoresWhatTheirSheetSays) {
  Random random(5);
  for (int round = 0; round < 120; ++round) {
    const std::uint32_t nodes = round % 10 == 0 ? 700 : static_cast<std::uint32_t>(1 + random.below(40));
    TestCluster cluster = random_cluster(random, nodes);
    PolicySetup setup = *set_up_policy(GetParam(), {});
    BlendedScores policy("Evenkeel", static_cast<double>(1 + random.below(100)), std::move(setup.policy));
    const Pod pod = pod_with(spec_asking(100, 1 << 20), {static_cast<std::uint32_t>(random.below(3))});
    const PlacementRequest question = cluster.question(pod);
    ASSERT_GT(question.feasible_count, 0U);
    ASSERT_FALSE(policy.scores(question).empty());
    Random lots(static_cast<std::uint64_t>(round)), same_lots(static_cast<std::uint64_t>(round));
    const NodeId by_sheet = chosen_from_sheet(policy, question, same_lots);
    EXPECT_EQ(*policy.choose(question, lots), by_sheet) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(BlendedScores, BlendedPolicies,
                         testing::Values("horizon", "greedy", "kube-default", "evenkeel"));

TEST(BlendedScores, AskTheSheetOfAPolicyWithoutScores) {
  TestCluster cluster(4);
  cluster.measure();
  PolicySetup setup = *set_up_policy("round-robin", {});
  BlendedScores policy("Evenkeel", 100, std::move(setup.policy));
  const Pod pod = pod_with(spec_asking(100, 1));
  Random random(1);
  EXPECT_TRUE(policy.scores(cluster.question(pod)).empty());
  EXPECT_TRUE(policy.choose(cluster.question(pod), random));
}

}  // namespace
}  // namespace evenkeel::scheduling
