#include "scheduling/policies/drs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduling/policies/registry.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

// A cluster in which pods are placed by the policy and found to run, second by second.
class DrsPolicy : public testing::Test {
 protected:
  explicit DrsPolicy(std::uint32_t nodes = 4) : cluster_(nodes) { report(); }

  void report(const Usage& total = Usage{{1, 1 << 30, 0, 0, 0, 0}}) {
    for (std::uint32_t slot = 0; slot < cluster_.state.columns().size(); ++slot)
      cluster_.state.add_report({{slot}, cluster_.now, total, {}},
                                [](const PodRecord& r, const Usage&) { return r.expected; });
  }

  // Asks, and lets the pod be bound where the policy says.
  PodId place(Drs& policy, bool bound = true) {
    const Pod pod = next_pod();
    ask(policy, pod);
    if (bound) cluster_.state.confirm(pod.id, node_, cluster_.now);
    return pod.id;
  }
  Pod next_pod() {
    const Pod pod = test_pod({next_slot_++, 1}, shape_asking(100, 1 << 20));
    cluster_.state.add_pending(pod);
    return pod;
  }
  void ask(Drs& policy, const Pod& pod) {
    const auto chosen = policy.choose(cluster_.question(pod), random_);
    ASSERT_TRUE(chosen);
    node_ = *chosen;
    cluster_.state.assume(pod.id, node_, {}, cluster_.now);
  }
  void review(Drs& policy) {
    policy.review({cluster_.state, cluster_.history, cluster_.options, cluster_.now}, random_);
  }
  // Five seconds later, with a sample that shows it.
  void let_pass(Drs& policy, Duration time = 5s) {
    cluster_.now += time;
    report();
    if (policy.review_at() <= cluster_.now) review(policy);
  }

  TestCluster cluster_;
  Random random_{1};
  NodeId node_;
  std::uint32_t next_slot_ = 1;
};

Drs from_nothing(std::string_view name = "drs") { return Drs(*drs_settings(name)); }

TEST_F(DrsPolicy, IsGivenItsRewardFiveSecondsAfterTheDecision) {
  Drs policy = from_nothing();
  EXPECT_EQ(policy.review_at(), Time::max());
  place(policy);
  EXPECT_EQ(policy.review_at(), cluster_.now + 5s);
  let_pass(policy, 4s);
  EXPECT_EQ(policy.progress().rewards, 0U);
  let_pass(policy, 1s);
  EXPECT_EQ(policy.progress().rewards, 1U);
  EXPECT_EQ(policy.review_at(), Time::max());
  // All nodes alike: no imbalance, and utilisation (1 of 4 cores, 1 of 8 GiB) / 6.
  EXPECT_NEAR(policy.progress().last_reward, 100 * (0.25 + 0.125) / 6, 1e-9);
}

TEST_F(DrsPolicy, LearnsFromTheFirstFullBatch) {
  Drs policy = from_nothing();
  for (int i = 0; i < 31; ++i) {
    place(policy);
    let_pass(policy);
  }
  EXPECT_EQ(policy.progress().updates, 0U);
  place(policy);
  let_pass(policy);
  EXPECT_EQ(policy.progress().updates, 1U);
}

TEST_F(DrsPolicy, ShowsHowItLearnsOnceThereIsAnything) {
  Drs policy = from_nothing();
  EXPECT_TRUE(policy.learning().empty());
  place(policy);
  let_pass(policy);
  const std::vector<LearningFigure> figures = policy.learning();
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0].name, "reward");
  EXPECT_EQ(figures[0].value, policy.progress().last_reward);
  EXPECT_EQ(figures[1].name, "loss");
  EXPECT_EQ(figures[2].name, "epsilon");
  EXPECT_EQ(figures[2].value, 0.1);
  policy.set_frozen(true);
  EXPECT_TRUE(policy.learning().empty()) << "what is frozen learns nothing";
}

TEST_F(DrsPolicy, ReadLiterallyLearnsOnlyOnceThePoolHasOverflowed) {
  Drs policy = from_nothing("drs-literal");
  for (int i = 0; i < 300; ++i) {
    const PodId pod = place(policy);
    let_pass(policy);
    cluster_.state.remove_pod(pod);
  }
  EXPECT_EQ(policy.progress().rewards, 300U);
  EXPECT_EQ(policy.progress().updates, 0U) << "so never in the paper's 300 pods";
  place(policy);
  let_pass(policy);
  EXPECT_EQ(policy.progress().updates, 1U);
}

