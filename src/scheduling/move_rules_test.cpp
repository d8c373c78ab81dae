#include "scheduling/move_rules.h"

#include <gtest/gtest.h>

#include "scheduling/rebalancer.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

const OwnerReference kReplicaSet{"ReplicaSet", "web", "u", true};

struct Shaped {
  std::string name_space = "shop";
  Labels labels{};
  std::vector<OwnerReference> owners{kReplicaSet};
  std::int32_t priority = 0;
};

std::shared_ptr<const PodTemplate> shape_of(const Shaped& shaped) {
  PodSpec spec = spec_asking(400, 1'000'000);
  spec.priority = shaped.priority;
  return std::make_shared<const PodTemplate>(shaped.name_space, shaped.labels, shaped.owners, WorkloadId{3},
                                             std::move(spec));
}

class MoveRulesTest : public testing::Test {
 protected:
  MoveRulesTest() { rules.on = true; }
  // Why the first of two alike may not be moved.
  std::string why(const Shaped& shaped, MoveBar bar = MoveBar::none, int replicas = 2) {
    PodId first{};
    for (int i = 0; i < replicas; ++i) {
      const PodId id = cluster.add_running({0}, shape_of(shaped));
      if (i == 0) first = id;
    }
    Pod pod = cluster.state.pod(first)->pod;
    pod.bar = bar;
    cluster.state.update_pod(pod);
    return why_not_move(*cluster.state.pod(first), cluster.state, rules);
  }
  void set_budget(const std::string& name, std::int32_t allowed, std::optional<LabelSelector> selector) {
    cluster.state.set_object(PodDisruptionBudget{"shop", name, std::move(selector), allowed, {}});
  }

  TestCluster cluster{4};
  MoveRules rules;
};

TEST_F(MoveRulesTest, LetOneOfSeveralReplicasGo) { EXPECT_EQ(why({}), ""); }

TEST_F(MoveRulesTest, KeepPodsThatNobodyWouldMakeAgain) {
  EXPECT_NE(why({.owners = {}}).find("no controller"), std::string::npos);
  EXPECT_NE(why({.owners = {{"ReplicaSet", "web", "u", false}}}).find("no controller"), std::string::npos);
}

TEST_F(MoveRulesTest, KeepPodsOfDaemonSetsAndStaticPods) {
  EXPECT_NE(why({.owners = {{"DaemonSet", "agent", "u", true}}}).find("DaemonSet"), std::string::npos);
  EXPECT_NE(why({.owners = {{"Node", "n1", "u", true}}}).find("static"), std::string::npos);
  EXPECT_NE(why({}, MoveBar::mirror).find("static"), std::string::npos);
}

TEST_F(MoveRulesTest, KeepWhatLiesOnTheNode) {
  EXPECT_NE(why({}, MoveBar::host_path), "");
  EXPECT_NE(why({}, MoveBar::local_storage), "");
  rules.local_storage = true;
  EXPECT_EQ(why({}, MoveBar::local_storage), "");
  EXPECT_NE(why({}, MoveBar::host_path), "");
}

TEST_F(MoveRulesTest, KeepWhoAskedForIt) {
  EXPECT_NE(why({}, MoveBar::asked_not_to).find("evenkeel.io/move"), std::string::npos);
  EXPECT_NE(why({}, MoveBar::not_safe).find("safe-to-evict"), std::string::npos);
}

TEST_F(MoveRulesTest, SpareNamespacesAndPriorities) {
  EXPECT_NE(why({.name_space = "kube-system"}), "");
  rules.spared_namespaces = {"shop"};
  EXPECT_NE(why({}), "");
  rules.spared_namespaces = {};
  rules.spared_priority = 100;
  EXPECT_NE(why({.priority = 100}), "");
  EXPECT_EQ(why({.priority = 99}), "");
}

TEST_F(MoveRulesTest, KeepTheOnlyReplicaUnlessToldOtherwise) {
  EXPECT_NE(why({}, MoveBar::none, 1), "");
  rules.single_replicas = true;
  EXPECT_EQ(why({}, MoveBar::none, 1), "");
}

TEST_F(MoveRulesTest, HeedDisruptionBudgets) {
  const LabelSelector web{{{"app", SelectorOperator::in, {"web"}}}};
  Labels labels;
  labels.set("app", "web");
  set_budget("other", 0, LabelSelector{{{"app", SelectorOperator::in, {"db"}}}});
  EXPECT_EQ(why({.labels = labels}), "");
  set_budget("web", 1, web);
  EXPECT_EQ(why({.labels = labels}), "");
  set_budget("web", 0, web);
  EXPECT_NE(why({.labels = labels}).find("web allows no disruption"), std::string::npos);
  set_budget("web", 1, web);
  set_budget("again", 1, web);
  EXPECT_NE(why({.labels = labels}).find("several"), std::string::npos);
}

