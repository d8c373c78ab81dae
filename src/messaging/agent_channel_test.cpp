// Agents over real sockets: a leader and its followers in one event loop.
#include "messaging/agent_channel.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "messaging/agent_wire.h"
#include "messaging/descriptor.h"
#include "messaging/test_agent_messages.h"
#include "messaging/test_certificates.h"
#include "messaging/tls_session.h"

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;
using Line = AgentTransport::Line;
using Counts = AgentTransport::Counts;

// An agent, and what it heard.
struct Agent {
  std::string node;
  std::unique_ptr<AgentChannel> channel;
  std::vector<std::pair<Line, std::string>> lines;
  std::vector<FromLeader> from_leader;
  std::vector<std::string> coming;  // "+node" joined, "-node" left
  std::map<std::string, AgentHello> hellos;
  std::vector<std::pair<std::string, FromAgent>> from_agents;
  std::vector<std::string> said;

  bool was(Line line) const { return !lines.empty() && lines.back().first == line; }
  std::size_t opened() const {
    std::size_t count = 0;
    for (const auto& [line, why] : lines) count += line == Line::open ? 1 : 0;
    return count;
  }
  AgentHello hello() const { return {.node = node, .incarnation = 7, .term = 3, .model = {}}; }
  HolderIdentity identity() const { return {.node = node, .address = channel->address(), .incarnation = 7}; }
};

class AgentNetwork : public ::testing::Test {
 protected:
  using Change = std::function<void(AgentChannel::Options&)>;

  std::unique_ptr<Agent> agent(const std::string& node, const Change& change = {}) {
    AgentChannel::Options options;
    options.node = node;
    options.listen = "127.0.0.1:0";
    options.look_every = 20ms;
    options.held_well = 50ms;
    auto made = std::make_unique<Agent>();
    made->node = node;
    options.say = [it = made.get()](const std::string& line) { it->said.push_back(line); };
    if (change) change(options);
    if (options.tls.certificate.empty()) options.tls = authority_.agent(node);
    auto channel = AgentChannel::listen(io_, options);
    EXPECT_TRUE(channel) << channel.error().message;
    made->channel = *std::move(channel);
    made->channel->start(
        {.line = [it = made.get()](Line line, const std::string& why) { it->lines.emplace_back(line, why); },
         .from_leader = [it = made.get()](FromLeader said) { it->from_leader.push_back(std::move(said)); },
         .joined =
             [it = made.get()](const std::string& who, const AgentHello& hello) {
               it->coming.push_back("+" + who);
               it->hellos[who] = hello;
             },
         .left = [it = made.get()](const std::string& who) { it->coming.push_back("-" + who); },
         .from_agent = [it = made.get()](
                           const std::string& who,
                           FromAgent said) { it->from_agents.emplace_back(who, std::move(said)); }});
    return made;
  }
  std::unique_ptr<Agent> leader(const std::string& node, const Change& change = {}) {
    auto made = agent(node, change);
    made->channel->lead(true, {});
    return made;
  }
  bool until(const std::function<bool()>& holds, std::chrono::milliseconds patience = 20s) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io_.run_one_for(5ms);
    }
    return true;
  }
  void pass(std::chrono::milliseconds time) {
    (void)until([] { return false; }, time);
  }
  bool joins(Agent& follower, const Agent& to) {
    const std::size_t before = follower.opened();
    follower.channel->follow(to.identity(), follower.hello());
    return until([&] { return follower.opened() > before; });
  }

  const TestAuthority authority_;
  boost::asio::io_context io_{1};
};