TEST_F(DrsPolicy, LearnsNothingFromABindingThatFailed) {
  Drs policy = from_nothing();
  const PodId pod = place(policy, false);
  cluster_.state.unassume(pod);
  let_pass(policy);
  EXPECT_EQ(policy.progress().rewards, 0U);
  EXPECT_EQ(policy.progress().dropped, 1U);
}

TEST_F(DrsPolicy, LearnsOnceFromAPodThatWasAskedAboutTwice) {
  Drs policy = from_nothing();
  const Pod pod = next_pod();
  ask(policy, pod);
  cluster_.now += 1s;
  cluster_.state.unassume(pod.id);
  ask(policy, pod);
  cluster_.state.confirm(pod.id, node_, cluster_.now);
  EXPECT_EQ(policy.review_at(), cluster_.now + 5s) << "of the second decision";
  let_pass(policy);
  EXPECT_EQ(policy.progress().rewards, 1U);
  EXPECT_EQ(policy.progress().dropped, 1U);
}

TEST_F(DrsPolicy, WaitsForABindingThatTakesItsTimeAndForASample) {
  Drs policy = from_nothing();
  const PodId slow = place(policy, false);
  let_pass(policy);
  EXPECT_EQ(policy.progress().rewards, 0U);
  EXPECT_EQ(policy.review_at(), cluster_.now + 1s);
  cluster_.state.confirm(slow, node_, cluster_.now);
  let_pass(policy, 1s);
  EXPECT_EQ(policy.progress().rewards, 1U);
  place(policy);
  cluster_.now += 5s;  // and nothing is reported
  review(policy);
  EXPECT_EQ(policy.progress().rewards, 1U);
  let_pass(policy, 1s);
  EXPECT_EQ(policy.progress().rewards, 2U);
}

TEST_F(DrsPolicy, GivesUpOnAPodThatIsGone) {
  Drs policy = from_nothing();
  cluster_.state.remove_pod(place(policy));
  let_pass(policy);
  EXPECT_EQ(policy.progress().dropped, 1U);
  EXPECT_EQ(policy.review_at(), Time::max());
}

TEST_F(DrsPolicy, NeverChoosesANodeThatIsNotFeasible) {
  for (const std::string_view name : drs_policies()) {
    Drs policy = from_nothing(name);
    Node cordoned = test_node(1);
    cordoned.unschedulable = true;
    cluster_.state.set_node(cordoned);
    for (int i = 0; i < 100; ++i) {
      cluster_.state.remove_pod(place(policy));
      ASSERT_NE(node_.slot, 1U) << name;
      let_pass(policy);
    }
  }
}

TEST_F(DrsPolicy, LetsNoMetricThatIsNoNumberReachAWeight) {
  for (const std::string_view name : drs_policies()) {
    Drs policy = from_nothing(name);
    const int pods = name == "drs-literal" ? 480 : 120;  // a third of which teach nothing
    for (int i = 0; i < pods; ++i) {
      const PodId pod = place(policy);
      let_pass(policy);
      if (i % 3 == 0) report(Usage{{std::nan(""), 1e9, -5, INFINITY, 0, 0}});
      cluster_.state.remove_pod(pod);
    }
    for (const learning::ModelNetwork& network : policy.learner().networks())
      EXPECT_TRUE(learning::all_finite(network.parameters)) << name;
    EXPECT_GT(policy.progress().updates, 0U) << name;
  }
}

TEST_F(DrsPolicy, DecidesByKubeDefaultWhereMetricsAreMissingOrStale) {
  Drs policy = from_nothing();
  cluster_.state.found(test_pod({50, 1}, shape_asking(3000, 4LL << 30)), {0}, {}, cluster_.now);
  cluster_.now += cluster_.options.stale_after + 1s;
  for (int i = 0; i < 10; ++i) {
    cluster_.state.remove_pod(place(policy));
    EXPECT_NE(node_.slot, 0U) << "the fullest by requests";
  }
  EXPECT_EQ(policy.review_at(), Time::max()) << "and learns nothing from it";
}

