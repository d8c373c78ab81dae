// The walks over all nodes against kube-scheduler's own arithmetic, one node at a time.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.h"
#include "scheduling/scorers/scorer.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using Int = __int128;

struct Amounts {
  std::int64_t cpu = 0, memory = 0;
};
struct Case {
  Amounts allocatable, requested, non_zero;  // with the pod
  Amounts before;                            // requested without it
};

// leastRequestedScore, mostRequestedScore and their weighted mean (noderesources/least_allocated.go,
// most_allocated.go), in integers wide enough for anything.
std::int64_t mean_score(const Case& c, const std::function<Int(Int requested, Int capacity)>& counts) {
  std::int64_t sum = 0, resources = 0;
  for (const auto& [requested, capacity] :
       {std::pair{c.non_zero.cpu, c.allocatable.cpu}, std::pair{c.non_zero.memory, c.allocatable.memory}}) {
    if (capacity == 0) continue;
    sum += static_cast<std::int64_t>(counts(requested, capacity) * 100 / capacity);
    ++resources;
  }
  return resources == 0 ? 0 : sum / resources;
}
std::int64_t least(const Case& c) {
  return mean_score(
      c, [](Int requested, Int capacity) { return requested > capacity ? 0 : capacity - requested; });
}
std::int64_t most(const Case& c) {
  return mean_score(c, [](Int requested, Int capacity) { return std::min(requested, capacity); });
}

// balancedResourceScore (noderesources/balanced_allocation.go).
std::int64_t balance(const Amounts& requested, const Amounts& allocatable) {
  if (allocatable.cpu == 0 || allocatable.memory == 0) return 100;  // one share: no deviation
  const auto share = [](std::int64_t part, std::int64_t whole) {
    const double fraction = static_cast<double>(part) / static_cast<double>(whole);
    return fraction > 1 ? 1 : fraction;
  };
  const double apart = share(requested.cpu, allocatable.cpu) - share(requested.memory, allocatable.memory);
  return static_cast<std::int64_t>((1 - std::fabs(apart / 2)) * 100);
}
std::int64_t improvement(const Case& c) {
  return 50 + (50 + balance(c.requested, c.allocatable) - balance(c.before, c.allocatable)) / 2;
}

constexpr std::uint32_t kNodes = 2000;
constexpr std::int64_t kGi = 1LL << 30;

// Allocatable amounts of every sort: round, odd to the byte, missing, enormous.
Amounts draw_allocatable(Random& random, std::uint64_t sort) {
  const auto cores = static_cast<std::int64_t>(1 + random.below(128));
  switch (sort) {
    case 0:
      return {cores * 1000, cores * 4 * kGi};
    case 1:
      return {cores * 1000, cores * 4'000'000'000};
    case 2:
      return {cores * 1000 - static_cast<std::int64_t>(random.below(200)),
              static_cast<std::int64_t>(1 + random.below(1ULL << 40))};
    case 3:
      return {static_cast<std::int64_t>(1 + random.below(400)),
              static_cast<std::int64_t>(1 + random.below(1000))};
    case 4:
      return {random.chance(0.5) ? 0 : cores * 1000, random.chance(0.5) ? 0 : cores * kGi};
    case 5:
      return {cores * 1'000'000, static_cast<std::int64_t>((1ULL << 42) - 1000 + random.below(2000))};
    case 6:
      return {static_cast<std::int64_t>(random.below(1ULL << 42)),
              static_cast<std::int64_t>(random.below(1ULL << 50))};
    default:
      return {100, 100 * kGi};  // every share a whole per cent
  }
}

// Part of the whole: anywhere, at a whole per cent or next to it, a simple fraction, too much.
std::int64_t draw_part(Random& random, std::int64_t whole, std::uint64_t sort) {
  const auto percent = static_cast<std::int64_t>(random.below(101));
  switch (sort) {
    case 0:
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(whole) + 1));
    case 1:
      return static_cast<std::int64_t>(Int{whole} * percent / 100);
    case 2:
      return std::max<std::int64_t>(0, static_cast<std::int64_t>(Int{whole} * percent / 100) +
                                           static_cast<std::int64_t>(random.below(3)) - 1);
    case 3:
      return whole / static_cast<std::int64_t>(1 + random.below(16));
    case 4:
      return whole + static_cast<std::int64_t>(random.below(1000));
    default:
      return 0;
  }
}