// Somebody with a certificate, who says what it is told, true or not. Its socket blocks for a little while.
class Stranger {
 public:
  Stranger(const std::string& address, const TlsFiles* files, TlsContext::Role role = TlsContext::Role::peer)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    const timeval shortly{.tv_sec = 0, .tv_usec = 2000};
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &shortly, sizeof shortly);
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &shortly, sizeof shortly);
    if (files == nullptr) return;
    auto context = TlsContext::read(*files, role);
    EXPECT_TRUE(context) << context.error().message;
    session_ = std::make_unique<TlsSession>(*context, socket_.get());
  }
  // Whether hands are shaken; to be asked again, since the other side needs its turns.
  bool shakes_hands() { return session_->shake_hands() == TlsSession::Step::done; }
  void send(std::string_view bytes) {
    std::size_t count = 0;
    (void)session_->write(bytes, count);
  }
  void say(const FromAgent& message) {
    std::string bytes;
    EXPECT_TRUE(append_message(message, bytes));
    send(bytes);
  }
  bool is_cut_off() {
    char nothing[4096];
    std::size_t count = 0;
    if (session_ == nullptr) return ::recv(socket_.get(), nothing, sizeof nothing, 0) == 0;
    const auto step = session_->read(nothing, sizeof nothing, count);
    return step == TlsSession::Step::closed || step == TlsSession::Step::failed;
  }

 private:
  Descriptor socket_;
  std::unique_ptr<TlsSession> session_;
};

TEST_F(AgentNetwork, SpeaksBothWays) {
  const auto first = leader("a"), second = agent("b");
  second->channel->follow(first->identity(), second->hello());
  ASSERT_TRUE(until([&] { return second->was(Line::open); }));
  EXPECT_EQ(first->coming, std::vector<std::string>{"+b"});
  EXPECT_EQ(first->hellos["b"], second->hello());
  std::vector<FromAgent> said;
  for (FromAgent message : agent_samples()) {
    if (std::holds_alternative<AgentHello>(message)) continue;
    if (auto* report = std::get_if<AgentReport>(&message)) report->report.node = "b";
    said.push_back(message);
    second->channel->tell_leader(std::move(message));
  }
  ASSERT_TRUE(until([&] { return first->from_agents.size() == said.size(); }));
  for (std::size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(first->from_agents[i].first, "b");
    EXPECT_EQ(first->from_agents[i].second, said[i]);
  }
  const auto answers = leader_samples();
  for (const FromLeader& message : answers) first->channel->tell("b", message);
  first->channel->tell("nobody", answers[0]);
  ASSERT_TRUE(until([&] { return second->from_leader.size() == answers.size(); }));
  EXPECT_EQ(second->from_leader, answers);
  EXPECT_EQ(second->channel->counts().messages_sent, 1 + said.size());
  EXPECT_EQ(second->channel->counts().bytes_sent, first->channel->counts().bytes_received);
  EXPECT_EQ(first->channel->counts().bytes_sent, second->channel->counts().bytes_received);
}

TEST_F(AgentNetwork, CallsNobodyFromWithinACall) {
  const auto first = leader("a"), second = agent("b");
  ASSERT_TRUE(joins(*second, *first));
  const auto before = first->coming.size() + second->lines.size();
  first->channel->tell_all(leader_samples()[0]);
  second->channel->tell_leader(agent_samples()[1]);
  first->channel->lead(false, {});
  second->channel->unfollow();
  EXPECT_EQ(first->coming.size() + second->lines.size(), before);
  EXPECT_TRUE(first->from_agents.empty());
}

TEST_F(AgentNetwork, KeepsOrderThroughBatchesAndLargeMessages) {
  const auto first = leader("a"), second = agent("b");
  ASSERT_TRUE(joins(*second, *first));
  constexpr std::uint32_t kMessages = 2000;
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    second->channel->tell_leader(AgentBids{.term = i, .bids = {{.pod = {}, .score = 1}}});
    if (i == 500)
      second->channel->tell_leader(
          AgentLessons{.from = {}, .experience = i, .parameters = std::vector<float>(kMostParameters, 0.5f)});
  }
  ASSERT_TRUE(until([&] { return first->from_agents.size() == kMessages + 1; }));
  std::uint32_t expected = 0;
  for (const auto& [who, message] : first->from_agents) {
    const auto* bids = std::get_if<AgentBids>(&message);
    if (bids == nullptr) continue;
    EXPECT_EQ(bids->term, expected++);
  }
  EXPECT_EQ(first->channel->counts().dropped + second->channel->counts().dropped, 0u);
}

