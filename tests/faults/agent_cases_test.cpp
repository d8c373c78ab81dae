// Single things that may go wrong among agents, each by itself: what storms would find, said plainly.
#include <gtest/gtest.h>

#include "agent_world.h"
#include "cluster_facts.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;
namespace types = kubernetes::types;

class AgentCases : public testing::Test {
 protected:
  // Of options that are drawn, none matters here.
  AgentWorld world{1};

  void start(std::size_t nodes) {
    world.be_calm_cluster(nodes);
    world.run_for(8s);
    ASSERT_NE(world.leader(), nullptr);
  }
  void make_pods(int count) {
    for (int i = 0; i < count; ++i) world.make_pod("pod-" + std::to_string(i));
  }
  std::size_t waiting() {
    std::size_t count = 0;
    for (const auto& [key, pod] : world.server().kind(types::pods()).objects)
      count += node_of(*pod).empty() ? 1 : 0;
    return count;
  }
  void expect_no_violations() {
    for (const std::string& violation : world.violations()) ADD_FAILURE() << violation;
  }
};

TEST_F(AgentCases, TimidAgentsStrandNoPod) {
  world.agent_network().said = [](const std::string&, FromAgent& message) {
    if (auto* bids = std::get_if<AgentBids>(&message))
      for (Bid& bid : bids->bids) bid.verdict = BidVerdict::reject;
  };
  world.prepare([](apps::LiveAgentOptions& options) { options.model = nullptr; });
  start(4);
  make_pods(30);
  world.run_for(2s);
  EXPECT_EQ(waiting(), 0U);
  expect_no_violations();
}

TEST_F(AgentCases, OneAgentAloneStrandsNoPod) {
  start(5);
  const std::string last = world.leader()->name;
  for (const auto& process : world.processes())
    if (process->name != last) world.doom(process->name);
  world.run_for(10ms);
  make_pods(40);
  world.run_for(2s);
  EXPECT_EQ(waiting(), 0U);
  expect_no_violations();
}

// Its host never refuses a connection: that it is another process is told by what it answers.
TEST_F(AgentCases, ALeaderKilledAndBackOnItsAddressAtOnceIsReplacedAtOnce) {
  start(4);
  const std::string node = world.leader()->node, address = world.leader()->line->address();
  const std::string port = address.substr(address.rfind(':') + 1);
  const auto term = world.judge().term();
  world.doom(world.leader()->name);
  world.run_for(1us);
  ASSERT_EQ(world.agent_of(node), nullptr);
  world.start_agent(node, std::stoi(port));
  ASSERT_EQ(world.agent_of(node)->line->address(), address);
  make_pods(10);
  world.run_for(1s);  // the Lease, left alone, would run out after four
  EXPECT_GT(world.judge().term(), term);
  EXPECT_EQ(waiting(), 0U);
  expect_no_violations();
}

TEST_F(AgentCases, AWordAboutAnotherNodeHasNoEffect) {
  start(3);
  SimulatedConnection process(world.network(), "impostor");
  SimulatedAgentLine liar(world.agent_network(), process, "node-9", 1);
  liar.start({});
  const HolderIdentity leader{world.leader()->node, world.leader()->line->address(), 0};
  AgentHello hello;
  hello.node = "node-1";  // its certificate says node-9
  const auto agents = world.leader()->agent->desk().agents();
  liar.follow(leader, hello);
  world.run_for(1s);
  EXPECT_EQ(world.leader()->agent->desk().agents(), agents);
  EXPECT_GE(world.leader()->line->counts().refused_wrong_node, 1U);
  // With its own name it is let in, and heard about no other node.
  hello.node = "node-9";
  liar.follow(leader, hello);
  world.run_for(5s);
  EXPECT_EQ(world.leader()->agent->desk().agents().size(), agents.size() + 1);
  const auto refused = world.leader()->line->counts().refused_wrong_node;
  AgentReport report;
  report.report.node = "node-1";
  report.report.total[Dimension::cpu] = 1e6;
  liar.tell_leader(report);
  world.run_for(20ms);
  EXPECT_EQ(world.leader()->line->counts().refused_wrong_node, refused + 1);
  // A node that is not in the cluster gets no pod, however loudly it asks for them.
  world.run_for(3s);
  make_pods(20);
  AgentBids bids{static_cast<Term>(world.judge().term()), {}};
  for (const auto& [key, pod] : world.server().kind(types::pods()).objects)
    bids.bids.push_back({pod_key(pod->uid), BidVerdict::accept, 1e9F, 0});
  liar.tell_leader(bids);
  world.run_for(2s);
  EXPECT_EQ(waiting(), 0U);
  for (const auto& [key, pod] : world.server().kind(types::pods()).objects)
    EXPECT_NE(node_of(*pod), "node-9");
  expect_no_violations();
}

}  // namespace
}  // namespace evenkeel::faults