std::shared_ptr<const PodTemplate> draw_pod(Random& random) {
  const auto cpu =
      static_cast<std::int64_t>(random.below(8) == 0 ? 0 : 50 * (1 + random.below(40)) + random.below(2));
  const auto memory = static_cast<std::int64_t>(random.below(8) == 0 ? 0
                                                : random.chance(0.5) ? (1 + random.below(64)) << 26
                                                                     : 1 + random.below(1ULL << 32));
  return shape_asking(cpu, memory);
}

void expect_scores(const std::vector<Case>& cases, const PlacementRequest& request,
                   void (*add)(const PlacementRequest&, float, std::span<float>),
                   std::int64_t (*wanted)(const Case&)) {
  constexpr float kAlready = 7;
  std::vector<float> totals(cases.size(), kAlready);
  add(request, 2, totals);
  std::size_t differences = 0;
  for (std::size_t i = 0; i < cases.size(); ++i)
    differences += (totals[i] != kAlready + 2 * static_cast<float>(wanted(cases[i])));
  EXPECT_EQ(differences, 0U);
}

// 100 x 2,000 nodes.
TEST(AllocationScorers, GiveKubeSchedulersIntegersOnAnyNode) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    const auto shape = draw_pod(random);
    const Amounts asked{shape->request.cpu.count, shape->request.memory.count};
    const Amounts counted{shape->non_zero.cpu.count, shape->non_zero.memory.count};
    TestCluster cluster;
    std::vector<Case> cases;
    for (std::uint32_t slot = 0; slot < kNodes; ++slot) {
      const Amounts has = draw_allocatable(random, random.below(8));
      cluster.state.set_node(test_node(slot, has.cpu, has.memory));
      // What is there already, chosen so that with the pod the share is the interesting one.
      Amounts there{draw_part(random, has.cpu, random.below(6)),
                    draw_part(random, has.memory, random.below(6))};
      if (random.chance(0.5))
        there = {std::max<std::int64_t>(0, there.cpu - asked.cpu),
                 std::max<std::int64_t>(0, there.memory - asked.memory)};
      const auto running = shape_asking(there.cpu, there.memory);
      cluster.add_running({slot}, running);
      cases.push_back(
          {has,
           {there.cpu + asked.cpu, there.memory + asked.memory},
           {running->non_zero.cpu.count + counted.cpu, running->non_zero.memory.count + counted.memory},
           there});
    }
    const Pod pod = test_pod({1, 1}, shape);
    const PlacementRequest request = cluster.question(pod);
    expect_scores(cases, request, least_allocated, least);
    expect_scores(cases, request, most_allocated, most);
    expect_scores(cases, request, balanced_allocation_1_23,
                  [](const Case& c) { return balance(c.requested, c.allocatable); });
    expect_scores(cases, request, balanced_allocation_1_36, improvement);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST(AllocationScorers, FollowANodeThatChangesItsSize) {
  TestCluster cluster(1);
  cluster.add_running({0}, shape_asking(1000, 2 * kGi));
  cluster.state.set_node(test_node(0, 2000, 4 * kGi));
  const Pod pod = test_pod({1, 1}, shape_asking(500, kGi));
  std::vector<float> totals(1);
  least_allocated(cluster.question(pod), 1, totals);
  EXPECT_EQ(totals[0], 25);
}

TEST(PercentPer, MakesADivisionOfAMultiplication) {
  Random random(2);
  for (int i = 0; i < 200'000; ++i) {
    const auto whole = static_cast<std::int64_t>(1 + random.below(1ULL << (1 + random.below(42))));
    const std::int64_t part = std::min(whole, draw_part(random, whole, random.below(6)));
    const auto exact = static_cast<double>(static_cast<std::int64_t>(Int{part} * 100 / whole));
    ASSERT_EQ(std::floor(static_cast<double>(part) * percent_per(static_cast<double>(whole))), exact)
        << part << " of " << whole;
  }
}

}  // namespace
}  // namespace evenkeel::scheduling
