#include "messaging/agent_wire.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "messaging/report_wire.h"
#include "messaging/test_agent_messages.h"

namespace evenkeel::messaging {
namespace {

template <class Message>
std::string written(const Message& message) {
  std::string bytes;
  const Status done = append_message(message, bytes);
  EXPECT_TRUE(done) << done.error().message;
  return bytes;
}

std::string_view body_of(std::string_view bytes) {
  const auto place = first_message(bytes);
  EXPECT_TRUE(place && *place);
  return bytes.substr((*place)->begin, (*place)->end - (*place)->begin);
}

TEST(AgentWire, BringsEverythingBackAsItWasSaid) {
  for (const FromAgent& message : agent_samples()) {
    const auto read = read_from_agent(body_of(written(message)));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, message) << message.index();
  }
  for (const FromLeader& message : leader_samples()) {
    const auto read = read_from_leader(body_of(written(message)));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, message) << message.index();
  }
}

TEST(AgentWire, KeepsMessagesOfOnePieceApart) {
  std::string bytes;
  for (const FromAgent& message : agent_samples()) ASSERT_TRUE(append_message(message, bytes));
  std::string_view rest = bytes;
  for (const FromAgent& message : agent_samples()) {
    const auto place = first_message(rest);
    ASSERT_TRUE(place && *place);
    EXPECT_EQ(*read_from_agent(rest.substr((*place)->begin, (*place)->end - (*place)->begin)), message);
    rest.remove_prefix((*place)->end);
  }
  EXPECT_TRUE(rest.empty());
}

TEST(AgentWire, WaitsForTheRestOfAMessage) {
  for (const FromLeader& message : leader_samples()) {
    const std::string whole = written(message);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto place = first_message(std::string_view(whole).substr(0, length));
      ASSERT_TRUE(place);
      EXPECT_FALSE(*place) << length;
    }
  }
}

// 100 bytes were asked for; the thesis measured 78 to 95.
TEST(AgentWire, SaysADecisionInFewBytes) {
  AgentBids bids;
  bids.term = 100'000;
  bids.bids = {{.pod = pod_key("a"), .verdict = BidVerdict::accept, .score = 0.58f, .awards = 1000}};
  EXPECT_EQ(written(FromAgent(bids)).size(), 1u + 1 + 3 + 1 + 16 + 2 + 4);
  bids.term = bids.bids[0].awards = UINT32_MAX;  // as large as it gets
  const std::size_t one = written(FromAgent(bids)).size();
  EXPECT_LE(one, 33u);
  bids.bids.resize(1000, bids.bids[0]);
  EXPECT_LE(written(FromAgent(bids)).size() - one, 999u * 25 + 3);  // and a longer count and length
  bids.bids.assign(1, {.pod = pod_key("a"), .verdict = BidVerdict::unfit});
  EXPECT_LE(written(FromAgent(bids)).size(), 25u);
}

TEST(AgentWire, AsksAndAwardsInFewBytes) {
  LeaderAsks asks;
  asks.term = 9;
  asks.questions.resize(1);
  PodQuestion& question = asks.questions[0];
  question = {
      .pod = pod_key("a"), .priority = 100, .cpu = 0.25, .memory = 512.0 * 1024 * 1024, .expected = {}};
  EXPECT_LE(written(FromLeader(asks)).size(), 32u);
  question.expected = {{0.1, 3e8, 1e3, 1e3, 1e3, 1e3}};
  question.delay = 2;
  question.life = 60;
  EXPECT_LE(written(FromLeader(asks)).size(), 64u);
  EXPECT_LE(written(FromLeader(LeaderAwards{.term = 9, .awards = 12, .pods = {pod_key("a")}})).size(), 21u);
}

TEST(AgentWire, KeepsAmountsThatAreNotWholeExactly) {
  for (const double cpu : {0.0, 0.1, 0.0005, 1.0 / 3, 999'999.999, 1e6}) {
    for (const double memory : {0.0, 0.5, 1e15 + 1, 0x1p56}) {
      LeaderAsks asks;
      asks.questions = {{.pod = {}, .cpu = cpu, .memory = memory, .expected = {}}};
      const auto read = read_from_leader(body_of(written(FromLeader(asks))));
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(std::get<LeaderAsks>(*read), asks);
    }
  }
}

TEST(AgentWire, RefusesAMessageCutAnywhere) {
  for (const FromAgent& message : agent_samples()) {
    const std::string whole(body_of(written(message)));
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_FALSE(read_from_agent(std::string_view(whole).substr(0, length))) << length;
    EXPECT_FALSE(read_from_agent(whole + '\0'));
  }
  for (const FromLeader& message : leader_samples()) {
    const std::string whole(body_of(written(message)));
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_FALSE(read_from_leader(std::string_view(whole).substr(0, length))) << length;
    EXPECT_FALSE(read_from_leader(whole + '\0'));
  }
}

// Either refused, or a message that could have been said.
void read_whatever(std::string_view body) {
  if (const auto read = read_from_agent(body)) {
    std::string again;
    EXPECT_TRUE(append_message(*read, again));
  }
  if (const auto read = read_from_leader(body)) {
    std::string again;
    EXPECT_TRUE(append_message(*read, again));
  }
}

TEST(AgentWire, SurvivesEveryFlippedBit) {
  std::vector<std::string> bodies;
  for (const FromAgent& message : agent_samples()) bodies.emplace_back(body_of(written(message)));
  for (const FromLeader& message : leader_samples()) bodies.emplace_back(body_of(written(message)));
  for (std::string& body : bodies) {
    for (std::size_t bit = 0; bit < 8 * body.size(); ++bit) {
      const char flip = static_cast<char>(1u << bit % 8);
      body[bit / 8] = static_cast<char>(body[bit / 8] ^ flip);
      read_whatever(body);
      body[bit / 8] = static_cast<char>(body[bit / 8] ^ flip);
    }
  }
}

TEST(AgentWire, SurvivesNoise) {
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string body(1 + random.below(80), '\0');
    for (char& c : body) c = static_cast<char>(random.bits());
    body[0] = static_cast<char>(0x10 | (body[0] & 15));
    read_whatever(body);
    (void)first_message(body);
  }
}

