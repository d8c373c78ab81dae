// What carries the agents' words in the fault tests, held to what a network may do and what it may not.
#include "simulated_agents.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;
using Line = messaging::AgentTransport::Line;
constexpr Time kStart{1'800'000'000s};
constexpr std::uint64_t kSeeds = 300;

// One process that writes down what it is told.
struct Agent {
  Agent(SimulatedNetwork& api, AgentNetwork& network, const std::string& node, int port,
        std::uint64_t incarnation)
      : process(api, node), line(network, process, node, port) {
    hello.node = node;
    hello.incarnation = incarnation;
    messaging::AgentTransport::Handlers handlers;
    handlers.line = [this](Line state, const std::string&) { lines.push_back(state); };
    handlers.from_leader = [this](const FromLeader& message) {
      if (const auto* beat = std::get_if<LeaderBeat>(&message)) beats.push_back(beat->beat);
      if (const auto* not_leading = std::get_if<NotLeading>(&message))
        elsewhere.push_back(not_leading->holder);
    };
    handlers.joined = [this](const std::string& who, const AgentHello& said) {
      joined.push_back(who + " " + std::to_string(said.incarnation));
    };
    handlers.left = [this](const std::string& who) { joined.push_back(who + " left"); };
    handlers.from_agent = [this](const std::string& who, const FromAgent& message) {
      heard[who].push_back(std::get<AgentBids>(message).term);
    };
    line.start(handlers);
  }
  void follow(const Agent& leader) {
    line.follow({leader.line.node(), leader.line.address(), leader.hello.incarnation}, hello);
  }
  void say(Term number) { line.tell_leader(AgentBids{number, {}}); }
  void beat(std::uint32_t number) {
    LeaderBeat beat;
    beat.beat = number;
    line.tell_all(beat);
  }

  SimulatedConnection process;
  SimulatedAgentLine line;
  AgentHello hello;
  std::vector<Line> lines;
  std::vector<std::uint32_t> beats;
  std::vector<std::string> elsewhere, joined;
  std::map<std::string, std::vector<Term>> heard;
};

class Agents : public testing::Test {
 protected:
  std::unique_ptr<Agent> make(const std::string& node, int port = 9473) {
    return std::make_unique<Agent>(api, network, node, port, ++incarnations);
  }
  void run_for(Duration time) { clock.run_until(clock.now() + time); }
  bool was(const Agent& agent, Line line) const {
    return std::ranges::find(agent.lines, line) != agent.lines.end();
  }

  VirtualTime clock{kStart};
  SimulatedApiServer server{clock};
  SimulatedNetwork api{server, Random(1)};
  AgentNetwork network{clock, Random(2)};
  std::uint64_t incarnations = 0;
};

TEST_F(Agents, SayHelloFirstAndAreHeardInOrder) {
  const auto leader = make("a"), member = make("b");
  leader->line.lead(true, {});
  member->follow(*leader);
  EXPECT_TRUE(member->lines.empty()) << "nothing is told from within a call";
  run_for(1s);
  EXPECT_EQ(leader->joined, std::vector<std::string>{"b 2"});
  for (Term i = 1; i <= 50; ++i) member->say(i);
  for (std::uint32_t i = 1; i <= 50; ++i) leader->beat(i);
  EXPECT_TRUE(leader->heard.empty());
  run_for(1s);
  ASSERT_EQ(leader->heard["b"].size(), 50U);
  ASSERT_EQ(member->beats.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(leader->heard["b"]));
  EXPECT_TRUE(std::ranges::is_sorted(member->beats));
  EXPECT_EQ(member->lines, std::vector<Line>{Line::open});
}

TEST_F(Agents, AreSentToWhoeverLeads) {
  const auto other = make("a"), member = make("b");
  other->line.lead(false, {7, "c/10.0.0.3:1/1"});
  member->follow(*other);
  run_for(20ms);
  EXPECT_EQ(member->elsewhere, std::vector<std::string>{"c/10.0.0.3:1/1"});
  EXPECT_EQ(member->lines, (std::vector<Line>{Line::lost}));
  EXPECT_TRUE(other->joined.empty());
  // Who led is heard of no more, and says so.
  other->line.lead(true, {});
  run_for(1s);
  EXPECT_EQ(other->joined, std::vector<std::string>{"b 2"});
  other->line.lead(false, {8, "d/10.0.0.4:1/1"});
  run_for(20ms);
  EXPECT_EQ(member->elsewhere.back(), "d/10.0.0.4:1/1");
  EXPECT_EQ(member->lines.back(), Line::lost);
  EXPECT_EQ(other->joined.back(), "b left");
}

TEST_F(Agents, OfADeadProcessLearnThatItIsGone) {
  auto leader = make("a");
  const auto member = make("b");
  leader->line.lead(true, {});
  member->follow(*leader);
  run_for(1s);
  leader.reset();
  run_for(200ms);
  ASSERT_GE(member->lines.size(), 3U);
  EXPECT_EQ((std::vector<Line>{member->lines.begin(), member->lines.begin() + 3}),
            (std::vector<Line>{Line::open, Line::lost, Line::refused}));
}

TEST_F(Agents, OfAMachineWithoutPowerLearnNothing) {
  auto leader = make("a");
  const auto member = make("b");
  leader->line.lead(true, {});
  member->follow(*leader);
  run_for(1s);
  network.power_off("a");
  leader.reset();
  run_for(4s);
  EXPECT_EQ(member->lines, std::vector<Line>{Line::open}) << "its time-out has not come";
  run_for(30s);
  EXPECT_TRUE(was(*member, Line::lost));
  EXPECT_FALSE(was(*member, Line::refused));
  network.power_on("a");
  run_for(5s);
  EXPECT_TRUE(was(*member, Line::refused)) << "the machine is back, the process is not";
}

TEST_F(Agents, OfAStoppedProcessAreHeardOnceItGoesOn) {
  const auto leader = make("a"), member = make("b"), late = make("c");
  leader->line.lead(true, {});
  member->follow(*leader);
  run_for(1s);
  leader->process.pause();
  for (Term i = 1; i <= 5; ++i) member->say(i);
  late->follow(*leader);
  run_for(20s);
  EXPECT_TRUE(leader->heard.empty());
  EXPECT_TRUE(was(*late, Line::lost));
  EXPECT_FALSE(was(*late, Line::refused)) << "its kernel takes connections";
  EXPECT_EQ(member->lines, std::vector<Line>{Line::open});
  leader->process.resume();
  run_for(3s);
  EXPECT_EQ(leader->heard["b"], (std::vector<Term>{1, 2, 3, 4, 5}));
  EXPECT_EQ(late->lines.back(), Line::open);
}

TEST_F(Agents, BehindACutAreHeardLateOrLostInSilence) {
  const auto leader = make("a"), member = make("b");
  leader->line.lead(true, {});
  member->follow(*leader);
  run_for(1s);
  network.cut_between({"a"}, {"b"});
  member->say(1);
  run_for(2s);
  network.heal();
  run_for(1s);
  EXPECT_EQ(leader->heard["b"], std::vector<Term>{1}) << "what was said meanwhile is sent again";
  network.cut_between({"a"}, {"b"});
  member->say(2);
  run_for(60s);
  EXPECT_TRUE(was(*member, Line::lost));
  EXPECT_FALSE(was(*member, Line::refused));
  EXPECT_EQ(leader->joined.back(), "b left");
  network.heal();
  run_for(10s);
  EXPECT_EQ(leader->joined.back(), "b 2");
  EXPECT_EQ(leader->heard["b"], std::vector<Term>{1}) << "words of a lost connection";
}

TEST_F(Agents, CutOffOneWayLoseEachOtherAndAreNeverRefused) {
  auto leader = make("a");
  const auto member = make("b");
  leader->line.lead(true, {});
  member->follow(*leader);
  run_for(1s);
  network.cut("a", "b");
  member->say(1);
  run_for(1s);
  EXPECT_EQ(leader->heard["b"], std::vector<Term>{1});
  run_for(30s);
  EXPECT_TRUE(was(*member, Line::lost));
  leader.reset();
  run_for(30s);
  EXPECT_FALSE(was(*member, Line::refused)) << "that nobody listens cannot be heard either";
}

TEST_F(Agents, SpeakForTheNodeOfTheirCertificateAlone) {
  const auto leader = make("a"), liar = make("b");
  leader->line.lead(true, {});
  liar->hello.node = "c";
  liar->follow(*leader);
  run_for(1s);
  EXPECT_TRUE(leader->joined.empty());
  EXPECT_GE(leader->line.counts().refused_wrong_node, 1U);
  EXPECT_TRUE(was(*liar, Line::lost));
  EXPECT_FALSE(was(*liar, Line::open));
  liar->hello.node = "b";
  liar->follow(*leader);
  run_for(3s);
  ASSERT_EQ(leader->joined, std::vector<std::string>{"b 2"});
  AgentReport report;
  report.report.node = "c";
  liar->line.tell_leader(report);
  run_for(20ms);
  // It may be back already: a line that held well is dialled again at once.
  EXPECT_NE(std::find(leader->joined.begin(), leader->joined.end(), "b left"), leader->joined.end())
      << "whoever reports about another node is cut off";
  liar->line.unfollow();
  run_for(1s);
  leader->joined.clear();
  const auto other = make("d");
  other->line.follow({"e", leader->line.address(), 1}, other->hello);
  run_for(1s);
  EXPECT_TRUE(leader->joined.empty());
  EXPECT_FALSE(was(*other, Line::open)) << "another's certificate";
}

TEST_F(Agents, AreReplacedByTheirNewestConnection) {
  const auto leader = make("a");
  auto member = make("b");
  leader->line.lead(true, {});
  member->follow(*leader);
  run_for(1s);
  network.power_off("b");
  member.reset();
  network.power_on("b");
  const auto again = make("b", 9474);
  again->follow(*leader);
  run_for(1s);
  EXPECT_EQ(leader->joined, (std::vector<std::string>{"b 2", "b left", "b 3"}));
}

TEST_F(Agents, ThatDoNotReadAreCutOff) {
  const auto leader = make("a"), slow = make("b");
  leader->line.lead(true, {});
  slow->follow(*leader);
  run_for(1s);
  slow->line.be_slow(50ms);
  for (std::uint32_t i = 0; i < 350; ++i) {
    leader->beat(i);
    run_for(10ms);
  }
  EXPECT_EQ(slow->beats.size(), 70U);
  EXPECT_EQ(leader->line.counts().dropped, 0U);
  for (std::uint32_t i = 350; i < 800; ++i) {
    leader->beat(i);
    run_for(10ms);
  }
  EXPECT_GE(leader->line.counts().dropped, 1U);
  EXPECT_TRUE(std::ranges::is_sorted(slow->beats));
}

TEST(AgentNetworks, KeepOrderAndRepeatNothingWhateverTheWeather) {
  AgentNetwork::Counts all;
  std::uint64_t said = 0, heard = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Random random = Random(seed).fork("test");
    VirtualTime clock(kStart);
    SimulatedApiServer server(clock);
    SimulatedNetwork api(server, Random(seed));
    AgentNetwork network(clock, Random(seed).fork("agents"));
    network.weather = AgentWeather::drawn(random);
    Agent leader(api, network, "a", 1, 1), member(api, network, "b", 1, 2);
    leader.line.lead(true, {});
    member.follow(leader);
    for (std::uint32_t i = 1; i <= 400; ++i) {
      member.say(i);
      leader.beat(i);
      const double dice = random.uniform();
      if (dice < 0.01) network.cut_between({"a"}, {"b"});
      if (dice > 0.97) network.heal();
      if (dice > 0.5 && dice < 0.52) leader.process.pause();
      if (dice > 0.52 && dice < 0.56) leader.process.resume();
      clock.run_until(clock.now() + from_seconds(random.exponential(0.1)));
    }
    leader.process.resume();
    network.heal();
    network.weather = {};
    clock.run_until(clock.now() + 30s);
    // A word that was said later on a newer connection may not be followed by one of an older connection.
    const auto is_strictly_rising = [](const auto& words) {
      return std::ranges::adjacent_find(words, std::greater_equal<>{}) == words.end();
    };
    EXPECT_TRUE(is_strictly_rising(leader.heard["b"])) << "seed " << seed;
    EXPECT_TRUE(is_strictly_rising(member.beats)) << "seed " << seed;
    EXPECT_EQ(member.lines.back(), Line::open) << "seed " << seed;
    EXPECT_EQ(std::ranges::count(member.lines, Line::refused), 0) << "seed " << seed;
    if (testing::Test::HasFailure()) return;
    said += 800;
    heard += leader.heard["b"].size() + member.beats.size();
    all.broken += network.counts.broken;
    all.timed_out += network.counts.timed_out;
    all.resets += network.counts.resets;
    all.lost += network.counts.lost;
  }
  // A network that loses nothing, or all, would say nothing.
  EXPECT_GT(heard, said / 2);
  EXPECT_LT(heard, said);
  for (const std::uint64_t count : {all.broken, all.timed_out, all.resets, all.lost})
    EXPECT_GT(count, kSeeds / 10);
}

}  // namespace
}  // namespace evenkeel::faults
