#include "training/node_agents_env.h"

#include <gtest/gtest.h>

namespace evenkeel::training {
namespace {

RandomWorld small_world(std::uint64_t seed) { return make_random_world({8, 1}, seed); }

NodeAgentsOptions options() {
  const scheduling::MarlBrainOptions brain = scheduling::shared_brain();
  return {brain.inputs, brain.reward};
}

// Plays a world, everybody offering by lot; what it came to.
struct Played {
  std::uint64_t pods = 0, accepted = 0, joint = 0;
  double reward = 0, imbalance = 0;
};
Played play(std::uint64_t seed, const NodeAgentsOptions& options) {
  const RandomWorld world = small_world(seed);
  NodeAgentsEnv env(world, options, seed);
  Random random(seed);
  Played played;
  const auto take = [&] {
    for (const auto& completed : env.experiences()) {
      played.accepted += completed.experience.action;
      played.reward += completed.experience.reward;
    }
    played.joint += env.joint_experiences().size();
  };
  while (env.next()) {
    take();
    std::vector<scheduling::AgentWord> words(env.askable().size());
    for (scheduling::AgentWord& word : words)
      word = {BidVerdict::accept, static_cast<float>(random.uniform()), false};
    env.step(words);
  }
  take();
  played.pods = env.pods();
  played.imbalance = env.result()["imbalance"];
  return played;
}

TEST(NodeAgentsEnv, GivesEveryPodToSomebodyAndTellsWhatCameOfIt) {
  const Played played = play(3, options());
  EXPECT_GT(played.pods, 50U);
  EXPECT_GT(played.accepted, played.pods * 8 / 10);
  EXPECT_LE(played.accepted, played.pods);
  EXPECT_GT(played.joint, played.pods * 8 / 10);
  EXPECT_GT(played.imbalance, 0);
}

TEST(NodeAgentsEnv, IsTheSameForASeed) {
  const Played one = play(4, options()), two = play(4, options());
  EXPECT_EQ(one.pods, two.pods);
  EXPECT_EQ(one.reward, two.reward);
  EXPECT_EQ(one.imbalance, two.imbalance);
}

TEST(NodeAgentsEnv, SaysWhoMayAccept) {
  const RandomWorld world = small_world(5);
  NodeAgentsEnv env(world, options(), 5);
  ASSERT_TRUE(env.next());
  EXPECT_EQ(env.agents().size(), world.plan.nodes.size());
  EXPECT_EQ(static_cast<std::size_t>(env.observations().cols()), env.askable().size());
  for (std::size_t i = 0; i < env.agents().size(); ++i) {
    const bool askable = std::find(env.askable().begin(), env.askable().end(), i) != env.askable().end();
    EXPECT_EQ(env.agents()[i].may_accept, askable);
    EXPECT_EQ(env.agents()[i].observation.empty(), !askable);
  }
}

TEST(NodeAgentsEnv, LetsTheRuleDecideWhereNobodyAccepts) {
  const RandomWorld world = small_world(6);
  NodeAgentsEnv env(world, options(), 6);
  ASSERT_TRUE(env.next());
  env.step(std::vector<scheduling::AgentWord>(env.askable().size()));
  EXPECT_EQ(env.unclaimed(), 1U);
}

TEST(NodeAgentsEnv, TellsEveryAgentWhereTheThesissRewardCounts) {
  NodeAgentsOptions thesis;
  const Played played = play(7, thesis);
  EXPECT_GT(played.pods, 0U);
}

}  // namespace
}  // namespace evenkeel::training