TEST_F(AgentNetwork, ServesTwoHundredAgents) {
  const auto patiently = [](auto& options) {
    options.look_every = 1s;
    options.open_within = 60s;
  };
  const auto first = leader("leader", patiently);
  std::vector<std::unique_ptr<Agent>> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(agent("node-" + std::to_string(i), patiently));
    all.back()->channel->follow(first->identity(), all.back()->hello());
  }
  ASSERT_TRUE(until(
      [&] {
        return std::all_of(all.begin(), all.end(), [](const auto& one) { return one->was(Line::open); });
      },
      120s));
  first->channel->tell_all(leader_samples()[0]);
  ASSERT_TRUE(until([&] {
    return std::all_of(all.begin(), all.end(), [](const auto& one) { return one->from_leader.size() == 1; });
  }));
  for (const auto& one : all) one->channel->tell_leader(agent_samples()[1]);
  ASSERT_TRUE(until([&] { return first->from_agents.size() == all.size(); }));
  EXPECT_EQ(first->coming.size(), all.size());
}

TEST_F(AgentNetwork, RefusesAHelloFromAnotherNode) {
  const auto first = leader("a");
  const TlsFiles files = authority_.agent("b");
  Stranger stranger(first->channel->address(), &files);
  ASSERT_TRUE(until([&] { return stranger.shakes_hands(); }));
  stranger.say(AgentHello{.node = "c", .model = {}});
  EXPECT_TRUE(until([&] { return stranger.is_cut_off(); }));
  EXPECT_EQ(first->channel->counts().refused_wrong_node, 1u);
  EXPECT_TRUE(first->coming.empty());
  EXPECT_EQ(first->said, std::vector<std::string>{"refused the agent of b: a hello from c"});
}

TEST_F(AgentNetwork, RefusesAReportAboutAnotherNode) {
  const auto first = leader("a"), second = agent("b");
  ASSERT_TRUE(joins(*second, *first));
  AgentReport report = std::get<AgentReport>(agent_samples()[3]);
  report.report.node = "c";
  second->channel->tell_leader(report);
  EXPECT_TRUE(until([&] { return second->was(Line::lost); }));
  EXPECT_EQ(first->channel->counts().refused_wrong_node, 1u);
  EXPECT_TRUE(first->from_agents.empty());
  EXPECT_EQ(first->coming, (std::vector<std::string>{"+b", "-b"}));
}

TEST_F(AgentNetwork, RefusesWhatNobodySays) {
  const auto first = leader("a");
  const TlsFiles files = authority_.agent("b");
  std::string hello, twice, model;
  ASSERT_TRUE(append_message(FromAgent(AgentHello{.node = "b", .model = {}}), hello));
  ASSERT_TRUE(append_message(leader_samples()[3], model));
  std::uint64_t refused = 0;
  for (const std::string& bytes : {std::string(100, 'G'), std::string(20, '\0'), hello + hello, hello + model,
                                   std::string("\xff\xff\xff\xff"), hello + "\x01\x27"}) {
    Stranger stranger(first->channel->address(), &files);
    ASSERT_TRUE(until([&] { return stranger.shakes_hands(); }));
    stranger.send(bytes);
    EXPECT_TRUE(until([&] { return stranger.is_cut_off(); }));
    EXPECT_EQ(first->channel->counts().refused_malformed, ++refused);
  }
  Stranger early(first->channel->address(), &files);  // no hello
  ASSERT_TRUE(until([&] { return early.shakes_hands(); }));
  early.say(agent_samples()[1]);
  EXPECT_TRUE(until([&] { return early.is_cut_off(); }));
  EXPECT_EQ(first->channel->counts().refused_malformed, ++refused);
  EXPECT_TRUE(first->from_agents.empty());
}

