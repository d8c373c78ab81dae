#include <gtest/gtest.h>

#include <cmath>

#include "optimum/network_instances.h"
#include "training/evaluation.h"

namespace evenkeel::training {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kTakesMinutes = true;
#else
constexpr bool kTakesMinutes = false;
#endif

using scheduling::GroupProblem;

Experiment experiment(const std::string& scenario, std::vector<std::string> sets) {
  Result<YamlFile> file = YamlFile::open("scenarios/" + scenario + ".yaml");
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  Result<Experiment> read = read_experiment(*std::move(file), sets);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return *std::move(read);
}

NetworkWorld world(const std::string& scenario, std::vector<std::string> sets, std::uint64_t seed = 1) {
  return network_world(simulator::expand(experiment(scenario, std::move(sets)).scenario, seed));
}

Evaluation run(const std::string& scenario, std::vector<std::string> sets, std::vector<std::string> policies,
               std::uint64_t seeds) {
  EvaluationOptions options;
  options.policies = std::move(policies);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) options.seeds.push_back(seed);
  options.threads = 2;
  Result<Evaluation> evaluation = evaluate(experiment(scenario, std::move(sets)), options);
  EXPECT_TRUE(evaluation) << (evaluation ? "" : evaluation.error().message);
  return *std::move(evaluation);
}

// Basic with a replica each: p1 -> p2 -> p3 on nodes 0-3 of zone-1, 4-7 of zone-2, …
TEST(NetworkWorld, AddsUpWhatEveryPairCostsByPlace) {
  const NetworkWorld basic = world("diktyo-cluster", {"workload.app=basic"});
  ASSERT_EQ(basic.problem.pods.size(), 3U);
  ASSERT_EQ(basic.problem.edges.size(), 2U);
  const auto latency = [&](std::vector<std::uint32_t> node_of_all) {
    return judge(basic, node_of_all).latency_ms;
  };
  EXPECT_EQ(latency({0, 0, 0}), 0);
  EXPECT_EQ(latency({0, 1, 2}), 2);   // other nodes of the zone
  EXPECT_EQ(latency({0, 4, 8}), 10);  // the next zone twice
  EXPECT_EQ(latency({0, 0, 0}), 0);
  const std::uint32_t nowhere = GroupProblem::kNowhere;
  const NetworkJudgement part = judge(basic, std::vector<std::uint32_t>{0, nowhere, nowhere});
  EXPECT_EQ(part.placed, 1U);
  EXPECT_EQ(part.applications, 0U);
  EXPECT_EQ(judge(basic, std::vector<std::uint32_t>{0, 0, 0}).applications, 1U);
}

TEST(NetworkWorld, CountsLinksAndNodesThatCarryMoreThanTheyCan) {
  // Five replicas of p1 send 500 Mbit/s each to the five of p2.
  const NetworkWorld basic =
      world("diktyo-cluster", {"workload.app=basic", "workload.replicas=5", "workload.bandwidth=true"});
  std::vector<std::uint32_t> nodes;
  for (const GroupProblem::Edge& edge : basic.problem.edges) EXPECT_EQ(edge.bandwidth, 100e6);
  for (std::size_t i = 0; i < basic.problem.pods.size(); ++i)
    nodes.push_back(static_cast<std::uint32_t>(i % 4));
  // 15 pods over four nodes of one zone: some node sends more than its gigabit.
  EXPECT_GT(judge(basic, nodes).over_booked, 0U);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<std::uint32_t>(i);
  EXPECT_EQ(judge(basic, nodes).over_booked, 0U);  // one on each: half a gigabit
}

TEST(NetworkWorld, IsTheInstanceThatPlannersAreJudgedOn) {
  const std::pair<const char*, optimum::Terrain> terrains[] = {
      {"diktyo-cluster", optimum::Terrain::cluster},
      {"diktyo-datacenter", optimum::Terrain::data_centre},
      {"diktyo-multiregion", optimum::Terrain::multi_region}};
  for (const auto& [scenario, terrain] : terrains) {
    const NetworkWorld own = world(scenario, {});
    const optimum::NetworkSite site = optimum::network_site(terrain);
    EXPECT_EQ(own.problem.cost, site.cost) << scenario;
    EXPECT_EQ(own.problem.region, site.region) << scenario;
    EXPECT_EQ(own.problem.zone_room, site.zone_capacity) << scenario;
    ASSERT_EQ(own.problem.nodes.size(), site.nodes.size()) << scenario;
    for (std::size_t n = 0; n < site.nodes.size(); ++n) {
      EXPECT_EQ(own.problem.nodes[n].zone, site.nodes[n].zone) << scenario;
      EXPECT_EQ(own.problem.nodes[n].free[0], 1000 * site.nodes[n].cpu) << scenario;
      EXPECT_EQ(own.problem.nodes[n].egress, site.nodes[n].egress) << scenario;
    }
  }
}

