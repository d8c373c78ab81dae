#include "scheduling/group_plan.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "scheduling/group_layout.h"

namespace evenkeel::scheduling {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kSeeds = 200;
#else
constexpr std::uint64_t kSeeds = 2000;
#endif

constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;

// Small enough to try everything, with a bit of every rule.
GroupProblem random_problem(Random random, std::uint32_t most_pods, std::uint32_t most_nodes) {
  GroupProblem problem;
  const auto draw = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random.below(below)); };
  const std::uint32_t pods = 1 + draw(most_pods), nodes = 1 + draw(most_nodes);
  problem.zones = 1 + draw(3);
  problem.regions = 1 + draw(2);
  for (std::uint32_t z = 0; z < problem.zones; ++z) problem.region.push_back(draw(problem.regions));
  const bool directed = random.chance(0.3);
  problem.cost.resize(std::size_t{problem.zones} * problem.zones);
  for (std::uint32_t a = 0; a < problem.zones; ++a)
    for (std::uint32_t b = 0; b < problem.zones; ++b)
      problem.cost[a * problem.zones + b] = a == b               ? 1
                                            : b < a && !directed ? problem.cost[b * problem.zones + a]
                                                                 : 2 + draw(20);
  for (std::uint32_t n = 0; n < nodes; ++n)
    problem.nodes.push_back({draw(problem.zones),
                             {static_cast<double>(draw(4)), 1 + static_cast<double>(draw(4))},
                             random.chance(0.3) ? 10.0 * draw(5) : GroupProblem::kUnlimited});
  for (std::uint32_t p = 0; p < pods; ++p) {
    GroupProblem::Pod pod{.request = {static_cast<double>(draw(3)), 1}, .allowed = {}, .bias = {}};
    if (random.chance(0.3))
      for (std::uint32_t n = 0; n < nodes; ++n) pod.allowed.push_back(random.chance(0.7));
    if (random.chance(0.3))
      for (std::uint32_t n = 0; n < nodes; ++n) pod.bias.push_back(random.uniform());
    if (random.chance(0.15)) pod.fixed = draw(nodes);
    problem.pods.push_back(std::move(pod));
  }
  for (std::uint32_t e = 0; e < 2 * pods; ++e) {
    GroupProblem::Edge edge{.from = draw(pods), .to = draw(pods), .weight = 1.0 + draw(3)};
    if (random.chance(0.3)) edge.bandwidth = 10.0 * draw(3);
    if (random.chance(0.1)) edge.max_cost = 1.0 + draw(15);
    problem.edges.push_back(edge);
  }
  if (random.chance(0.4)) {
    problem.zone_room.resize(problem.cost.size());
    for (double& room : problem.zone_room) room = 10.0 * draw(4);
    problem.region_room.assign(std::size_t{problem.regions} * problem.regions, 10.0 * draw(4));
  }
  if (random.chance(0.4)) {
    GroupProblem::Apart apart{.pods = {}, .by_zone = random.chance(0.5), .taken = {}};
    for (std::uint32_t p = 0; p < pods; ++p)
      if (random.chance(0.6)) apart.pods.push_back(p);
    if (random.chance(0.3)) apart.taken.assign(apart.by_zone ? problem.zones : nodes, 0);
    if (!apart.taken.empty()) apart.taken.front() = 1;
    problem.apart.push_back(std::move(apart));
  }
  return problem;
}

GroupPlan best_of_all(const GroupProblem& problem) {
  std::vector<std::uint32_t> places;
  for (const GroupProblem::Pod& pod : problem.pods) places.push_back(pod.fixed);
  GroupPlan best = plan_of(problem, places);
  const auto try_pod = [&](const auto& self, std::uint32_t pod) -> void {
    if (pod == problem.pods.size()) {
      if (!broken_rule(problem, places).empty()) return;
      GroupPlan plan = plan_of(problem, places);
      if (plan.placed > best.placed ||
          (plan.placed == best.placed && plan.objective() < best.objective() - 1e-9))
        best = std::move(plan);
      return;
    }
    if (problem.pods[pod].fixed != kNowhere) return self(self, pod + 1);
    for (std::uint32_t node = 0; node < problem.nodes.size(); ++node) {
      places[pod] = node;
      self(self, pod + 1);
    }
    places[pod] = kNowhere;
    self(self, pod + 1);
  };
  try_pod(try_pod, 0);
  return best;
}