TEST_F(AgentNetwork, RefusesWhoIsNoAgent) {
  const auto first = leader("a");
  const TestAuthority other;
  TlsFiles foreign = other.agent("b");
  foreign.authority = authority_.agent("b").authority;  // it trusts us; we do not trust it
  std::uint64_t refused = 0;
  for (const TlsFiles& files : {foreign, authority_.issue("m", "evenkeel:monitor:b"),
                                authority_.issue("n", "evenkeel:agent:"), authority_.agent("late", -10)}) {
    Stranger stranger(first->channel->address(), &files);
    EXPECT_TRUE(until([&] { return stranger.shakes_hands() || stranger.is_cut_off(); }));
    stranger.say(AgentHello{.node = "b", .model = {}});
    EXPECT_TRUE(until([&] { return stranger.is_cut_off(); }));
    EXPECT_EQ(first->channel->counts().refused_unauthenticated, ++refused);
  }
  Stranger plain(first->channel->address(), nullptr);
  plain.is_cut_off();
  EXPECT_TRUE(first->coming.empty());
}

TEST_F(AgentNetwork, CutsOffWhoShakesNoHands) {
  const auto first = leader("a", [](auto& options) { options.open_within = 100ms; });
  Stranger silent(first->channel->address(), nullptr);
  EXPECT_TRUE(until([&] { return silent.is_cut_off(); }));
  EXPECT_EQ(first->channel->counts().refused_unauthenticated, 1u);
  const TlsFiles files = authority_.agent("b");
  Stranger mute(first->channel->address(), &files);  // shakes hands, and says no hello
  ASSERT_TRUE(until([&] { return mute.shakes_hands(); }));
  EXPECT_TRUE(until([&] { return mute.is_cut_off(); }));
}

TEST_F(AgentNetwork, CutsOffWhoSaysNothingForLong) {
  const auto first = leader("a", [](auto& options) { options.agents_idle_at_most = 150ms; });
  const auto second = agent("b");
  ASSERT_TRUE(joins(*second, *first));
  EXPECT_TRUE(until([&] { return second->was(Line::lost); }));
  const auto other = leader("d");
  const auto third = agent("c", [](auto& options) { options.leader_idle_at_most = 100ms; });
  ASSERT_TRUE(joins(*third, *other));
  EXPECT_TRUE(until([&] { return third->was(Line::lost); }));
  EXPECT_EQ(third->lines.back().second, "it was silent for too long");
}

TEST_F(AgentNetwork, WillHaveNoLeaderOfAnotherName) {
  const auto first = leader("a"), second = agent("b");
  HolderIdentity wrong = first->identity();
  wrong.node = "c";
  second->channel->follow(wrong, second->hello());
  EXPECT_TRUE(until([&] { return second->was(Line::lost); }));
  EXPECT_EQ(second->lines.back().second, "there answers a, not c");
  EXPECT_EQ(second->opened(), 0u);
  EXPECT_GE(second->channel->counts().refused_wrong_node, 1u);
  EXPECT_TRUE(first->coming.empty());
}

TEST_F(AgentNetwork, WillHaveNoLeaderOfAnotherAuthority) {
  const TestAuthority other;
  const auto first = leader("a", [&](auto& options) { options.tls = other.agent("a"); });
  const auto second = agent("b");
  second->channel->follow(first->identity(), second->hello());
  EXPECT_TRUE(until([&] { return second->was(Line::lost); }));
  EXPECT_EQ(second->opened(), 0u);
}

TEST_F(AgentNetwork, TellsAProcessThatIsGoneFromALineThatIsLost) {
  auto first = leader("a");
  const auto second = agent("b");
  ASSERT_TRUE(joins(*second, *first));
  const HolderIdentity before = first->identity();
  pass(60ms);
  first.reset();
  ASSERT_TRUE(until([&] { return second->was(Line::refused); }));
  EXPECT_EQ(second->lines[1].first, Line::lost);
  EXPECT_EQ(second->lines[2].first, Line::refused);  // dialled at once, and nobody listened
  first = leader("a", [&](auto& options) { options.listen = before.address; });
  EXPECT_TRUE(until([&] { return second->was(Line::open); }));
}

