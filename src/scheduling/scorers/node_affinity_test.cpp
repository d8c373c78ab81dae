// Worked by hand from kube-scheduler's rule: the sum of the weights of the preferred terms that
// match, 100 * sum / most, in whole numbers.
#include <gtest/gtest.h>

#include "scheduling/scorers/scorer.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

PreferredNodeTerm prefers(std::int32_t weight, const std::string& key) {
  return {weight, {{{key, SelectorOperator::exists, {}}}, {}}};
}

std::vector<float> scores(const std::vector<PreferredNodeTerm>& preferred, bool third_is_feasible = true) {
  TestCluster cluster;
  const Labels labels[] = {
      {{"ssd", ""}}, {{"ssd", ""}, {"gpu", ""}}, {{"ssd", ""}, {"gpu", ""}, {"ib", ""}}, {}};
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    Node node = test_node(slot);
    node.labels = labels[slot];
    node.unschedulable = slot == 2 && !third_is_feasible;
    cluster.state.set_node(node);
  }
  PodSpec spec;
  spec.node_affinity.preferred = preferred;
  const Pod pod = pod_with(spec);
  std::vector<float> totals(4);
  node_affinity(cluster.question(pod), 1, totals);
  return totals;
}

TEST(NodeAffinityScore, AddsTheWeightsOfTheTermsThatMatch) {
  // 2, 2 + 3, 2 + 3 + 4, 0 of at most 9
  EXPECT_EQ(scores({prefers(2, "ssd"), prefers(3, "gpu"), prefers(4, "ib")}),
            (std::vector<float>{22, 55, 100, 0}));
}

TEST(NodeAffinityScore, IsNothingWhereNoTermMatchesAnywhere) {
  EXPECT_EQ(scores({prefers(9, "tpu")}), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(scores({{7, {}}}), (std::vector<float>{0, 0, 0, 0}));  // an empty term selects nothing
}

TEST(NodeAffinityScore, NormalisesOverFeasibleNodesOnly) {
  const std::vector<float> found = scores({prefers(2, "ssd"), prefers(3, "gpu"), prefers(4, "ib")}, false);
  EXPECT_EQ(found[0], 40);
  EXPECT_EQ(found[1], 100);
  EXPECT_EQ(found[3], 0);
}

}  // namespace
}  // namespace evenkeel::scheduling
