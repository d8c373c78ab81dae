#include "scheduling/policies/marl.h"

#include <gtest/gtest.h>

#include "scheduling/policies/registry.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

// A cluster in which pods are placed by the policy and found to run.
class MarlPolicy : public testing::Test {
 protected:
  MarlPolicy() : cluster_(4) { cluster_.measure(Usage{{0.5, 1 << 30, 0, 0, 0, 0}}); }

  NodeId place(Marl& policy) {
    const Pod pod = test_pod({next_slot_++, 1}, shape_asking(100, 1 << 20));
    cluster_.state.add_pending(pod);
    const auto chosen = policy.choose(cluster_.question(pod), random_);
    EXPECT_TRUE(chosen);
    cluster_.state.assume(pod.id, *chosen, {}, cluster_.now);
    cluster_.state.confirm(pod.id, *chosen, cluster_.now);
    return *chosen;
  }
  void let_pass(Marl& policy, Duration time) {
    cluster_.now += time;
    cluster_.measure(Usage{{0.5, 1 << 30, 0, 0, 0, 0}});
    if (policy.review_at() <= cluster_.now)
      policy.review({cluster_.state, cluster_.history, cluster_.options, cluster_.now}, random_);
  }
  // A network that likes nodes whose CPU is little used, and accepts everything or nothing.
  static learning::Model likes_empty_nodes(bool accepts) {
    Random random(1);
    MarlBrainOptions options = shared_brain();
    options.dqn.hidden = {1};
    MarlBrain brain(options, random);
    const std::span<learning::Real> p = brain.dqn().network().parameters();
    std::fill(p.begin(), p.end(), 0.0);
    p[0] = -0.1;  // of the first input, its CPU
    const learning::Network::Layer& last = brain.dqn().network().layers().back();
    p[last.weights + 1] = 1;
    p[last.biases] = accepts ? -10 : 10;
    return marl_model(options, {brain.network("agent")});
  }

  TestCluster cluster_;
  Random random_{1};
  std::uint32_t next_slot_ = 1;
};

TEST_F(MarlPolicy, GivesThePodToWhoOffersMost) {
  auto policy = Marl::from_model(*marl_settings("marl-shared"), likes_empty_nodes(true));
  ASSERT_TRUE(policy);
  for (const std::uint32_t slot : {0U, 1U, 3U})
    cluster_.add_running({slot}, shape_asking(100, 1 << 20), Usage{{2, 0, 0, 0, 0, 0}});
  EXPECT_EQ(place(**policy), NodeId{2});
}

TEST_F(MarlPolicy, ShowsEachAgentsWord) {
  auto policy = Marl::from_model(*marl_settings("marl-shared"), likes_empty_nodes(true));
  const Pod pod = test_pod({1, 1}, shape_asking(100, 1 << 20));
  const ScoreSheet sheet = (*policy)->explain(cluster_.question(pod));
  EXPECT_EQ(sheet.terms, (std::vector<std::string>{"accepts", "score"}));
  ASSERT_EQ(sheet.rows.size(), 4U);
  EXPECT_EQ(sheet.rows.front().parts.front(), 1);
}

TEST_F(MarlPolicy, LetsTheRuleDecideWhereNobodyAccepts) {
  auto policy = Marl::from_model(*marl_settings("marl-shared"), likes_empty_nodes(false));
  ASSERT_TRUE(policy);
  const Pod pod = test_pod({77, 1}, shape_asking(100, 1 << 20));
  EXPECT_EQ((*policy)->explain(cluster_.question(pod)).note, "kube-default, since no agent accepts");
  place(**policy);
  EXPECT_EQ((*policy)->progress().unclaimed, 1U);
}

TEST_F(MarlPolicy, IsGivenItsRewardFifteenSecondsAfterTheDecision) {
  Marl policy(*marl_settings("marl"));
  EXPECT_EQ(policy.review_at(), Time::max());
  place(policy);
  EXPECT_EQ(policy.review_at(), cluster_.now + 15s);
  let_pass(policy, 15s);
  EXPECT_EQ(policy.progress().rewards, 4U) << "every agent, the others for having rejected";
  EXPECT_EQ(policy.review_at(), Time::max());
}

TEST_F(MarlPolicy, LearnsOnlyFromTheWinnersPodWhereAgentsShare) {
  Marl policy(*marl_settings("marl-shared"));
  place(policy);
  for (int i = 0; i < 10; ++i) let_pass(policy, 15s);
  EXPECT_EQ(policy.progress().rewards, 1U);
}

TEST_F(MarlPolicy, LearnsNothingFrozen) {
  MarlSettings settings = *marl_settings("marl-shared");
  settings.brain.frozen = true;
  auto policy = Marl::from_model(settings, likes_empty_nodes(true));
  place(**policy);
  EXPECT_EQ((*policy)->review_at(), Time::max());
  EXPECT_TRUE((*policy)->learning().empty());
}

TEST_F(MarlPolicy, LetsANewNodeBeginWithWhatAllShare) {
  MarlSettings settings = *marl_settings("marl-shared");
  settings.brain.dqn.epsilon_start = settings.brain.dqn.epsilon_end = 0;
  learning::Model model = likes_empty_nodes(true);
  model.figures["epsilon"] = 0;
  auto policy = Marl::from_model(settings, model);
  for (std::uint32_t slot = 0; slot < 4; ++slot)
    cluster_.add_running({slot}, shape_asking(100, 1 << 20), Usage{{2, 0, 0, 0, 0, 0}});
  place(**policy);
  cluster_.state.set_node(test_node(4));
  cluster_.measure(Usage{{0.5, 1 << 30, 0, 0, 0, 0}});
  EXPECT_EQ(place(**policy), NodeId{4}) << "it is the emptiest, and knows what that is worth";
}

TEST_F(MarlPolicy, ForgetsADecisionWhoseBindingFailed) {
  Marl policy(*marl_settings("marl"));
  const Pod pod = test_pod({1, 1}, shape_asking(100, 1 << 20));
  cluster_.state.add_pending(pod);
  policy.choose(cluster_.question(pod), random_);
  policy.choose(cluster_.question(pod), random_);
  let_pass(policy, 15s);
  EXPECT_EQ(policy.progress().rewards, 4U) << "once";
}

TEST_F(MarlPolicy, AsksSomeOfVeryMany) {
  MarlSettings settings = *marl_settings("marl-shared");
  settings.most_asked = 3;
  auto policy = Marl::from_model(settings, likes_empty_nodes(true));
  for (int i = 0; i < 5; ++i) place(**policy);
  EXPECT_EQ((*policy)->progress().decisions, 5U);
}

TEST(MarlRegistry, HasBothPolicies) {
  EXPECT_TRUE(is_learned("marl"));
  EXPECT_TRUE(is_learned("marl-shared+frozen"));
  EXPECT_FALSE(marl_settings("drs"));
}

}  // namespace
}  // namespace evenkeel::scheduling
