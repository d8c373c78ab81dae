#include "agents/agents_policy.h"

#include <gtest/gtest.h>

#include "agents/test_bids.h"
#include "scheduling/policies/simple.h"
#include "scheduling/scheduler.h"
#include "scheduling/test_networks.h"

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;

// The rule takes the first node that would do, whatever agents say.
class FirstNode final : public scheduling::PlacementPolicy {
 public:
  std::optional<NodeId> choose(const scheduling::PlacementRequest& request, Random&) override {
    NodeId node{0};
    while (!request.feasible[node.slot]) ++node.slot;
    return node;
  }
  scheduling::ScoreSheet explain(const scheduling::PlacementRequest& request) override {
    Random random(1);
    return {{"first"}, {{*choose(request, random), {1}, 1}}};
  }
};

struct Asked {
  explicit Asked(std::uint32_t nodes) : bids(nodes), policy(bids.desk, std::make_unique<FirstNode>()) {}
  std::optional<NodeId> choose(const std::string& uid) { return policy.choose(bids.question(uid), random); }

  TestBids bids;
  AgentsPolicy policy;
  Random random{1};
};

TEST(AgentsPolicy, HoldsThePodWhileAgentsAreAsked) {
  Asked asked(3);
  EXPECT_FALSE(asked.policy.self_check().waits);
  EXPECT_FALSE(asked.choose("a"));
  EXPECT_TRUE(asked.policy.self_check().waits);
  EXPECT_EQ(asked.policy.review_at(), asked.bids.cluster.now + 6ms);
  EXPECT_EQ(asked.policy.explain(asked.bids.question("a")).note,
            "agents are being asked: 3, of which 3 have not answered");
  asked.bids.accept(0, "a", 0.1F);
  asked.bids.accept(1, "a", 0.3F);
  asked.bids.say(2, "a", BidVerdict::reject, 5);
  EXPECT_EQ(asked.choose("a"), NodeId{1});
  EXPECT_FALSE(asked.policy.self_check().waits);
}

TEST(AgentsPolicy, LetsTheRuleChooseAmongThoseThatAcceptWhatWeighsLittle) {
  Asked asked(4);
  asked.bids.milli_cpu = 200;  // a twentieth
  EXPECT_FALSE(asked.choose("a"));
  asked.bids.say(0, "a", BidVerdict::reject);
  asked.bids.accept(1, "a", 0.1F);
  asked.bids.accept(2, "a", 0.2F);
  asked.bids.accept(3, "a", 0.3F);
  EXPECT_EQ(asked.choose("a"), NodeId{1}) << "the first of those that accept, and not the first of all";
  asked.bids.milli_cpu = 201;
  EXPECT_FALSE(asked.choose("b"));
  for (std::uint32_t slot = 0; slot < 4; ++slot)
    asked.bids.accept(slot, "b", 0.1F * static_cast<float>(slot));
  EXPECT_EQ(asked.choose("b"), NodeId{3});
}

TEST(AgentsPolicy, ExplainsByTheAgentsWords) {
  Asked asked(4);
  asked.choose("a");
  asked.bids.accept(1, "a", 0.1F);
  asked.bids.accept(2, "a", 0.3F);
  asked.bids.say(3, "a", BidVerdict::reject, 5);
  asked.bids.pass(20ms);
  ASSERT_EQ(asked.choose("a"), NodeId{2});
  const scheduling::ScoreSheet sheet = asked.policy.explain(asked.bids.question("a"));
  EXPECT_EQ(sheet.terms, (std::vector<std::string>{"accepts", "score"}));
  ASSERT_EQ(sheet.rows.size(), 4U);
  EXPECT_EQ(sheet.rows[0].node, NodeId{2});
  EXPECT_EQ(sheet.rows[0].parts[0], 1);
  EXPECT_NEAR(sheet.rows[0].parts[1], 0.3, 1e-6);
  EXPECT_EQ(sheet.rows[1].node, NodeId{1});
  EXPECT_EQ(sheet.rows[2].node, NodeId{3}) << "who rejects comes after who accepts, whatever it scores";
  EXPECT_EQ(sheet.note, "decided by agents: 3 of 4 agents answered in 20.0 ms; the best bid 0.30");
}

TEST(AgentsPolicy, LeavesItToTheRuleWhereNoneAccepts) {
  Asked asked(2);
  asked.choose("a");
  for (std::uint32_t slot = 0; slot < 2; ++slot) asked.bids.say(slot, "a", BidVerdict::reject);
  EXPECT_EQ(asked.choose("a"), NodeId{0});
  const scheduling::ScoreSheet sheet = asked.policy.explain(asked.bids.question("a"));
  EXPECT_EQ(sheet.terms, std::vector<std::string>{"first"});
  EXPECT_EQ(sheet.note, "decided by the rule: 2 agents answered, none accepts: 2 reject");
}

