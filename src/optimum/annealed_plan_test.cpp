#include "optimum/annealed_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "optimum/mean_utilization.h"
#include "optimum/request_ledger.h"
#include "optimum/shared_processors.h"
#include "optimum/utilization_field.h"

namespace evenkeel::optimum {
namespace {

// Nodes of different sizes, pods that come and go; requests of CPU and one of "pods".
PlanProblem small_problem(std::uint64_t seed, std::size_t pods, std::size_t nodes) {
  Random random(seed);
  PlanProblem problem;
  for (std::size_t n = 0; n < nodes; ++n) {
    PlanNode& node = problem.nodes.emplace_back();
    node.capacity = Usage{{2.0 + 2.0 * static_cast<double>(n % 2), 4e9, 1e8, 1e8, 1e8, 1e8}};
    node.base = Usage{{0.1, 1e9, 0, 0, 0, 0}};
    node.room = {node.capacity.of[0] * 1000 - 100, 110};
  }
  double start_s = 0;
  for (std::size_t p = 0; p < pods; ++p) {
    PlanPod& pod = problem.pods.emplace_back();
    pod.start_s = start_s;
    start_s += random.between(0, 20);
    const double life_s = random.between(20, 100);
    pod.end_s = pod.start_s + life_s;
    const double size = random.between(0.2, 0.9);
    pod.phases = {{life_s, Usage{{size, random.between(1e8, 9e8), random.between(0, 4e7),
                                  random.between(0, 4e7), random.between(0, 4e7), random.between(0, 4e7)}}}};
    pod.requests = {std::round(size * 1000), 1};
  }
  problem.from_s = 5;
  problem.to_s = start_s;
  return problem;
}

// By the definition, exactly; none where requests do not fit.
std::optional<double> cost_by_definition(const PlanProblem& problem, const Assignment& plan,
                                         Objective objective) {
  const std::vector<double> cuts = time_cuts(problem, 10'000);
  const auto n = static_cast<double>(problem.nodes.size());
  double total = 0;
  std::vector<Usage> means(problem.nodes.size());
  const auto spread = [&](const std::vector<Usage>& utilization) {
    double sum = 0;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      double mean = 0, squares = 0;
      for (const Usage& u : utilization) mean += u.of[d] / n;
      for (const Usage& u : utilization) squares += (u.of[d] - mean) * (u.of[d] - mean) / n;
      sum += std::sqrt(squares);
    }
    return sum / kDimensions;
  };
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const double at_s = (cuts[i] + cuts[i + 1]) / 2;
    const double share = (cuts[i + 1] - cuts[i]) / (problem.to_s - problem.from_s);
    std::vector<Usage> utilization;
    for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
      Usage used = problem.nodes[node].base;
      double requested = 0;
      for (std::size_t p = 0; p < plan.size(); ++p) {
        const PlanPod& pod = problem.pods[p];
        if (plan[p] != node || at_s < pod.start_s || at_s >= pod.end_s) continue;
        used += pod.demand_at(at_s, problem.step_s);
        requested += pod.requests[0];
      }
      if (requested > problem.nodes[node].room[0]) return std::nullopt;
      for (std::size_t d = 0; d < kDimensions; ++d) {
        const double u = used.of[d] / problem.nodes[node].capacity.of[d];
        total += std::max(0.0, u - 1) / n * share;
        used.of[d] = std::min(u, 1.0);
        means[node].of[d] += u * share;
      }
      utilization.push_back(used);
    }
    if (objective == Objective::imbalance) total += spread(utilization) * share;
  }
  if (objective == Objective::imbalance_of_means) total += spread(means);
  return total;
}

Assignment plan_number(std::size_t number, std::size_t pods, std::size_t nodes) {
  Assignment plan;
  for (std::size_t p = 0; p < pods; ++p, number /= nodes)
    plan.push_back(static_cast<std::uint32_t>(number % nodes));
  return plan;
}

std::size_t plans(std::size_t pods, std::size_t nodes) {
  std::size_t count = 1;
  for (std::size_t p = 0; p < pods; ++p) count *= nodes;
  return count;
}

