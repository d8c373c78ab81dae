#include "scheduling/policies/ppo_lrt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "learning/model_file.h"
#include "scheduling/policies/registry.h"
#include "scheduling/policies/weighted_scores.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A network that looks at nothing and gives each action this logit.
std::shared_ptr<const learning::Network> always(const std::vector<double>& logits) {
  const auto actions = static_cast<int>(logits.size());
  auto actor = std::make_shared<learning::Network>(learning::NetworkShape{actions + 3, {}, actions});
  std::copy(logits.begin(), logits.end(), actor->parameters().subspan(actor->layers().back().biases).begin());
  return actor;
}

Usage load(double cores, double bytes) { return Usage{{cores, bytes, 0, 0, 0, 0}}; }
Pod asks_for_nothing() { return pod_with(spec_asking(0, 0)); }

// Two nodes of four cores, fresh readings.
struct Desk {
  TestCluster cluster{2};
  Random random{1};
  explicit Desk(double cores = 1) { cluster.measure(load(cores, 1 << 30)); }
  std::optional<NodeId> choose(PlacementPolicy& policy) {
    const Pod pod = asks_for_nothing();
    return policy.choose(cluster.question(pod), random);
  }
  std::vector<EvictPod> review(PlacementPolicy& policy) {
    const Retrospect seen{cluster.state, cluster.history, cluster.options, cluster.now, {}};
    return policy.review(seen, random);
  }
};