TEST(GroupPlan, FindsWhatTryingEverythingFinds) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const GroupProblem problem = random_problem(Random(seed), 4, 4);
    const GroupPlan best = best_of_all(problem), found = plan_group(problem, {.budget = 30'000});
    ASSERT_EQ(broken_rule(problem, found.node_of), "") << "seed " << seed;
    ASSERT_EQ(found.placed, best.placed) << "seed " << seed;
    ASSERT_NEAR(found.objective(), best.objective(), 1e-6) << "seed " << seed;
  }
}

TEST(GroupPlan, BreaksNoRuleHoweverLittleItMayLook) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const GroupProblem problem = random_problem(Random(seed).fork("large"), 16, 12);
    const GroupPlan plan = plan_group(problem, {.budget = 2'000, .seed = seed});
    ASSERT_EQ(broken_rule(problem, plan.node_of), "") << "seed " << seed;
    const GroupPlan again = plan_group(problem, {.budget = 2'000, .seed = seed});
    ASSERT_EQ(plan.node_of, again.node_of) << "seed " << seed;
  }
}

TEST(GroupPlan, IsNoWorseThanWhereItStarted) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    GroupProblem problem = random_problem(Random(seed).fork("again"), 10, 8);
    const GroupPlan first = plan_group(problem, {.budget = 20'000});
    // One of them is gone meanwhile: its room is free, the others may stay.
    const auto left = first.node_of;
    const GroupPlan second = replan_group(problem, left, {.budget = 500});
    ASSERT_EQ(broken_rule(problem, second.node_of), "") << "seed " << seed;
    ASSERT_GE(second.placed, first.placed) << "seed " << seed;
    if (second.placed == first.placed) {
      ASSERT_LE(second.objective(), first.objective() + 1e-6) << "seed " << seed;
    }
  }
}

TEST(GroupPlan, PutsTwoThatTalkOnOneNodeAndMakesRoomForIt) {
  GroupProblem problem;
  problem.zones = problem.regions = 1;
  problem.cost = {1};
  problem.region = {0};
  problem.nodes = {{0, {2}}, {0, {1}}};
  problem.pods = {{.request = {1}, .allowed = {}, .bias = {}},
                  {.request = {1}, .allowed = {}, .bias = {}},
                  {.request = {1}, .allowed = {}, .bias = {}}};
  problem.edges = {{.from = 0, .to = 2}};
  const GroupPlan plan = plan_group(problem, {.budget = 1000});
  EXPECT_EQ(plan.node_of, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(plan.latency, 0);
}

TEST(GroupPlan, SaysNowhereOfWhomNoNodeHasRoomFor) {
  GroupProblem problem;
  problem.zones = problem.regions = 1;
  problem.cost = {1};
  problem.region = {0};
  problem.nodes = {{0, {1}}};
  problem.pods = {{.request = {2}, .allowed = {}, .bias = {}}, {.request = {1}, .allowed = {}, .bias = {}}};
  EXPECT_EQ(plan_group(problem).node_of, (std::vector<std::uint32_t>{kNowhere, 0}));
  problem.nodes.clear();
  EXPECT_EQ(plan_group(problem).placed, 0U);
}

TEST(GroupLayout, KeepsUpWhatAddingUpAnewComesTo) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random = Random(seed).fork("layout");
    const GroupProblem problem = random_problem(random, 8, 6);
    GroupLayout layout(problem);
    for (int i = 0; i < 60; ++i) {
      const auto pod = static_cast<std::uint32_t>(random.below(problem.pods.size()));
      const auto node = static_cast<std::uint32_t>(random.below(problem.nodes.size()));
      const auto other = static_cast<std::uint32_t>(random.below(problem.pods.size()));
      if (layout.is_fixed(pod)) continue;
      if (i % 3 == 0 && !layout.is_fixed(other) && layout.node_of(pod) != kNowhere &&
          layout.node_of(other) != kNowhere && layout.node_of(pod) != layout.node_of(other)) {
        const double expected = layout.objective() + layout.swap_delta(pod, other);
        if (layout.try_swap(pod, other)) {
          ASSERT_NEAR(layout.objective(), expected, 1e-6) << "seed " << seed;
        }
      } else if (layout.node_of(pod) != node) {
        layout.try_move(pod, node);
      }
      const GroupPlan plan = plan_of(problem, layout.places());
      ASSERT_EQ(broken_rule(problem, layout.places()), "") << "seed " << seed;
      ASSERT_NEAR(layout.objective(), plan.objective(), 1e-6) << "seed " << seed;
      ASSERT_EQ(layout.placed(), plan.placed);
    }
  }
}

}  // namespace
}  // namespace evenkeel::scheduling