constexpr AnnealingOptions kQuick{2'000'000, 3'000, 1024};

void expect_the_optimum(const PlanProblem& problem, Objective objective) {
  double best = kForever;
  for (std::size_t i = 0; i < plans(problem.pods.size(), problem.nodes.size()); ++i)
    if (const auto cost =
            cost_by_definition(problem, plan_number(i, problem.pods.size(), problem.nodes.size()), objective))
      best = std::min(best, *cost);
  const auto found =
      cost_by_definition(problem, annealed_plan(problem, objective, Random(1), kQuick), objective);
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(*found, best);
}

TEST(AnnealedPlan, FindsTheLeastImbalanceOfAllAssignments) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    expect_the_optimum(small_problem(seed, 6, 2), Objective::imbalance);
  expect_the_optimum(small_problem(6, 6, 3), Objective::imbalance);
}

TEST(AnnealedPlan, FindsTheLeastImbalanceOfMeans) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    expect_the_optimum(small_problem(seed, 6, 2), Objective::imbalance_of_means);
}

// Runs the tasks instead of summing them up.
double mean_response_by_running(const PlanProblem& problem, const Assignment& plan) {
  double sum = 0;
  for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
    std::vector<std::pair<double, double>> running;  // work left, cores
    for (std::size_t p = 0; p < plan.size(); ++p)
      if (plan[p] == node)
        running.push_back({problem.pods[p].phases[0].seconds, problem.pods[p].phases[0].demand.of[0]});
    double now = 0;
    while (!running.empty()) {
      double cores = 0, least = kForever;
      for (const auto& [left, wanted] : running) cores += wanted, least = std::min(least, left);
      const double free = problem.nodes[node].capacity.of[0] - problem.nodes[node].base.of[0];
      now += least / std::min(1.0, free / cores);
      for (auto& task : running) task.first -= least;
      sum += now *
             static_cast<double>(std::erase_if(running, [](const auto& task) { return task.first < 1e-9; }));
    }
  }
  return sum / static_cast<double>(plan.size());
}

TEST(AnnealedPlan, FindsTheLeastMeanResponseOfTasksThatStartTogether) {
  PlanProblem problem = small_problem(3, 9, 2);
  for (PlanPod& pod : problem.pods) {
    pod.start_s = 0;
    pod.phases[0].demand.of[0] = 1;
    pod.requests = {0, 1};
  }
  double best = kForever;
  for (std::size_t i = 0; i < plans(9, 2); ++i)
    best = std::min(best, mean_response_by_running(problem, plan_number(i, 9, 2)));
  const Assignment plan = annealed_plan(problem, Objective::mean_response, Random(1), kQuick);
  EXPECT_NEAR(mean_response_by_running(problem, plan), best, 1e-9);
}

TEST(AnnealedPlan, NeverAsksMoreOfANodeThanItHas) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const PlanProblem problem = small_problem(seed, 60, 3);
    const Assignment plan = annealed_plan(problem, Objective::imbalance, Random(seed), kQuick);
    EXPECT_TRUE(cost_by_definition(problem, plan, Objective::imbalance).has_value()) << seed;
  }
}

TEST(AnnealedPlan, LeavesOutOnlyWhatFitsNowhere) {
  PlanProblem problem = small_problem(1, 3, 2);
  problem.pods[1].requests[0] = 1e6;
  const Assignment plan = annealed_plan(problem, Objective::imbalance, Random(1), kQuick);
  EXPECT_NE(plan[0], kNowhere);
  EXPECT_EQ(plan[1], kNowhere);
  EXPECT_NE(plan[2], kNowhere);
}

TEST(AnnealedPlan, KeepsPodsOffNodesThatAreForbiddenOrAway) {
  PlanProblem problem = small_problem(2, 6, 3);
  problem.nodes[0].away = {{0, 1000}};
  for (PlanPod& pod : problem.pods) pod.allowed = {1, 1, 0};
  for (const std::uint32_t node : annealed_plan(problem, Objective::imbalance, Random(1), kQuick)) {
    EXPECT_NE(node, 0U);
    EXPECT_NE(node, 2U);
  }
}