TEST_F(AgentNetwork, SaysLostOfAHostThatDoesNotAnswer) {
  const Descriptor deaf(::socket(AF_INET, SOCK_STREAM, 0));  // connects, and never speaks
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  ASSERT_EQ(::bind(deaf.get(), reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
  ASSERT_EQ(::listen(deaf.get(), 1), 0);
  ASSERT_EQ(::getsockname(deaf.get(), reinterpret_cast<sockaddr*>(&here), &size), 0);
  const auto second = agent("b", [](auto& options) { options.open_within = 100ms; });
  second->channel->follow(
      {.node = "a", .address = "127.0.0.1:" + std::to_string(ntohs(here.sin_port)), .incarnation = 1},
      second->hello());
  EXPECT_TRUE(until([&] { return second->lines.size() >= 2; }));
  for (const auto& [line, why] : second->lines) EXPECT_EQ(line, Line::lost) << why;
  second->channel->follow({.node = "a", .address = "not-an-address:1", .incarnation = 1}, second->hello());
  const std::size_t before = second->lines.size();
  EXPECT_TRUE(until([&] { return second->lines.size() > before; }));
  EXPECT_TRUE(second->was(Line::lost));
}

TEST_F(AgentNetwork, PausesLongerAndLonger) {
  const auto second = agent("b", [](auto& options) {
    options.first_pause = 20ms;
    options.longest_pause = 80ms;
  });
  auto gone = agent("a");
  const HolderIdentity nobody = gone->identity();
  gone.reset();
  const auto begin = std::chrono::steady_clock::now();
  second->channel->follow(nobody, second->hello());
  ASSERT_TRUE(until([&] { return second->lines.size() == 6; }));
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, 130ms);  // at least half of 20 + 40 + 80 + 80 + 80
  for (const auto& [line, why] : second->lines) EXPECT_EQ(line, Line::refused) << why;
}

TEST_F(AgentNetwork, AnswersWhoAsksOneThatDoesNotLead) {
  const auto first = agent("a"), second = agent("b");
  const NotLeading otherwise{.term = 9, .holder = "c/10.0.0.1:9473/0000000000000001"};
  first->channel->lead(false, otherwise);
  second->channel->follow(first->identity(), second->hello());
  ASSERT_TRUE(until([&] { return second->was(Line::lost); }));
  EXPECT_EQ(second->opened(), 0u);
  ASSERT_FALSE(second->from_leader.empty());
  EXPECT_EQ(second->from_leader[0], FromLeader(otherwise));
  first->channel->lead(true, {});
  EXPECT_TRUE(until([&] { return second->was(Line::open); }));
}

TEST_F(AgentNetwork, LetsGoOfEverybodyWhenItCeasesToLead) {
  const auto first = leader("a"), second = agent("b"), third = agent("c");
  ASSERT_TRUE(joins(*second, *first));
  ASSERT_TRUE(joins(*third, *first));
  first->channel->lead(false, {.term = 4, .holder = "two words cannot be told"});
  second->channel->tell_leader(agent_samples()[1]);
  ASSERT_TRUE(until([&] { return second->was(Line::lost) && third->was(Line::lost); }));
  EXPECT_EQ(second->from_leader.front(), FromLeader(NotLeading{.term = 4, .holder = ""}));
  EXPECT_EQ(third->from_leader.front(), FromLeader(NotLeading{.term = 4, .holder = ""}));
  EXPECT_EQ(first->coming.size(), 4u);
  EXPECT_TRUE(first->from_agents.empty());
  const auto told = second->from_leader.size();
  first->channel->tell_all(leader_samples()[0]);  // to nobody
  pass(50ms);
  for (std::size_t i = told; i < second->from_leader.size(); ++i)
    EXPECT_TRUE(std::holds_alternative<NotLeading>(second->from_leader[i]));
}

TEST_F(AgentNetwork, GoesOverToAnotherLeader) {
  const auto first = leader("a"), other = leader("b"), second = agent("c");
  ASSERT_TRUE(joins(*second, *first));
  second->channel->follow(first->identity(), second->hello());  // as it is already
  pass(50ms);
  EXPECT_EQ(second->lines.size(), 1u);
  ASSERT_TRUE(joins(*second, *other));
  ASSERT_TRUE(until([&] { return first->coming.size() == 2; }));
  EXPECT_EQ(first->coming, (std::vector<std::string>{"+c", "-c"}));
  second->channel->tell_leader(agent_samples()[1]);
  ASSERT_TRUE(until([&] { return other->from_agents.size() == 1; }));
  second->channel->unfollow();
  ASSERT_TRUE(until([&] { return other->coming.size() == 2; }));
  pass(100ms);
  EXPECT_EQ(second->lines.size(), 2u);  // opened twice, never lost: it was told to go
  second->channel->tell_leader(agent_samples()[1]);
  pass(20ms);
  EXPECT_EQ(other->from_agents.size(), 1u);
}

TEST_F(AgentNetwork, FollowsItself) {
  const auto first = leader("a");
  ASSERT_TRUE(joins(*first, *first));
  first->channel->tell_leader(agent_samples()[1]);
  first->channel->tell_all(leader_samples()[0]);
  EXPECT_TRUE(until([&] { return first->from_agents.size() == 1 && first->from_leader.size() == 1; }));
}

TEST_F(AgentNetwork, LetsTheNewestConnectionOfANodeReplaceTheOneBefore) {
  const auto first = leader("a"), second = agent("b");
  const auto again = agent("b", [&](auto& options) {
    options.tls = authority_.issue("again", "evenkeel:agent:b", "", 3600, "clientAuth");
  });
  ASSERT_TRUE(joins(*second, *first));
  ASSERT_TRUE(joins(*again, *first));
  EXPECT_EQ(first->coming, (std::vector<std::string>{"+b", "-b", "+b"}));
  ASSERT_TRUE(until([&] { return second->was(Line::lost); }));
  second->channel->unfollow();  // else the two would take it from each other for ever
  first->channel->tell("b", leader_samples()[0]);
  EXPECT_TRUE(until([&] { return again->from_leader.size() == 1 || again->was(Line::lost); }));
}

TEST_F(AgentNetwork, CutsOffWhoDoesNotRead) {
  const auto first = leader("a"), third = agent("c");
  const TlsFiles files = authority_.agent("b");
  Stranger slow(first->channel->address(), &files);
  ASSERT_TRUE(until([&] { return slow.shakes_hands(); }));
  slow.say(AgentHello{.node = "b", .model = {}});
  ASSERT_TRUE(until([&] { return first->coming.size() == 1; }));
  ASSERT_TRUE(joins(*third, *first));
  const LeaderModel model{.term = 1, .version = {}, .parameters = std::vector<float>(10'000, 1.0f)};
  std::size_t told = 0;
  // Who reads is given the time to: under a sanitizer it needs most of all.
  ASSERT_TRUE(until(
      [&] {
        if (third->from_leader.size() < told) return false;
        first->channel->tell_all(model);
        ++told;
        return first->coming.size() == 3;
      },
      120s));
  EXPECT_EQ(first->coming.back(), "-b");
  EXPECT_GE(first->channel->counts().dropped, 6u);  // what filled the backlog, and nothing of what was sent
  EXPECT_LT(told, 400u);
  EXPECT_TRUE(
      until([&] { return third->from_leader.size() == told; }, 120s));  // who reads is not made to wait
}

TEST_F(AgentNetwork, ShowsNewCertificatesAndJudgesByANewAuthority) {
  const auto first = leader("a"), second = agent("b");
  ASSERT_TRUE(joins(*second, *first));
  pass(60ms);
  (void)authority_.agent("b");  // written over the old one: it goes and shows it
  ASSERT_TRUE(until([&] { return second->opened() == 2; }));
  EXPECT_EQ(second->lines[1].first, Line::lost);
  const TestAuthority next;
  const auto renew = [&](const std::string& node) {
    const TlsFiles fresh = next.agent(node);
    std::filesystem::rename(fresh.certificate, authority_.folder() + "/" + node + ".pem");
    std::filesystem::rename(fresh.key, authority_.folder() + "/" + node + ".key");
  };
  renew("a");
  renew("b");
  std::filesystem::copy_file(next.folder() + "/ca.pem", authority_.folder() + "/ca.new");
  std::filesystem::rename(authority_.folder() + "/ca.new", authority_.folder() + "/ca.pem");
  ASSERT_TRUE(until([&] { return second->opened() >= 3 && second->was(Line::open); }));
  const TestAuthority old;
  TlsFiles files = old.agent("c");
  files.authority = next.folder() + "/ca.pem";
  Stranger stranger(first->channel->address(), &files);
  EXPECT_TRUE(until([&] { return stranger.shakes_hands() || stranger.is_cut_off(); }));
  EXPECT_TRUE(until([&] { return stranger.is_cut_off(); }));
}

TEST_F(AgentNetwork, CutsOffWhoseCertificateRunsOut) {
  const auto first = leader("a");
  const auto second = agent("b", [&](auto& options) { options.tls = authority_.agent("b", 3); });
  ASSERT_TRUE(joins(*second, *first));
  EXPECT_TRUE(until([&] { return second->was(Line::lost); }));
  pass(100ms);
  EXPECT_EQ(second->opened(), 1u);
}

TEST_F(AgentNetwork, WaitsForCertificatesThatAreNotThereYet) {
  const auto first = leader("a");
  const TlsFiles files = authority_.agent("b");
  std::filesystem::rename(files.key, files.key + ".later");
  const auto second = agent("b", [&](auto& options) { options.tls = files; });
  EXPECT_EQ(second->said.size(), 1u);
  second->channel->follow(first->identity(), second->hello());
  ASSERT_TRUE(until([&] { return second->was(Line::lost); }));
  std::filesystem::rename(files.key + ".later", files.key);
  EXPECT_TRUE(until([&] { return second->was(Line::open); }));
}

TEST_F(AgentNetwork, ShowsNoCertificateOfAnotherNode) {
  const auto second = agent("b", [&](auto& options) { options.tls = authority_.agent("c"); });
  ASSERT_EQ(second->said.size(), 1u);
  EXPECT_NE(second->said[0].find("expected a certificate of evenkeel:agent:b"), std::string::npos);
}

TEST_F(AgentNetwork, SaysWhereItIsReached) {
  const auto port = [](const std::string& address) { return address.substr(address.rfind(':')); };
  const auto first = agent("a", [](auto& options) { options.advertised = "10.1.2.3:0"; });
  EXPECT_EQ(first->channel->address(), "10.1.2.3" + port(first->channel->address()));
  EXPECT_NE(port(first->channel->address()), ":0");
  const auto second = agent("b", [](auto& options) { options.advertised = "[fd00::1]:9473"; });
  EXPECT_EQ(second->channel->address(), "[fd00::1]:9473");
}

TEST_F(AgentNetwork, SaysWhyItCannotListen) {
  AgentChannel::Options options;
  options.node = "a";
  options.tls = authority_.agent("a");
  options.listen = "nowhere:1";
  EXPECT_FALSE(AgentChannel::listen(io_, options));
  const auto first = agent("b");
  options.listen = first->channel->address();
  EXPECT_FALSE(AgentChannel::listen(io_, options));
}

TEST_F(AgentNetwork, LeavesNothingBehindInTheEventLoop) {
  {
    const auto first = leader("a"), second = agent("b"), third = agent("c");
    ASSERT_TRUE(joins(*second, *first));
    third->channel->follow(first->identity(), third->hello());
    first->channel->tell_all(leader_samples()[0]);
    io_.poll_one();
  }
  io_.restart();
  io_.run();  // ends: nothing is waited for
}

}  // namespace
}  // namespace evenkeel::messaging