TEST_F(MoveRulesTest, TakeAnEmptySelectorForEveryPodAsTheEvictionApiDoes) {
  set_budget("all", 0, LabelSelector{});
  EXPECT_NE(why({}), "");
  set_budget("all", 0, std::nullopt);
  EXPECT_EQ(why({}), "");
}

TEST_F(MoveRulesTest, KeepPodsThatLeaveOrDoNotRunYet) {
  EXPECT_EQ(why({}), "");
  const PodId id = cluster.add_running({0}, shape_of({}));
  Pod pod = cluster.state.pod(id)->pod;
  pod.terminating = true;
  cluster.state.update_pod(pod);
  EXPECT_NE(why_not_move(*cluster.state.pod(id), cluster.state, rules), "");
}

// All load on one node: every look would like a move.
class RuledMoves : public testing::Test {
 protected:
  RuledMoves() {
    budget.per_hour = 100;
    budget.per_day = 10'000;
    budget.cool_down = 10min;
    budget.rules.on = true;
    for (int i = 0; i < 6; ++i) add(MoveBar::none);
    cluster.measure();
  }
  PodId add(MoveBar bar) {
    const PodId id = cluster.add_running({0}, shape_of({}), Usage{{0.6, 2e8, 0, 0, 0, 0}});
    Pod pod = cluster.state.pod(id)->pod;
    pod.bar = bar;
    cluster.state.update_pod(pod);
    return id;
  }
  std::optional<Move> look() {
    return rebalancer().propose(cluster.state, cluster.history, cluster.options, cluster.now);
  }
  Rebalancer& rebalancer() {
    if (!made_) made_.emplace(budget);
    return *made_;
  }
  TestCluster cluster{4};
  MoveBudget budget;

 private:
  std::optional<Rebalancer> made_;
};

TEST_F(RuledMoves, AreMadeOfPodsThatMayGo) { EXPECT_TRUE(look()); }

TEST_F(RuledMoves, AreNotMadeWhileABudgetHasNoRoom) {
  cluster.state.set_object(PodDisruptionBudget{"shop", "all", LabelSelector{}, 0, {}});
  EXPECT_FALSE(look());
  cluster.state.set_object(PodDisruptionBudget{"shop", "all", LabelSelector{}, 1, {}});
  EXPECT_TRUE(look());
}

TEST_F(RuledMoves, GoToNodesWithFreshMetricsOnly) {
  cluster.now += 2min;
  for (const std::uint32_t slot : {0U, 2U}) cluster.state.set_base_load({slot}, {}, cluster.now);
  const auto move = look();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->to, NodeId{2});
}

TEST_F(RuledMoves, OfARefusedWorkloadWaitUntilItHasCooledDown) {
  rebalancer().cool_down({3}, cluster.now);
  EXPECT_FALSE(look());
  cluster.now += 11min;
  cluster.measure();
  EXPECT_TRUE(look());
}

TEST_F(RuledMoves, ThatOthersAskForObeyTheSameRulesAndBudget) {
  const PodId kept = add(MoveBar::asked_not_to), free = add(MoveBar::none);
  const auto relieve = [&](PodId pod) {
    return rebalancer().relieve(pod, cluster.state, cluster.history, cluster.options, cluster.now);
  };
  EXPECT_FALSE(relieve(kept));
  const auto move = relieve(free);
  ASSERT_TRUE(move);
  EXPECT_NE(move->to, NodeId{0});
  EXPECT_FALSE(relieve(free)) << "its workload cools down";
}

TEST_F(RuledMoves, ThatOthersAskForNeverGoToAWorsePlace) {
  const PodId alone = cluster.add_running({1}, shape_of({}), Usage{{0.6, 2e8, 0, 0, 0, 0}});
  for (const std::uint32_t slot : {2U, 3U})
    for (int i = 0; i < 3; ++i) cluster.add_running({slot}, shape_of({}), Usage{{0.9, 2e8, 0, 0, 0, 0}});
  cluster.measure();
  EXPECT_FALSE(rebalancer().relieve(alone, cluster.state, cluster.history, cluster.options, cluster.now));
}

}  // namespace
}  // namespace evenkeel::scheduling