TEST_F(DrsPolicy, BeginsAnewWhenANodeJoinsAndMasksOneThatLeaves) {
  Drs policy = from_nothing();
  place(policy);
  EXPECT_EQ(policy.learner().networks()[0].shape.outputs, 4);
  cluster_.state.remove_node({3});
  place(policy);
  EXPECT_EQ(policy.learner().networks()[0].shape.outputs, 4);
  cluster_.state.set_node(test_node(7));
  place(policy);
  EXPECT_EQ(policy.learner().networks()[0].shape.outputs, 4) << "three left and one new";
  cluster_.state.set_node(test_node(8));
  place(policy);
  EXPECT_EQ(policy.learner().networks()[0].shape.outputs, 5);
}

TEST_F(DrsPolicy, ExplainsByItsValuesOfEachNode) {
  Drs policy = from_nothing();
  EXPECT_EQ(policy.explain(cluster_.question(next_pod())).terms[0], "nothing learnt yet");
  place(policy);
  policy.set_frozen(true);
  const Pod pod = next_pod();
  const ScoreSheet sheet = policy.explain(cluster_.question(pod));
  ASSERT_EQ(sheet.rows.size(), 4U);
  EXPECT_EQ(sheet.terms, std::vector<std::string>{"Q"});
  EXPECT_GT(sheet.rows[0].total, sheet.rows[3].total);
  EXPECT_EQ(policy.choose(cluster_.question(pod), random_), sheet.rows[0].node);
}

TEST_F(DrsPolicy, TakesUpItsOwnModelAndRefusesOthersByName) {
  for (const std::string_view name : drs_policies()) {
    Drs policy = from_nothing(name);
    place(policy);
    const learning::Model model = policy.model();
    ASSERT_EQ(model.encoding, name);
    DrsSettings frozen = *drs_settings(name);
    frozen.frozen = true;
    const auto taken = Drs::from_model(frozen, model);
    ASSERT_TRUE(taken) << taken.error().message;
    policy.set_frozen(true);
    const Pod pod = next_pod();
    EXPECT_EQ((*taken)->choose(cluster_.question(pod), random_),
              policy.choose(cluster_.question(pod), random_));
    EXPECT_EQ((*taken)->review_at(), Time::max()) << "frozen: learns nothing";
    EXPECT_TRUE(check_drs_model(*drs_settings(name), model, 4));
    const Status refused = check_drs_model(*drs_settings(name), model, 5);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("is for 4 nodes, this cluster has 5"), std::string::npos);
    learning::Model other = model;
    other.encoding = "evenkeel";
    const auto foreign = Drs::from_model(frozen, other);
    ASSERT_FALSE(foreign);
    EXPECT_NE(foreign.error().message.find("'evenkeel'"), std::string::npos);
  }
}

TEST_F(DrsPolicy, WithAModelForAnotherNumberOfNodesDecidesByKubeDefault) {
  Drs policy = from_nothing();
  place(policy);
  const auto taken = Drs::from_model(*drs_settings("drs"), policy.model());
  ASSERT_TRUE(taken);
  cluster_.state.set_node(test_node(4));
  const Pod pod = next_pod();
  EXPECT_NE((*taken)->explain(cluster_.question(pod)).terms[0], "Q");
  EXPECT_EQ((*taken)->self_check().silent, "its network is for another number of nodes");
  EXPECT_TRUE((*taken)->choose(cluster_.question(pod), random_));
  EXPECT_EQ((*taken)->review_at(), Time::max());
}

TEST(DrsSettings, AreThePapers) {
  const DrsSettings drs = *drs_settings("drs");
  EXPECT_EQ(drs.learner.dqn.replay.capacity, 300U);  // N
  EXPECT_EQ(drs.learner.dqn.target_every, 50U);      // K
  EXPECT_EQ(drs.learner.dqn.epsilon_start, 0.1);     // epsilon
  EXPECT_EQ(drs.learner.dqn.epsilon_end, 0.1);
  EXPECT_EQ(drs.beta, 200);         // beta / alpha
  EXPECT_EQ(drs.reward_after, 5s);  // T_i
  EXPECT_EQ(drs.learner.dqn.hidden, std::vector<int>{50});
  EXPECT_TRUE(drs_settings("drs-double")->learner.dqn.double_q);
  EXPECT_TRUE(drs_settings("drs-dueling")->learner.dqn.dueling);
  EXPECT_FALSE(drs_settings("drs-nothing"));
}

}  // namespace
}  // namespace evenkeel::scheduling