TEST(AnnealedPlan, IsTheSameForTheSameSeed) {
  const PlanProblem problem = small_problem(4, 40, 4);
  const auto plan = [&](std::uint64_t seed) {
    return annealed_plan(problem, Objective::imbalance, Random(seed), {500'000, 250, 1024});
  };
  EXPECT_EQ(plan(7), plan(7));
}

TEST(AnnealedPlan, OfNothingIsNothing) {
  EXPECT_TRUE(annealed_plan({}, Objective::imbalance, Random(1)).empty());
}

TEST(AnnealedPlan, SeparatesMachinesWhoseSeriesPeakTogether) {
  PlanProblem problem = small_problem(1, 4, 2);
  problem.nodes[1] = problem.nodes[0];
  problem.step_s = 10;
  problem.from_s = 0;
  problem.to_s = 200;
  std::vector<std::vector<Usage>> series(4, std::vector<Usage>(20));
  for (std::size_t p = 0; p < 4; ++p)
    for (std::size_t step = 0; step < 20; ++step) series[p][step].of[0] = step % 2 == p / 2 ? 0.9 : 0.05;
  for (std::size_t p = 0; p < 4; ++p) {
    problem.pods[p].start_s = 0;
    problem.pods[p].end_s = kForever;
    problem.pods[p].series = series[p];
  }
  const Assignment plan = annealed_plan(problem, Objective::imbalance, Random(1), kQuick);
  EXPECT_NE(plan[0], plan[1]);
  EXPECT_NE(plan[2], plan[3]);
}

// Whatever changes were made, running sums and a fresh start agree.
TEST(PlanCost, DifferencesAddUpToTheValue) {
  const PlanProblem problem = small_problem(5, 30, 3);
  UtilizationField field(problem, {}, 1024);
  MeanUtilization means(problem);
  SharedProcessors processors(problem);
  const double before[] = {field.value(), means.value(), processors.value()};
  double change_of[3] = {};
  Random random(1);
  Assignment at(30, kNowhere);
  for (int i = 0; i < 300; ++i) {
    Change change{random.below(30), 0, random.below(3)};
    const std::size_t other = random.below(30);
    change.from = at[change.pod] == kNowhere ? 3 : at[change.pod];
    if (at[other] == change.to && other != change.pod && i % 2 == 0) change.other = other;
    if (change.from == change.to) continue;
    change_of[0] += field.difference(change);
    change_of[1] += means.difference(change);
    change_of[2] += processors.difference(change);
    field.make(change);
    means.make(change);
    processors.make(change);
    at[change.pod] = static_cast<std::uint32_t>(change.to);
    if (change.other != kNobody)
      at[change.other] = change.from == 3 ? kNowhere : static_cast<std::uint32_t>(change.from);
  }
  field.refresh(at);
  means.refresh(at);
  processors.refresh(at);
  EXPECT_NEAR(before[0] + change_of[0], field.value(), 1e-5);
  EXPECT_NEAR(before[1] + change_of[1], means.value(), 1e-9);
  EXPECT_NEAR(before[2] + change_of[2], processors.value(), 1e-9);
}

TEST(RequestLedger, LetsOnePodFollowAnotherInTheSameRoom) {
  PlanProblem problem = small_problem(1, 2, 1);
  problem.nodes[0].room = {1000, 110};
  for (PlanPod& pod : problem.pods) pod.requests = {1000, 1};
  problem.pods[0].start_s = 0;
  problem.pods[0].end_s = problem.pods[1].start_s = 10;
  problem.pods[1].end_s = 20;
  RequestLedger ledger(problem);
  ledger.make({0, 1, 0});
  EXPECT_TRUE(ledger.fits({1, 1, 0}));
  problem.pods[1].start_s = 9;
  RequestLedger overlapping(problem);
  overlapping.make({0, 1, 0});
  EXPECT_FALSE(overlapping.fits({1, 1, 0}));
}

}  // namespace
}  // namespace evenkeel::optimum