TEST(AgentsPolicy, LeavesItToTheRuleWhereNobodyIsThereOrAnswers) {
  Asked asked(2);
  asked.choose("a");
  asked.bids.pass(60ms);
  EXPECT_EQ(asked.choose("a"), NodeId{0});
  asked.bids.desk.left("node-0");
  asked.bids.desk.left("node-1");
  EXPECT_EQ(asked.choose("b"), NodeId{0});
  asked.bids.desk.end_term();
  EXPECT_EQ(asked.choose("c"), NodeId{0});
}

TEST(AgentsPolicy, SendsAPodWhereItsGroupPlannedIt) {
  Asked asked(3);
  scheduling::PlacementRequest request = asked.bids.question("a");
  request.planned = NodeId{2};
  EXPECT_EQ(asked.policy.choose(request, asked.random), NodeId{2});
  EXPECT_TRUE(asked.bids.letters().empty());
  EXPECT_EQ(asked.policy.explain(request).note, "decided by the plan of its group");
}

TEST(AgentsPolicy, ExplainingAsksNobody) {
  Asked asked(2);
  EXPECT_EQ(asked.policy.explain(asked.bids.question("a")).note, "agents are not asked yet");
  EXPECT_TRUE(asked.bids.letters().empty());
  EXPECT_EQ(asked.bids.desk.figures().open, 0U);
}

TEST(AgentsPolicy, TellsAgentsWhatTalkingToThePodsPeersWouldCost) {
  scheduling::TestCluster cluster;
  scheduling::add_eight_nodes(cluster.state);
  cluster.state.set_object(scheduling::eight_node_costs());
  cluster.state.set_object(scheduling::group_of("shop", {{"web", "api"}}));
  Pod pod = test_pod({1, 1}, scheduling::member_shape("shop", "api"));
  pod.uid = "a";
  EXPECT_TRUE(delays_of(cluster.question(pod)).empty()) << "nobody to talk to yet";
  for (const std::uint32_t slot : {0U, 4U})
    cluster.add_running({slot}, scheduling::member_shape("shop", "web"));
  EXPECT_EQ(delays_of(cluster.question(pod)),
            (std::vector<float>{10, 10.5F, 12.5F, 12.5F, 10, 10.5F, 15, 15}));

  BidDesk desk({}, Random(1));
  desk.begin_term(1);
  AgentHello hello;
  hello.sees_pods = true;
  desk.joined("n-3", hello);
  AgentsPolicy policy(desk, std::make_unique<FirstNode>());
  Random random(1);
  EXPECT_FALSE(policy.choose(cluster.question(pod), random));
  const auto letters = desk.take_letters();
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(std::get<LeaderAsks>(letters[0].message).questions.at(0).delay, 12.5F);
}

// The whole way: a scheduler asks, holds, and commits what agents said.
TEST(AgentsPolicy, ServesAScheduler) {
  scheduling::Scheduler scheduler{scheduling::SchedulingOptions{}};
  BidDesk desk({}, Random(1));
  AgentsPolicy policy(desk, std::make_unique<FirstNode>());
  Random random(1);
  Time now = Time{} + 1h;
  desk.begin_term(1);
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    scheduler.observe(NodeAdded{test_node(slot)}, now);
    desk.joined("node-" + std::to_string(slot), {});
  }
  Pod pod = test_pod({0, 1}, shape_asking(500, 0));
  pod.uid = "a";
  scheduler.observe(PodAdded{pod}, now);
  const scheduling::Next next = scheduler.next(now);
  const auto* request = std::get_if<scheduling::PlacementRequest>(&next);
  ASSERT_TRUE(request);
  EXPECT_FALSE(policy.choose(*request, random));
  scheduler.hold(*request);
  EXPECT_TRUE(std::holds_alternative<scheduling::NothingToDo>(scheduler.next(now)));
  for (std::uint32_t slot = 0; slot < 2; ++slot)
    desk.heard("node-" + std::to_string(slot),
               {1, {{pod_key("a"), BidVerdict::accept, static_cast<float>(slot), 0}}}, now);
  ASSERT_TRUE(desk.has_news(now));
  desk.news_seen();
  scheduler.observe(NodeUpdated{test_node(0)}, now);  // releases who is held
  const scheduling::Next again = scheduler.next(now);
  const auto* second = std::get_if<scheduling::PlacementRequest>(&again);
  ASSERT_TRUE(second);
  const std::optional<NodeId> chosen = policy.choose(*second, random);
  ASSERT_EQ(chosen, NodeId{1});
  const Action action = scheduler.commit(*second, *chosen);
  EXPECT_EQ(std::get<BindPod>(action).node, NodeId{1});
  desk.awarded(pod_key("a"), "node-1");
  EXPECT_EQ(desk.take_letters().size(), 1U) << "the award: what is decided is not asked any more";
}

}  // namespace
}  // namespace evenkeel::agents
