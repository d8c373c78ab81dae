#include "scheduling/policies/weighted_scores.h"

#include <gtest/gtest.h>

#include <set>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

void constant(const PlacementRequest&, float weight, std::span<float> totals) {
  for (float& total : totals) total += weight * 10;
}
void by_slot(const PlacementRequest&, float weight, std::span<float> totals) {
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += weight * static_cast<float>(i);
}
bool always(const PlacementRequest&) { return true; }
bool never(const PlacementRequest&) { return false; }

TEST(WeightedScores, AddsItsScorersByWeight) {
  TestCluster cluster(3);
  const Pod pod = pod_with(spec_asking(1, 1));
  WeightedScores policy(
      {{"constant", 2, always, constant}, {"slot", 3, always, by_slot}, {"none", 100, never, by_slot}});
  const ScoreSheet sheet = policy.explain(cluster.question(pod));
  EXPECT_EQ(sheet.terms, (std::vector<std::string>{"constant", "slot", "none"}));
  ASSERT_EQ(sheet.rows.size(), 3U);
  EXPECT_EQ(sheet.rows[0].node, NodeId{2});
  EXPECT_EQ(sheet.rows[0].parts, (std::vector<double>{20, 6, 0}));
  EXPECT_EQ(sheet.rows[0].total, 26);
  EXPECT_EQ(sheet.rows[2].total, 20);
  Random random(1);
  EXPECT_EQ(policy.choose(cluster.question(pod), random), NodeId{2});
}

TEST(WeightedScores, DrawsAmongEquals) {
  TestCluster cluster(600);
  const Pod pod = pod_with(spec_asking(1, 1));
  WeightedScores policy;
  Random random(1);
  std::set<std::uint32_t> taken;
  for (int i = 0; i < 200; ++i) taken.insert(policy.choose(cluster.question(pod), random)->slot);
  EXPECT_GT(taken.size(), 120U);
  EXPECT_LT(*taken.begin(), 30U);
  EXPECT_GT(*taken.rbegin(), 570U);
}

TEST(WeightedScores, IsTheDefaultProfileOfTheVersionAskedFor) {
  TestCluster cluster(1);
  const Pod pod = pod_with(spec_asking(1000, 1LL << 30));
  WeightedScores policy;
  // LeastAllocated: cpu 75, memory 87 -> 81. Balance 1.23: shares .25 and .125 -> 100 - 6.25 -> 93.
  // Balance 1.36: 50 + (50 + 93 - 100) / 2 = 71.5 -> 71.
  cluster.options.kube = KubeVersion::v1_23;
  EXPECT_EQ(policy.explain(cluster.question(pod)).rows.front().parts,
            (std::vector<double>{300, 0, 81, 0, 0, 93, 0}));
  cluster.options.kube = KubeVersion::v1_36;
  EXPECT_EQ(policy.explain(cluster.question(pod)).rows.front().parts,
            (std::vector<double>{300, 0, 81, 0, 0, 71, 0}));
  EXPECT_EQ(
      policy.explain(cluster.question(pod)).terms,
      (std::vector<std::string>{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread",
                                "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality"}));
}

TEST(WeightedScores, PrefersTheEmptierNode) {
  TestCluster cluster(3);
  cluster.add_running({0}, shape_asking(1000, 2LL << 30));
  cluster.add_running({2}, shape_asking(500, 1LL << 30));
  const Pod pod = pod_with(spec_asking(100, 1LL << 28));
  Random random(1);
  EXPECT_EQ(WeightedScores().choose(cluster.question(pod), random), NodeId{1});
}

TEST(WeightedScores, ExplainsTheBestFewAsItExplainsAll) {
  TestCluster cluster(20);
  for (std::uint32_t node = 0; node < 20; ++node)
    for (std::uint32_t i = 0; i < (node * 7) % 5; ++i)
      cluster.add_running({node}, shape_asking(300, 1 << 20));
  const Pod pod = test_pod({100, 1}, shape_asking(500, 1 << 20));
  const PlacementRequest question = cluster.question(pod);
  WeightedScores policy;
  const ScoreSheet all = policy.explain(question);
  for (const std::size_t count : {0, 1, 3, 20, 50}) {
    const NodeId also = all.rows[12].node;
    const ScoreSheet few = policy.explain_best(question, count, also);
    const ScoreSheet plain = policy.PlacementPolicy::explain_best(question, count, also);
    EXPECT_EQ(few.terms, all.terms);
    EXPECT_EQ(few.weights, all.weights);
    ASSERT_EQ(few.rows.size(), std::min<std::size_t>(20, count > 12 ? count : count + 1)) << count;
    ASSERT_EQ(few.rows.size(), plain.rows.size());
    for (std::size_t i = 0; i < few.rows.size(); ++i) {
      EXPECT_EQ(few.rows[i].node, plain.rows[i].node) << count << " " << i;
      EXPECT_EQ(few.rows[i].parts, plain.rows[i].parts);
      EXPECT_EQ(few.rows[i].total, plain.rows[i].total);
    }
  }
}

}  // namespace
}  // namespace evenkeel::scheduling