TEST(NetworkReference, FindsTheOptimumOfWhatCanBeTriedOut) {
  // Six pods for six nodes of one CPU each: every assignment can be looked at.
  NetworkWorld small = world("diktyo-cluster", {"workload.app=basic", "workload.replicas=2"});
  for (std::size_t n = 0; n < small.problem.nodes.size(); ++n)
    small.problem.nodes[n].free[0] = n % 3 == 0 ? 1000 : 0;
  const NetworkReference best = best_known(small);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < small.problem.nodes.size(); ++n)
    if (n % 3 == 0) nodes.push_back(n);
  ASSERT_EQ(nodes.size(), 6U);
  double least = 1e9;
  do least = std::min(least, judge(small, nodes).latency_ms);
  while (std::next_permutation(nodes.begin(), nodes.end()));
  EXPECT_EQ(best.judgement.latency_ms, least);
  EXPECT_EQ(best.judgement.placed, 6U);
}

TEST(NetworkReference, AsksWhoeverCanProve) {
  const NetworkWorld basic = world("diktyo-cluster", {"workload.app=basic", "workload.replicas=3"});
  const double known = best_known(basic).judgement.latency_ms;
  const NetworkReference reference = proven(
      basic,
      [&](const GroupProblem&, const std::vector<std::uint32_t>& start, Duration) {
        return ProvenPlan{start, known, true, 1.5};
      },
      std::chrono::seconds{1});
  EXPECT_TRUE(reference.least_latency);
  EXPECT_EQ(reference.bound_ms, known);
  EXPECT_EQ(reference.solver_s, 1.5);
  EXPECT_FALSE(best_known(basic).least_latency);
}

TEST(NetworkEvaluation, PlacesApplicationsAndNobodyIsBelowTheReference) {
  if (kTakesMinutes) GTEST_SKIP() << "takes minutes under a sanitizer";
  const Evaluation e = run("diktyo-cluster", {"workload.app=online-boutique", "workload.background=0.3"},
                           {"kube-default", "binpack", "task-topology", "optimum"}, 3);
  for (const PolicyResult& policy : e.policies)
    for (const RunResult& result : policy.runs) {
      EXPECT_EQ(result["placed"], 11) << policy.policy;
      EXPECT_EQ(result["applications"], 1) << policy.policy;
      EXPECT_GE(result["latency_ms"], result["optimum_ms"]) << policy.policy;
      EXPECT_NEAR(result["gap_to_optimum"], gap(result["latency_ms"], result["optimum_ms"]), 1e-12);
      if (policy.policy == "optimum") {
        EXPECT_TRUE(policy.reference);
        EXPECT_EQ(result["gap_to_optimum"], 0);
      }
    }
}

TEST(NetworkEvaluation, SaysTheSameAgain) {
  if (kTakesMinutes) GTEST_SKIP() << "takes minutes under a sanitizer";
  const auto once = [] {
    return run("diktyo-datacenter", {"workload.app=redis-cluster"}, {"task-topology"}, 2);
  };
  const Evaluation first = once(), second = once();
  for (std::size_t s = 0; s < 2; ++s)
    EXPECT_EQ(first.policies[0].runs[s]["latency_ms"], second.policies[0].runs[s]["latency_ms"]);
}

TEST(NetworkEvaluation, KeepsReplicasApartWhereTheyAskForIt) {
  const Evaluation e = run(
      "diktyo-cluster", {"workload.app=redis-cluster", "workload.replicas=4", "workload.anti_affinity=zone"},
      {"binpack", "optimum"}, 1);
  for (const PolicyResult& policy : e.policies) EXPECT_EQ(policy.runs[0]["placed"], 15) << policy.policy;
}

TEST(NetworkEvaluation, KnowsHowManyApplicationsCouldBePlacedAtMost) {
  if (kTakesMinutes) GTEST_SKIP() << "takes minutes under a sanitizer";
  const Evaluation e = run("diktyo-constrained", {}, {"kube-default", "optimum"}, 2);
  for (const RunResult& result : e.policies[1].runs) {
    // Of 64 CPUs: five of 3 pods, five of 6 and one of 11; the next of 11 does not fit.
    EXPECT_EQ(result["applications"], 11);
    EXPECT_EQ(result["optimum_applications"], 11);
  }
  for (const RunResult& result : e.policies[0].runs) EXPECT_LE(result["applications"], 11);
}

TEST(NetworkEvaluation, HasNoOptimumWhereNobodyTalks) {
  EvaluationOptions options;
  options.policies = {"optimum"};
  options.seeds = {1};
  const Result<Evaluation> evaluation = evaluate(experiment("smoke", {}), options);
  ASSERT_FALSE(evaluation);
  EXPECT_NE(evaluation.error().message.find("applications"), std::string::npos);
}

TEST(NetworkReference, CountsAMillisecondAsAllWhereTheOptimumIsNothing) {
  EXPECT_EQ(gap(0, 0), 0);
  EXPECT_EQ(gap(2, 0), 2);
  EXPECT_EQ(gap(15, 10), 0.5);
  EXPECT_EQ(gap(9, 10), 0);
}

}  // namespace
}  // namespace evenkeel::training
