#include "training/scaling_together.h"

#include <gtest/gtest.h>

namespace evenkeel::training {
namespace {

using namespace std::chrono_literals;

class ScalingTogether : public ::testing::Test {
 protected:
  static RunResult run(const std::string& variant, std::uint64_t seed, const TogetherWorld& world) {
    for (const TogetherVariant& one : together_variants())
      if (one.name == variant) return run_together(make_together_world(world, "hpa", seed), one, seed);
    return {};
  }
  static TogetherWorld small() { return {.nodes = 4, .services = 5, .crowding = 1.4, .length = 40min}; }
  static TogetherWorld crowded() { return {.nodes = 4, .services = 5, .crowding = 2.4, .length = 40min}; }
};

TEST_F(ScalingTogether, IsTheSameForASeed) {
  EXPECT_EQ(run("both", 3, small())["node_imbalance"], run("both", 3, small())["node_imbalance"]);
  EXPECT_NE(run("both", 3, small())["node_imbalance"], run("both", 4, small())["node_imbalance"]);
}

TEST_F(ScalingTogether, PromisesNoPodThatStaysPendingWhereItAsksAboutRoom) {
  double apart = 0, room = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    apart += run("apart", seed, crowded())["pending_pod_s"];
    room += run("room", seed, crowded())["pending_pod_s"];
  }
  EXPECT_GT(apart, 0);
  EXPECT_EQ(room, 0);
}

TEST_F(ScalingTogether, BalancesNodesByWhomItLetsGo) {
  double apart = 0, leavers = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    apart += run("apart", seed, small())["node_imbalance"];
    leavers += run("leavers", seed, small())["node_imbalance"];
  }
  EXPECT_LT(leavers, apart);
}

TEST_F(ScalingTogether, PutsEveryVariantOfEveryPolicyIntoTheSameWorldsWhateverTheThreads) {
  TogetherOptions options{.world = small(), .policies = {"hpa", "evenkeel"}, .seeds = {3}, .threads = 1};
  const Result<Evaluation> alone = evaluate_together(options);
  options.threads = 3;
  const Result<Evaluation> together = evaluate_together(options);
  ASSERT_TRUE(alone && together);
  ASSERT_EQ(alone->policies.size(), 8U);
  EXPECT_EQ(alone->policies[3].policy, "hpa, both");
  EXPECT_EQ(alone->policies[4].policy, "evenkeel, apart");
  for (std::size_t i = 0; i < alone->policies.size(); ++i)
    EXPECT_EQ(alone->policies[i].runs[0]["replicas_mean"], together->policies[i].runs[0]["replicas_mean"]);
  EXPECT_EQ(alone->policies[3].runs[0]["replicas_mean"], run("both", 3, small())["replicas_mean"]);
}

TEST_F(ScalingTogether, NamesAPolicyNobodyKnowsBeforeAnythingRuns) {
  const Result<Evaluation> evaluation =
      evaluate_together({.world = small(), .policies = {"hpa", "hpo"}, .seeds = {1}});
  ASSERT_FALSE(evaluation);
  EXPECT_NE(evaluation.error().message.find("hpo"), std::string::npos) << evaluation.error().message;
}

}  // namespace
}  // namespace evenkeel::training
