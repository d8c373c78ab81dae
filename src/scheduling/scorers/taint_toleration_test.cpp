// Worked by hand from kube-scheduler's rule: count the PreferNoSchedule taints a pod does not
// tolerate, 100 - 100 * count / most, in whole numbers.
#include <gtest/gtest.h>

#include "scheduling/scorers/scorer.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using enum TaintEffect;

TestCluster with_taints(std::vector<std::vector<Taint>> taints) {
  TestCluster cluster;
  for (std::uint32_t slot = 0; slot < taints.size(); ++slot) {
    Node node = test_node(slot);
    node.taints = std::move(taints[slot]);
    cluster.state.set_node(node);
  }
  return cluster;
}

std::vector<float> scores(TestCluster& cluster, const PodSpec& spec) {
  const Pod pod = pod_with(spec);
  const PlacementRequest question = cluster.question(pod);
  std::vector<float> totals(question.feasible.size());
  taint_toleration(question, 1, totals);
  return totals;
}

TEST(TaintTolerationScore, FallsWithEveryTaintNotTolerated) {
  TestCluster cluster = with_taints(
      {{},
       {{"a", "", prefer_no_schedule}},
       {{"a", "", prefer_no_schedule}, {"b", "", prefer_no_schedule}},
       {{"a", "", prefer_no_schedule}, {"b", "", prefer_no_schedule}, {"c", "", prefer_no_schedule}}});
  EXPECT_EQ(scores(cluster, {}),
            (std::vector<float>{100, 67, 34, 0}));  // 100 - trunc(33.3), 100 - trunc(66.7)
}

TEST(TaintTolerationScore, DoesNotCountWhatIsTolerated) {
  TestCluster cluster = with_taints({{{"a", "1", prefer_no_schedule}}, {{"b", "1", prefer_no_schedule}}});
  PodSpec spec;
  spec.tolerations = {{"a", Toleration::Operator::equal, "1", prefer_no_schedule, {}}};
  EXPECT_EQ(scores(cluster, spec), (std::vector<float>{100, 0}));
  spec.tolerations.front().effect = no_schedule;  // of no use against a preference
  EXPECT_EQ(scores(cluster, spec), (std::vector<float>{0, 0}));
}

TEST(TaintTolerationScore, IsTheSameForAllWhereNobodyObjects) {
  TestCluster cluster = with_taints({{{"a", "", no_schedule}}, {}});
  PodSpec spec;
  spec.tolerations = {{"a", Toleration::Operator::exists, "", {}, {}}};
  EXPECT_EQ(scores(cluster, spec), (std::vector<float>{100, 100}));
  const Pod pod = pod_with(spec);
  EXPECT_FALSE(has_prefer_no_schedule_taints(cluster.question(pod)));
}

TEST(TaintTolerationScore, NormalisesOverFeasibleNodesOnly) {
  TestCluster cluster =
      with_taints({{{"a", "", prefer_no_schedule}},
                   {},
                   {{"a", "", prefer_no_schedule}, {"b", "", prefer_no_schedule}, {"x", "", no_schedule}}});
  const std::vector<float> found = scores(cluster, {});
  EXPECT_EQ(found[0], 0);  // the most among those that may be chosen
  EXPECT_EQ(found[1], 100);
}

TEST(TaintTolerationScore, CountsByItsWeight) {
  TestCluster cluster = with_taints({{}, {{"a", "", prefer_no_schedule}}});
  const Pod pod = pod_with({});
  std::vector<float> totals{5, 5};
  taint_toleration(cluster.question(pod), 3, totals);
  EXPECT_EQ(totals, (std::vector<float>{305, 5}));
}

}  // namespace
}  // namespace evenkeel::scheduling
