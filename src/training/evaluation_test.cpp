#include "training/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::training {
namespace {

using namespace std::chrono_literals;

const std::string kScenario = R"(apiVersion: evenkeel.io/v1alpha1
kind: Scenario
name: tiny
nodes: {list: [{name: ash, count: 2, capacity: {cpu: 4, memory: 8GiB}}]}
workload:
  arrivals: {pods: 10, pattern: poisson, every: 10s}
  apps: [{name: web, cpu_request: 1, noise: 0.5, phases: [{seconds: 30, demand: {cpu: 1}}]}]
scheduler: {balanced_allocation: "1.23", by_use: {risk: 2}}
moves: {per_hour: 6}
)";

Result<Experiment> read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  auto file = YamlFile::parse(text, "tiny.yaml");
  if (!file) return file.error();
  return read_experiment(*std::move(file), overrides);
}

TEST(Experiment, IsAWorldAndTheOptionsToDecideUnder) {
  const auto experiment = read(kScenario, {"scheduler.horizon=2m", "moves.per_day=9"});
  ASSERT_TRUE(experiment) << experiment.error().message;
  EXPECT_EQ(experiment->scenario.name, "tiny");
  EXPECT_EQ(experiment->options.kube, scheduling::KubeVersion::v1_23);
  EXPECT_EQ(experiment->options.by_use.risk, 2);
  EXPECT_FALSE(experiment->options.by_use.on);
  EXPECT_EQ(experiment->options.horizon, 2min);
  EXPECT_EQ(experiment->options.moves.per_hour, 6);
  EXPECT_EQ(experiment->options.moves.per_day, 9);
}

TEST(Experiment, RefusesWhatItDoesNotKnow) {
  const auto error = [](const std::string& assignment) {
    const auto experiment = read(kScenario, {assignment});
    return experiment ? "no error" : experiment.error().message;
  };
  EXPECT_NE(error("scheduler.horizn=2m").find("scheduler.horizn"), std::string::npos);
  EXPECT_NE(error("scheduler.balanced_allocation=1.99").find("scheduler.balanced_allocation"),
            std::string::npos);
  EXPECT_NE(error("scheduler.by_use.risk=11").find("between 0 and 10"), std::string::npos);
  EXPECT_NE(error("moves.per_hour=-1").find("at least 0"), std::string::npos);
  EXPECT_NE(error("moves.every=0s").find("moves.every"), std::string::npos);
}

TEST(Evaluation, RunsEveryPolicyOnTheVerySameWorlds) {
  EvaluationOptions options;
  options.policies = {"kube-default", "round-robin", "kube-default"};
  options.seeds = {1, 2, 3};
  std::size_t done = 0;
  options.progress = [&](std::size_t so_far, std::size_t all) {
    EXPECT_EQ(all, 9U);
    EXPECT_EQ(so_far, ++done);
  };
  const auto evaluation = evaluate(*read(kScenario), options);
  ASSERT_TRUE(evaluation);
  EXPECT_EQ(done, 9U);
  EXPECT_EQ(evaluation->node_names, (std::vector<std::string>{"ash-1", "ash-2"}));
  ASSERT_EQ(evaluation->policies.size(), 3U);
  for (std::size_t seed = 0; seed < 3; ++seed) {
    const RunResult& first = evaluation->policies[0].runs[seed];
    EXPECT_EQ(first["placed"], 10);
    EXPECT_EQ(first["finished_share"], 1);
    EXPECT_EQ(first["imbalance"], evaluation->policies[2].runs[seed]["imbalance"]);
    EXPECT_TRUE(first.series.empty());
    EXPECT_NEAR(first["reward"], 100 * first["utilization"] - 200 * first["imbalance"], 1e-12);
  }
  EXPECT_NE(evaluation->policies[0].runs[0]["makespan_s"], evaluation->policies[0].runs[1]["makespan_s"]);
}

TEST(Evaluation, KeepsPicturesOfTheFirstWorldAndTimesWhenAsked) {
  EvaluationOptions options;
  options.policies = {"greedy"};
  options.seeds = {1, 2};
  options.keep_series = options.time_decisions = true;
  const auto evaluation = evaluate(*read(kScenario), options);
  ASSERT_TRUE(evaluation);
  const auto& runs = evaluation->policies.front().runs;
  EXPECT_FALSE(runs[0].series.empty());
  EXPECT_EQ(runs[0].outcomes.size(), 10U);
  EXPECT_TRUE(runs[1].series.empty());
  EXPECT_GT(runs[0]["decision_us_p99"], 0);
  EXPECT_GE(runs[0]["decision_us_p99"], runs[0]["decision_us_p50"]);
}

TEST(Evaluation, SaysWhichPolicyItDoesNotKnow) {
  EvaluationOptions options;
  options.policies = {"kube-default", "horizn"};
  options.seeds = {1};
  const auto evaluation = evaluate(*read(kScenario), options);
  ASSERT_FALSE(evaluation);
  EXPECT_NE(evaluation.error().message.find("'horizn'"), std::string::npos);
}

TEST(Spread, IsMeanAndDeviationOfTheSample) {
  PolicyResult result;
  for (const double value : {1.0, 2.0, 6.0}) result.runs.emplace_back().metrics = {{"x", value}};
  EXPECT_NEAR(spread_of(result, "x").mean, 3, 1e-12);
  EXPECT_NEAR(spread_of(result, "x").sd, std::sqrt(7.0), 1e-12);
  EXPECT_TRUE(std::isnan(spread_of(result, "y").mean));
  result.runs.resize(1);
  EXPECT_EQ(spread_of(result, "x").sd, 0);
}

}  // namespace
}  // namespace evenkeel::training
