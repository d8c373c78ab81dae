#include "scheduling/rebalancer.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

constexpr Usage kBusy{{0.5, 2e8, 0, 0, 0, 0}};

// A cluster whose pods all sit on the first node, and a rebalancer that is asked every ten seconds.
class Lopsided {
 public:
  explicit Lopsided(MoveBudget budget, std::uint32_t nodes = 4, int pods = 8)
      : cluster(nodes), rebalancer(budget) {
    cluster.options.moves = budget;
    for (int i = 0; i < pods; ++i)
      cluster.add_running({0}, shape_asking(400, 1'000'000, {static_cast<std::uint32_t>(i)}), kBusy);
    cluster.measure();
  }

  // Looks once, and makes the move if there is one.
  std::optional<Move> look() {
    cluster.now += 10s;
    if (fresh) cluster.measure();
    const auto move = rebalancer.propose(cluster.state, cluster.history, cluster.options, cluster.now);
    if (move) make(*move);
    return move;
  }
  void make(const Move& move) {
    const Pod pod = cluster.state.pod(move.pod)->pod;
    EXPECT_EQ(cluster.state.pod(move.pod)->node, move.from);
    const Demand expected = cluster.state.pod(move.pod)->expected;
    EXPECT_TRUE(objections({pod, cluster.state, expected, cluster.options}, move.to).empty());
    cluster.state.remove_pod(move.pod);
    cluster.state.found(pod, move.to, expected, cluster.now);
    cluster.state.mark_started(pod.id, cluster.now);
  }
  double spread() const {  // of the CPU, most loaded above least loaded
    const auto& cpu = cluster.state.columns().utilization[0];
    return *std::max_element(cpu.begin(), cpu.end()) - *std::min_element(cpu.begin(), cpu.end());
  }

  TestCluster cluster;
  Rebalancer rebalancer;
  bool fresh = true;
};

MoveBudget budget(double per_hour, double per_day = 0, Duration cool_down = 0s) {
  MoveBudget budget;
  budget.per_hour = per_hour;
  budget.per_day = per_day;
  budget.cool_down = cool_down;
  return budget;
}

TEST(Rebalancer, EvensOutALopsidedCluster) {
  Lopsided lopsided(budget(360));
  EXPECT_GT(lopsided.spread(), 0.9);
  int moves = 0;
  for (int i = 0; i < 360; ++i) moves += lopsided.look().has_value();
  EXPECT_LE(lopsided.spread(), 0.13);  // two pods of an eighth each on every node
  EXPECT_GE(moves, 6);
  EXPECT_LE(moves, 8);  // and it knows when to stop
}

TEST(Rebalancer, LeavesAnEvenClusterAlone) {
  Lopsided even(budget(360), 4, 0);
  for (std::uint32_t node = 0; node < 4; ++node)
    even.cluster.add_running({node}, shape_asking(400, 1'000'000), kBusy);
  for (int i = 0; i < 360; ++i) EXPECT_FALSE(even.look());
}

TEST(Rebalancer, NeverMovesWithoutABudget) {
  Rebalancer rebalancer{MoveBudget{}};
  EXPECT_EQ(rebalancer.next_look(), Time::max());
  Lopsided lopsided(budget(0));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(lopsided.look());
}

TEST(Rebalancer, StaysWithinItsHourAndItsDay) {
  constexpr int kPerHour = 5, kPerDay = 12;
  Lopsided lopsided(budget(kPerHour, kPerDay));
  std::vector<Time> moves;
  Random random(4);
  for (int i = 0; i < 360 * 26; ++i) {
    if (lopsided.look()) moves.push_back(lopsided.cluster.now);
    // Somebody keeps putting pods back, so that there is always something to gain.
    if (i % 30 == 0)
      for (std::uint32_t node = 1; node < 4; ++node)
        for (const PodId id : std::vector<PodId>(lopsided.cluster.state.pods_on({node}).begin(),
                                                 lopsided.cluster.state.pods_on({node}).end()))
          lopsided.make({id, {node}, {0}, 0, ""});
  }
  EXPECT_GT(moves.size(), static_cast<std::size_t>(kPerDay) / 2);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const auto within = [&](Duration time) {
      return std::count_if(moves.begin(), moves.end(),
                           [&](Time t) { return t >= moves[i] && t < moves[i] + time; });
    };
    EXPECT_LE(within(1h), kPerHour);
    EXPECT_LE(within(24h), kPerDay);
  }
}

TEST(Rebalancer, LetsAWorkloadCoolDown) {
  Lopsided lopsided(budget(3600, 100'000, 10min), 4, 0);
  for (int i = 0; i < 8; ++i) lopsided.cluster.add_running({0}, shape_asking(400, 1'000'000, {5}), kBusy);
  std::vector<Time> moves;
  for (int i = 0; i < 720; ++i)
    if (lopsided.look()) moves.push_back(lopsided.cluster.now);
  ASSERT_GE(moves.size(), 3U);
  for (std::size_t i = 1; i < moves.size(); ++i) EXPECT_GE(moves[i] - moves[i - 1], 10min);
}

TEST(Rebalancer, ProposesOnlyTargetsThatPassEveryFilter) {
  Lopsided lopsided(budget(3600, 100'000), 5);
  Node node = test_node(1);
  node.unschedulable = true;
  lopsided.cluster.state.set_node(node);
  node = test_node(2);
  node.taints = {{"gpu", "", TaintEffect::no_schedule}};
  lopsided.cluster.state.set_node(node);
  lopsided.cluster.state.set_node([] {
    Node full = test_node(3);
    full.allocatable.cpu = {399};
    return full;
  }());
  int moves = 0;
  for (int i = 0; i < 360; ++i)
    if (const auto move = lopsided.look()) {
      EXPECT_EQ(move->to, NodeId{4});
      ++moves;
    }
  EXPECT_GT(moves, 0);
}

TEST(Rebalancer, DoesNotActOnStaleMetrics) {
  Lopsided lopsided(budget(3600, 100'000));
  lopsided.fresh = false;
  lopsided.cluster.now += 91s;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(lopsided.look());
  lopsided.fresh = true;
  int moves = 0;
  for (int i = 0; i < 100; ++i) moves += lopsided.look().has_value();
  EXPECT_GT(moves, 0);
}

TEST(Rebalancer, DoesNotMoveAPodThatWouldThenBeTheLastToEnd) {
  Lopsided lopsided(budget(3600, 100'000), 2, 0);
  // Two runs of 100 s, 90 s in: anew either would end after everybody else.
  for (int i = 0; i < 50; ++i)
    lopsided.cluster.history.observe_end(pod_with(spec_asking(400, 1'000'000), {1}), 100s);
  for (int i = 0; i < 2; ++i) lopsided.cluster.add_running({0}, shape_asking(400, 1'000'000, {1}), kBusy, 90);
  EXPECT_FALSE(lopsided.look());
}

TEST(Rebalancer, LooksAsOftenAsItIsToldTo) {
  Lopsided lopsided(budget(12));
  lopsided.look();
  EXPECT_EQ(lopsided.rebalancer.next_look(), lopsided.cluster.now + budget(12).every);
}

}  // namespace
}  // namespace evenkeel::scheduling
