#include "training/scaling_evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "training/scaling_references.h"

namespace evenkeel::training {
namespace {

using namespace std::chrono_literals;

ScalingExperiment experiment_of(const std::vector<std::string>& overrides = {}) {
  auto file = YamlFile::parse(R"(
apiVersion: evenkeel.io/v1alpha1
kind: ScalingScenario
name: small
services: [{name: web, requests_per_s: 50, service_time: fixed, scaler: {max: 10, target: 0.7}}]
workload:
  peak: 200
  made: {length: 4h, points: [{at: 0s, level: 0.2}, {at: 1h, level: 1}, {at: 2h, level: 0.9}, {at: 150m, level: 0.2}],
         noise: {spread: 0.05}}
)",
                              "small.yaml");
  EXPECT_TRUE(file);
  auto experiment = read_scaling_experiment(*std::move(file), overrides);
  EXPECT_TRUE(experiment) << experiment.error().message;
  return *std::move(experiment);
}

Evaluation evaluate_small(std::vector<std::string> policies, unsigned threads = 1) {
  ScalingEvaluationOptions options;
  options.policies = std::move(policies);
  options.seeds = {1, 2};
  options.threads = threads;
  auto evaluation = evaluate_scaling(experiment_of(), options);
  EXPECT_TRUE(evaluation) << evaluation.error().message;
  return *std::move(evaluation);
}

double mean(const Evaluation& evaluation, std::size_t policy, std::string_view metric) {
  return spread_of(evaluation.policies[policy], metric).mean;
}

TEST(ScalingEvaluation, ShowsThatHpasSettingsTradeReplicasForViolations) {
  const Evaluation e = evaluate_small({"hpa", "hpa+target=90+down=60s", "hpa+target=50"});
  EXPECT_LT(mean(e, 1, "replicas_mean"), 0.9 * mean(e, 0, "replicas_mean"));
  EXPECT_GT(mean(e, 1, "sla_violation"), mean(e, 0, "sla_violation"));
  EXPECT_GT(mean(e, 2, "replicas_mean"), 1.2 * mean(e, 0, "replicas_mean"));
  EXPECT_LE(mean(e, 2, "sla_violation"), mean(e, 0, "sla_violation"));
  // Work is conserved: replicas times utilisation is the same for all.
  EXPECT_NEAR(mean(e, 1, "requests"), mean(e, 0, "requests"), 1e-6 * mean(e, 0, "requests"));
}

TEST(ScalingEvaluation, DoesNotDependOnThreads) {
  const Evaluation one = evaluate_small({"hpa", "clairvoyant"}, 1),
                   four = evaluate_small({"hpa", "clairvoyant"}, 4);
  for (const char* metric : {"replicas_mean", "sla_violation", "scalings", "response_ms_p95"})
    for (std::size_t policy = 0; policy < 2; ++policy)
      EXPECT_EQ(mean(one, policy, metric), mean(four, policy, metric)) << metric;
}

TEST(ScalingEvaluation, SaysWhichPolicyOrSwitchItDoesNotKnow) {
  for (const auto& [policy, expected] : {std::pair{"hap", "hap"},
                                         {"hpa+colour=red", "colour"},
                                         {"hpa+target=much", "target"},
                                         {"hpa+", "switch"},
                                         {"clairvoyant+level=2", "level"},
                                         {"hpa+min=5+max=3", "minimum"}}) {
    ScalingEvaluationOptions options;
    options.policies = {policy};
    options.seeds = {1};
    const auto evaluation = evaluate_scaling(experiment_of(), options);
    ASSERT_FALSE(evaluation) << policy;
    EXPECT_NE(evaluation.error().message.find(expected), std::string::npos) << evaluation.error().message;
  }
}

TEST(Clairvoyant, KeepsTheLevelWithFewerReplicasThanAnyRule) {
  const Evaluation e = evaluate_small({"hpa", "clairvoyant", "clairvoyant+level=0.05"});
  EXPECT_TRUE(e.policies[1].reference);
  EXPECT_FALSE(e.policies[0].reference);
  EXPECT_LT(mean(e, 1, "replicas_mean"), mean(e, 0, "replicas_mean"));
  EXPECT_LE(mean(e, 1, "sla_violation"), 0.005);
  EXPECT_LT(mean(e, 2, "replicas_mean"), mean(e, 1, "replicas_mean"));
  EXPECT_LE(mean(e, 2, "sla_violation"), 0.08);
}

// Against every schedule there is, where they can all be tried.
TEST(Clairvoyant, FindsTheFewestReplicaSeconds) {
  simulator::ServiceWorldPlan plan = simulator::expand(experiment_of().scenario, 1);
  simulator::RequestRates rates;
  rates.step = 15s;
  rates.interpolate = false;
  rates.per_s = {30, 70, 30, 30, 30, 110, 60, 20};
  plan.length = rates.length();
  plan.rates = std::make_shared<const simulator::RequestRates>(rates);
  plan.services[0].start_up = 40s;
  plan.services[0].scaler.max_replicas = 3;
  const auto cost = [&](const std::vector<std::int32_t>& ready) {
    double sum = 0;
    for (std::size_t k = 0; k < ready.size(); ++k) {
      sum += 15.0 * ready[k];
      if (k > 0) sum += 40.0 * std::max(0, ready[k] - ready[k - 1]);
    }
    return sum;
  };
  const std::vector<std::int32_t> found = plan_replicas(plan, 0);
  const std::vector<std::int32_t> needed = {1, 2, 1, 1, 1, 3, 2, 1};
  double best = 1e9;
  for (int code = 0; code < 6561; ++code) {
    std::vector<std::int32_t> tried;
    for (int rest = code, k = 0; k < 8; ++k, rest /= 3) tried.push_back(1 + rest % 3);
    bool enough = true;
    for (std::size_t k = 0; k < 8; ++k) enough = enough && tried[k] >= needed[k];
    if (enough) best = std::min(best, cost(tried));
  }
  ASSERT_EQ(found.size(), needed.size());
  for (std::size_t k = 0; k < 8; ++k) EXPECT_GE(found[k], needed[k]) << k;
  EXPECT_DOUBLE_EQ(cost(found), best);
}

TEST(ScalingExperiment, TellsItsOwnKindFromOthers) {
  EXPECT_TRUE(is_scaling_scenario(*YamlFile::parse("kind: ScalingScenario\n", "a")));
  EXPECT_FALSE(is_scaling_scenario(*YamlFile::parse("kind: Scenario\n", "b")));
}

}  // namespace
}  // namespace evenkeel::training