TEST(PpoLrt, SaysWhenItsNetworkComputesNoNumbersOrIsForOtherNodes) {
  Desk desk;
  PpoLrt sound({}, always({1, 0, 0, 0}));
  EXPECT_TRUE(desk.choose(sound));
  EXPECT_TRUE(sound.self_check().finite);
  EXPECT_TRUE(sound.self_check().silent.empty());
  PpoLrt broken({}, always({1, kNaN, 0, 0}));
  EXPECT_TRUE(desk.choose(broken));
  EXPECT_FALSE(broken.self_check().finite);
  PpoLrt of_three({}, always({1, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(desk.choose(of_three)) << "kube-default's";
  EXPECT_EQ(of_three.self_check().silent, "its network is for another number of nodes");
}

TEST(PpoLrtState, IsEquations8To10ByHand) {
  TestCluster cluster;
  cluster.state.set_node(test_node(0, 8000, 8LL << 30));
  cluster.state.set_node(test_node(1, 2000, 4LL << 30));
  cluster.state.set_base_load({0}, load(2, 2LL << 30), cluster.now);
  cluster.state.set_base_load({1}, load(1, 3LL << 30), cluster.now);
  const NodeLoads loads = loads_of(cluster.state, {});
  const Pod pod = pod_with(spec_asking(400, 1LL << 30));
  const std::vector<double> expected{0.25, 0.25, 0.5, 0.75, 0.05, 0.125, 0.5};
  const std::vector<double> state = ppo_lrt_state(loads, cluster.state, *pod.shape, 150);
  ASSERT_EQ(state.size(), static_cast<std::size_t>(ppo_lrt_inputs(2)));
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(state[i], expected[i], 1e-6) << i;
  EXPECT_EQ(ppo_lrt_normalisation(2).size(), state.size());
}

TEST(PpoLrtState, CountsAPodThatAsksForNothingAsKubeSchedulerDoes) {
  Desk desk;
  const Pod pod = asks_for_nothing();
  const std::vector<double> state =
      ppo_lrt_state(loads_of(desk.cluster.state, {}), desk.cluster.state, *pod.shape, 0);
  EXPECT_NEAR(state[4], 0.1 / 4, 1e-9);
  EXPECT_NEAR(state[5], 200.0 / 8192, 1e-9);
}

TEST(PpoLrtState, CountsPodsNoReadingShowsYetUntilOneDoes) {
  Desk desk;
  const PodId placed = desk.cluster.add_running({1}, shape_asking(0, 0));
  UnseenPods unseen;
  unseen.placed(placed);
  unseen.drop_seen(desk.cluster.state);
  EXPECT_NEAR(loads_of(desk.cluster.state, unseen.pods()).cpu[1], 1.1 / 4, 1e-6);
  EXPECT_NEAR(loads_of(desk.cluster.state, unseen.pods()).cpu[0], 1.0 / 4, 1e-6);
  desk.cluster.state.add_sample(placed, load(0.5, 1e8), desk.cluster.now);
  unseen.drop_seen(desk.cluster.state);
  EXPECT_TRUE(unseen.pods().empty());
}

TEST(PpoLrtState, HasTwoActionsForEveryNode) {
  for (const int index : {0, 1, 2, 7}) EXPECT_EQ(PpoLrtAction::of(index).index(), index);
  EXPECT_EQ(PpoLrtAction::of(6).node, 3U);
  EXPECT_FALSE(PpoLrtAction::of(6).clears);
  EXPECT_TRUE(PpoLrtAction::of(7).clears);
}

TEST(PpoLrtReward, IsEquations12To14ByHand) {
  const PpoLrtReward weights{0.1, 2, 0.01, 0.8, 0.7, 0.05};
  const std::vector<double> cpu{0.9, 0.5}, memory{0.8, 0.2};
  EXPECT_NEAR(deviation(cpu), 0.2, 1e-12);
  EXPECT_NEAR(excess_above(0.8, cpu), 0.1, 1e-12);
  const PpoLrtVerdict verdict = judge(weights, cpu, memory, 50);
  EXPECT_NEAR(verdict.penalty, 0.1 + 0.1, 1e-12);
  EXPECT_NEAR(verdict.reward, 0.1 * (1 / 0.2 + 1 / 0.3) - 2 * 0.2 - 0.01 * 50, 1e-12);
}

TEST(PpoLrtReward, ClampsTheInverseOfADeviationThatVanishes) {
  const PpoLrtReward weights;
  const std::vector<double> equal{0.3, 0.3}, nearly{0.3, 0.3 + weights.least_sigma};
  const double most = 2 * weights.alpha / weights.least_sigma;
  EXPECT_NEAR(judge(weights, equal, equal, 0).reward, most, 1e-12);
  EXPECT_NEAR(judge(weights, nearly, nearly, 0).reward, most, 1e-12) << "half the clamp is clamped too";
}

TEST(PpoLrtJudge, PaysAStepForItsOwnPodsAndTheClusterTenSecondsLater) {
  TestCluster cluster(2);
  cluster.measure(load(1, 0));
  PpoLrtJudge referee({}, 10s);
  const Time start = cluster.now;
  const PodId first = cluster.add_running({0}, shape_asking(0, 0)),
              second = cluster.add_running({1}, shape_asking(0, 0));
  referee.begin_step(start);
  referee.place(first, {0}, start);
  referee.place(second, {1}, start - 10s);
  const auto look = [&](Duration after, std::vector<EndedPod> ended) {
    referee.review({cluster.state, cluster.history, cluster.options, start + after, ended});
  };
  EXPECT_LE(referee.next_look(), start + 10s);
  look(5s, {{first, {}, start, start, start + 4s}});
  EXPECT_FALSE(referee.next_verdict());
  look(10s, {});
  cluster.state.set_base_load({0}, load(4, 0), start + 20s);  // too late to count
  EXPECT_FALSE(referee.next_verdict()) << "a pod of it still runs";
  look(30s, {{second, {}, start - 10s, start, start + 26s}});
  const auto verdict = referee.next_verdict();
  ASSERT_TRUE(verdict);
  EXPECT_NEAR(verdict->response_s, (4 + 36) / 2.0, 1e-9);
  EXPECT_NEAR(verdict->sigma_cpu, 0, 1e-6);
  EXPECT_EQ(referee.next_look(), Time::max());
}

TEST(PpoLrtJudge, AStepThatAllItsPodsHaveLeftTakesNoMore) {
  TestCluster cluster(1);
  PpoLrtJudge referee({}, 10s);
  referee.look_live(30s);
  EXPECT_FALSE(referee.last_is_open());
  (void)referee.begin_step(cluster.now);
  EXPECT_TRUE(referee.last_is_open());
  referee.place({7, 1}, {0}, cluster.now);  // a pod that is gone by the next look
  referee.review({cluster.state, cluster.history, cluster.options, cluster.now + 1s, {}});
  EXPECT_FALSE(referee.last_is_open());
  EXPECT_TRUE(referee.next_verdict());
  EXPECT_FALSE(referee.last_is_open());
}

TEST(PpoLrtJudge, SaysWhenAStepCouldNotBeJudged) {
  PpoLrtJudge referee({}, 10s);
  referee.begin_step(Time{});
  referee.place({1, 1}, {0}, Time{});
  referee.finish();
  const auto verdict = referee.next_verdict();
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->known);
  EXPECT_FALSE(referee.next_verdict());
}

TEST(PpoLrt, SendsTenPodsWithOneActionAndThenWaitsForAReadingThatShowsThem) {
  Desk desk;
  PpoLrt policy({}, always({5, 0, 1, 0}));
  std::vector<Pod> pods;
  for (std::uint32_t i = 0; i < 12; ++i) pods.push_back(test_pod({i, 1}, shape_asking(0, 0)));
  for (const Pod& pod : pods) desk.cluster.state.add_pending(pod);
  const auto place = [&](const Pod& pod) {
    const auto chosen = policy.choose(desk.cluster.question(pod), desk.random);
    if (chosen) desk.cluster.state.assume(pod.id, *chosen, {}, desk.cluster.now);
    return chosen;
  };
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(place(pods[i]), NodeId{0});
  EXPECT_FALSE(place(pods[10])) << "nothing shows the ten yet";
  for (std::size_t i = 0; i < 10; ++i)
    desk.cluster.state.add_sample(pods[i].id, load(1, 0), desk.cluster.now);
  EXPECT_TRUE(place(pods[10]));
}

TEST(PpoLrt, WaitsForAReadingNoLongerThanFifteenSeconds) {
  Desk desk;
  PpoLrtOptions options;
  options.pods_per_action = 1;
  PpoLrt policy(options, always({5, 0, 1, 0}));
  const Pod first = test_pod({1, 1}, shape_asking(0, 0)), second = test_pod({2, 1}, shape_asking(0, 0));
  desk.cluster.state.add_pending(first);
  const auto chosen = policy.choose(desk.cluster.question(first), desk.random);
  desk.cluster.state.assume(first.id, *chosen, {}, desk.cluster.now);
  EXPECT_FALSE(policy.choose(desk.cluster.question(second), desk.random));
  desk.cluster.now += 15s;
  EXPECT_TRUE(policy.choose(desk.cluster.question(second), desk.random));
}

TEST(PpoLrt, TakesTheLikeliestNodeThatIsFeasible) {
  Desk desk;
  PpoLrt policy({}, always({5, 0, 1, 0}));
  EXPECT_EQ(desk.choose(policy), NodeId{0});
  Node cordoned = test_node(0);
  cordoned.unschedulable = true;
  desk.cluster.state.set_node(cordoned);
  EXPECT_EQ(desk.choose(policy), NodeId{1});
}

TEST(PpoLrt, ExplainsByProbabilities) {
  Desk desk;
  PpoLrt policy({}, always({std::log(3.0), 9, 0, 9}));
  const Pod pod = asks_for_nothing();
  const ScoreSheet sheet = policy.explain(desk.cluster.question(pod));
  ASSERT_EQ(sheet.rows.size(), 2U);
  EXPECT_EQ(sheet.rows[0].node, NodeId{0});
  EXPECT_NEAR(sheet.rows[0].total, 0.75, 1e-9) << "nothing may be cleared, so that has no share";
  EXPECT_NEAR(sheet.rows[1].total, 0.25, 1e-9);
}

// kube-default goes where less is requested: node 1. The network would go to node 0.
struct LopsidedDesk : Desk {
  PpoLrt policy{{}, always({9, 0, 0, 0})};
  LopsidedDesk() { cluster.add_running({0}, shape_asking(3000, 4LL << 30), load(1, 1 << 30)); }
};

TEST(PpoLrt, LeavesItToKubeDefaultWhileNoReadingIsFreshAndNotBecauseOneIsStale) {
  LopsidedDesk desk;
  EXPECT_EQ(desk.choose(desk.policy), NodeId{0});
  desk.cluster.now += desk.cluster.options.stale_after + 1s;
  EXPECT_EQ(desk.choose(desk.policy), NodeId{1});
  desk.cluster.state.set_base_load({1}, load(1, 0), desk.cluster.now);
  EXPECT_EQ(desk.choose(desk.policy), NodeId{0})
      << "one of two is fresh, and the other counts by its pods' pasts";
}

TEST(PpoLrtState, IsNotBelievedWhereALoadIsNoNumber) {
  Desk desk;
  NodeLoads loads = loads_of(desk.cluster.state, {});
  EXPECT_TRUE(believable(loads));
  loads.memory[1] = kNaN;
  EXPECT_FALSE(believable(loads));
}

TEST(PpoLrt, LeavesItToKubeDefaultInAClusterOfAnotherSizeAndWithoutAModel) {
  LopsidedDesk desk;
  PpoLrt larger({}, always({9, 0, 0, 0, 0, 0})), untaught({}, nullptr);
  EXPECT_EQ(desk.choose(larger), NodeId{1});
  EXPECT_EQ(desk.choose(untaught), NodeId{1});
  const Pod pod = asks_for_nothing();
  EXPECT_EQ(untaught.explain(desk.cluster.question(pod)).terms,
            WeightedScores().explain(desk.cluster.question(pod)).terms);
}

TEST(PpoLrt, ClearsTheYoungestQuarterOfANodeAboveItsLimit) {
  Desk desk(3.6);  // 0.9 of four cores
  std::vector<PodId> pods;
  for (const double age : {50.0, 10.0, 40.0, 20.0, 60.0, 70.0, 80.0, 90.0})
    pods.push_back(desk.cluster.add_running({0}, shape_asking(0, 0), {}, age));
  PpoLrt policy({}, always({0, 9, 1, 9}));
  EXPECT_EQ(desk.choose(policy), NodeId{1}) << "the pod itself is placed all the same";
  EXPECT_LE(policy.review_at(), desk.cluster.now);
  const std::vector<EvictPod> evictions = desk.review(policy);
  ASSERT_EQ(evictions.size(), 2U);
  EXPECT_EQ(evictions[0].pod, pods[1]);
  EXPECT_EQ(evictions[1].pod, pods[3]);
  EXPECT_FALSE(evictions[0].destination);
  EXPECT_GT(policy.review_at(), desk.cluster.now);

  EXPECT_TRUE(desk.choose(policy));
  EXPECT_TRUE(desk.review(policy).empty()) << "not again within a minute";
  desk.cluster.now += 61s;
  desk.cluster.measure(load(3.6, 0));
  EXPECT_TRUE(desk.choose(policy));
  EXPECT_EQ(desk.review(policy).size(), 2U);
}

TEST(PpoLrt, NeverClearsANodeBelowItsLimitsOrItsLastPod) {
  Desk idle(1), last(3.6);
  for (int i = 0; i < 4; ++i) idle.cluster.add_running({0}, shape_asking(0, 0));
  last.cluster.add_running({0}, shape_asking(0, 0));
  for (Desk* desk : {&idle, &last}) {
    PpoLrt policy({}, always({0, 9, 1, 9}));
    EXPECT_TRUE(desk->choose(policy));
    EXPECT_TRUE(desk->review(policy).empty());
  }
}

TEST(PpoLrt, WithOrderGoesOnlyWhereACoreIsFree) {
  Desk desk(0);
  PpoLrtOptions options;
  options.ordered = true;
  options.pods_per_action = 1;
  PpoLrt policy(options, always({9, 0, 0, 0}));
  std::vector<NodeId> taken;
  for (int i = 0; i < 20; ++i) {
    const Pod pod = test_pod({static_cast<std::uint32_t>(i) + 200, 1},
                             shape_asking(0, 0, {static_cast<std::uint32_t>(i)}));
    const auto chosen = policy.choose(desk.cluster.question(pod), desk.random);
    if (!chosen) break;
    taken.push_back(*chosen);
    desk.cluster.add_running(*chosen, pod.shape);
  }
  EXPECT_EQ(std::count(taken.begin(), taken.end(), NodeId{0}), 4) << "four cores, four pods";
  EXPECT_EQ(std::count(taken.begin(), taken.end(), NodeId{1}), 4);
}

learning::Model model_of(std::string encoding, int inputs, int outputs) {
  learning::Model model;
  model.encoding = std::move(encoding);
  const learning::NetworkShape shape{inputs, {}, outputs};
  model.networks.push_back({"actor", shape, std::vector<double>(learning::parameter_count(shape))});
  return model;
}

TEST(PpoLrt, RefusesAModelThatIsAnothers) {
  const auto error_of = [](const learning::Model& model) {
    const auto made = make_ppo_lrt(&model);
    return made ? "no error" : made.error().message;
  };
  EXPECT_EQ(error_of(model_of("ppo-lrt/2 nodes", 7, 4)), "no error");
  EXPECT_NE(
      error_of(model_of("ppo-lrt-ordered/2 nodes", 7, 4)).find("expected the encoding 'ppo-lrt/2 nodes'"),
      std::string::npos);
  EXPECT_NE(error_of(model_of("ppo-lrt/2 nodes", 9, 4)).find("has 9 inputs and 4 outputs"),
            std::string::npos);
  learning::Model empty;
  EXPECT_NE(error_of(empty).find("expected a network 'actor'"), std::string::npos);
  const auto shared = std::make_shared<const learning::Model>(model_of("drs/2 nodes", 7, 4));
  EXPECT_FALSE(set_up_policy("ppo-lrt", {}, {{"ppo-lrt", shared}}));
}

}  // namespace
}  // namespace evenkeel::scheduling