TEST(AgentWire, RefusesWhatIsSaidInTheWrongDirection) {
  EXPECT_FALSE(read_from_leader(body_of(written(agent_samples().front()))));
  EXPECT_FALSE(read_from_agent(body_of(written(leader_samples().front()))));
  std::string welcome;
  append_welcome(welcome);
  EXPECT_TRUE(is_welcome(body_of(welcome)));
  EXPECT_FALSE(read_from_agent(body_of(welcome)));
  EXPECT_FALSE(read_from_leader(body_of(welcome)));
  EXPECT_FALSE(is_welcome(body_of(written(agent_samples().front()))));
}

TEST(AgentWire, RefusesAnotherVersion) {
  std::string body(body_of(written(agent_samples().front())));
  body[0] = static_cast<char>(body[0] + 0x10);
  const auto read = read_from_agent(body);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("version 2"), std::string::npos);
  AgentHello hello = std::get<AgentHello>(agent_samples().front());
  hello.protocol = 2;
  std::string unsent;
  EXPECT_FALSE(append_message(FromAgent(hello), unsent));
}

TEST(AgentWire, SaysNothingThatWouldBeRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), much = std::numeric_limits<float>::infinity();
  std::string bytes = "before";
  for (const FromAgent& message : std::initializer_list<FromAgent>{
           AgentHello{}, AgentHello{.node = "a b"}, AgentHello{.node = std::string(300, 'a')},
           AgentBids{.bids = {{.pod = {}, .score = nan}}}, AgentBids{.bids = {{.pod = {}, .score = much}}},
           AgentBids{.bids = std::vector<Bid>(kMostOfABatch + 1)}, AgentReport{},
           AgentLessons{.parameters = {nan}},
           AgentLessons{.parameters = std::vector<float>(kMostParameters + 1)}})
    EXPECT_FALSE(append_message(message, bytes)) << message.index();
  PodQuestion negative, absurd, late;
  negative.cpu = -1;
  absurd.expected[Dimension::memory] = 1e30;
  late.life = much;
  for (const FromLeader& message : std::initializer_list<FromLeader>{
           LeaderBeat{}, LeaderBeat{.leader = "a", .deputies = {""}, .cluster = {}},
           LeaderBeat{
               .leader = "a", .deputies = std::vector<std::string>(kMostDeputies + 1, "b"), .cluster = {}},
           LeaderBeat{.leader = "a", .deputies = {}, .cluster = {.cpu_requested = nan}},
           LeaderAsks{.questions = {negative}}, LeaderAsks{.questions = {absurd}},
           LeaderAsks{.questions = {late}}, LeaderAwards{.pods = std::vector<PodKey>(kMostOfABatch + 1)},
           LeaderModel{.parameters = {much}}, NotLeading{.holder = std::string(kMostHolder + 1, 'a')},
           NotLeading{.holder = "two words"}})
    EXPECT_FALSE(append_message(message, bytes)) << message.index();
  EXPECT_EQ(bytes, "before");
}

TEST(AgentWire, RefusesNumbersThatCannotBe) {
  AgentBids bids{.term = 1, .bids = {{.pod = pod_key("a"), .score = 1, .awards = 1}}};
  std::string body(body_of(written(FromAgent(bids))));
  for (std::size_t i = 1; i <= 2; ++i) body[body.size() - i] = '\xff';  // no number
  EXPECT_FALSE(read_from_agent(body));
}

TEST(AgentWire, GivesNoMemoryForWhatDidNotCome) {
  for (const char head : {'\x12', '\x14'}) {  // bids, lessons
    std::string body = {head, 1, 1, 1};
    body += "\xff\xff\xff\xff\x0f";
    EXPECT_FALSE(read_from_agent(body));
  }
}

TEST(AgentWire, RefusesLengthsThatCannotBe) {
  EXPECT_FALSE(first_message(std::string_view("\0", 1)));
  EXPECT_FALSE(first_message("\xff\xff\x7f"));                 // above the limit
  EXPECT_FALSE(first_message("\xff\xff\xff"));                 // it goes on and on
  EXPECT_FALSE(first_message(std::string_view("\x81\0", 2)));  // longer than it has to be
}

TEST(AgentWire, CarriesTheLargestModel) {
  LeaderModel model{.term = 1, .version = {1, 2}, .parameters = std::vector<float>(kMostParameters, 0.25f)};
  const std::string bytes = written(FromLeader(model));
  EXPECT_EQ(std::get<LeaderModel>(*read_from_leader(body_of(bytes))), model);
}

}  // namespace
}  // namespace evenkeel::messaging
