// Many pods, and more agents than are asked about each.
#include <gtest/gtest.h>

#include <algorithm>

#include "agents/bid_desk.h"
#include "agents/test_bids.h"

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;
using Answer = BidDesk::Answer;

// ---- Sampling.

TEST(BidDesk, AsksASampleAndStaysWithIt) {
  BidDeskOptions options;
  options.sample = 3;
  TestBids bids(20, options);
  EXPECT_EQ(bids.answer("a"), "waits");
  const auto asked = bids.letters();
  EXPECT_EQ(asked.size(), 3U);
  for (int i = 0; i < 5; ++i) {
    bids.pass(1ms);
    EXPECT_EQ(bids.answer("a"), "waits");
  }
  EXPECT_TRUE(bids.letters().empty());
  for (std::uint32_t slot = 0; slot < 20; ++slot)
    if (!asked.contains(TestBids::node(slot))) bids.accept(slot, "a", 99);
  EXPECT_EQ(bids.answer("a"), "waits") << "who was not asked has no say";
  for (const auto& [node, lines] : asked)
    bids.desk.heard(node, {7, {{pod_key("a"), BidVerdict::accept, 1, 0}}}, bids.cluster.now);
  EXPECT_TRUE(asked.contains(bids.answer("a")));
}

TEST(BidDesk, SamplesEveryAgentAboutEquallyOftenAndRepeatsItself) {
  BidDeskOptions options;
  options.sample = 4;
  std::vector<std::map<std::string, int>> runs;
  for (int run = 0; run < 2; ++run) {
    TestBids bids(16, options);
    std::map<std::string, int>& times = runs.emplace_back();
    for (int i = 0; i < 400; ++i) {
      const std::string pod = "p" + std::to_string(i);
      bids.answer(pod);
      for (const auto& [node, lines] : bids.letters()) ++times[node];
      bids.desk.forget(pod_key(pod));
    }
    EXPECT_EQ(times.size(), 16U);
    for (const auto& [node, count] : times) {
      EXPECT_GT(count, 60);
      EXPECT_LT(count, 140);
    }
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST(BidDesk, AsksFewAboutEachOfManyPodsAndSpreadsTheQuestions) {
  TestBids bids(50);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(bids.answer("p" + std::to_string(i)), "waits");
  std::size_t questions = 0, fewest = 1000, most = 0;
  bids.letters();
  for (const auto& [node, asks] : bids.last_asks) {
    questions += asks.questions.size();
    fewest = std::min(fewest, asks.questions.size());
    most = std::max(most, asks.questions.size());
  }
  EXPECT_EQ(questions, 16U * 50U + 48U * 6U) << "the first do not know that they are of many";
  EXPECT_LE(most - fewest, 1U);
}

TEST(BidDesk, AsksFewAboutPodsThatComeInQuickSuccessionAndAllWhenTheyCeaseTo) {
  TestBids bids(50);
  const auto asked_about = [&](const std::string& pod) {
    bids.answer(pod);
    const std::size_t asked = bids.letters().size();
    bids.desk.forget(pod_key(pod));
    return asked;
  };
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(asked_about("a" + std::to_string(i)), 50U);
    bids.pass(5ms);
  }
  EXPECT_EQ(asked_about("one of two hundred a second"), 6U);
  for (int i = 0; i < 20; ++i) {
    bids.pass(100ms);
    if (i < 10) asked_about("b" + std::to_string(i));
  }
  EXPECT_EQ(asked_about("one of ten a second"), 50U);
}

TEST(BidDesk, HalfOfThoseAskedWillDoInACrowd) {
  BidDeskOptions options;
  options.crowd = 1;
  options.crowd_sample = 4;
  TestBids bids(12, options);
  EXPECT_EQ(bids.answer("first"), "waits");
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.letters();
  int spoken = 0;
  for (const auto& [node, asks] : bids.last_asks) {
    if (asks.questions.size() < 2 || spoken == 2) continue;
    bids.desk.heard(node, {7, {{pod_key("a"), BidVerdict::accept, 1, 0}}}, bids.cluster.now);
    ++spoken;
  }
  ASSERT_EQ(spoken, 2);
  EXPECT_EQ(bids.answer("a"), "waits") << "the others may still speak";
  bids.pass(12ms);
  EXPECT_NE(bids.answer("a"), "waits");
  EXPECT_EQ(bids.answer("first"), "waits") << "of that one more are asked for";
}

// ---- Bounds.

TEST(BidDesk, IsFullWithSoManyOpenUntilThereIsNews) {
  BidDeskOptions options;
  options.most_open = 3;
  TestBids bids(1, options);
  for (const char* pod : {"a", "b", "c"}) {
    EXPECT_FALSE(bids.desk.is_full());
    EXPECT_EQ(bids.answer(pod), "waits");
  }
  EXPECT_TRUE(bids.desk.is_full());
  bids.accept(0, "b", 1);
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  bids.desk.news_seen();
  EXPECT_FALSE(bids.desk.has_news(bids.cluster.now));
  EXPECT_FALSE(bids.desk.is_full()) << "they deserve a look, in the order of the queue";
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.answer("b"), "node-0");
  bids.award("b", 0);
  EXPECT_EQ(bids.answer("c"), "waits");
  EXPECT_FALSE(bids.desk.is_full());
  EXPECT_EQ(bids.answer("d"), "waits");
  EXPECT_TRUE(bids.desk.is_full());
}

TEST(BidDesk, OpensNoMoreThanTwiceAsMany) {
  BidDeskOptions options;
  options.most_open = 2;
  TestBids bids(1, options);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(bids.answer("p" + std::to_string(i)), "waits");
  EXPECT_EQ(bids.desk.figures().open, 4U);
  bids.pass(1h);
  EXPECT_EQ(bids.answer("p9"), "waits") << "those nobody came back to make room";
  EXPECT_EQ(bids.desk.figures().open, 1U);
}

TEST(BidDesk, APodThatDoesNotComeAgainWakesNobodyTwice) {
  TestBids bids(1);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.pass(6ms);
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  bids.desk.news_seen();
  EXPECT_FALSE(bids.desk.has_news(bids.cluster.now + 1h));
  EXPECT_EQ(bids.desk.wake_at(), Time::max());
}

TEST(BidDesk, KeepsEarlyBidsForAWhileOnly) {
  TestBids bids(1, {}, true);
  bids.accept(0, "a", 1);
  bids.pass(29s);
  bids.accept(0, "b", 1);
  bids.pass(2s);
  EXPECT_EQ(bids.answer("b"), "node-0");
  EXPECT_EQ(bids.answer("a"), "waits");
}

TEST(BidDesk, AsksAgainWhoCalledItsNodeUnfitSomeTimeAgo) {
  TestBids bids(2, {}, true);
  bids.say(0, "a", BidVerdict::unfit);
  bids.accept(1, "a", 1);
  bids.say(0, "b", BidVerdict::unfit);
  bids.accept(1, "b", 1);
  EXPECT_EQ(bids.answer("a"), "node-1");
  bids.pass(2s);
  EXPECT_EQ(bids.answer("b"), "waits") << "the leader has just found that it would do";
  EXPECT_EQ(bids.letters().at("node-0"), Lines{"asks b"});
}

TEST(BidDesk, DecidesAnewWhereNobodyActedOnItsAnswer) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 2);
  bids.accept(1, "a", 1);
  EXPECT_EQ(bids.answer("a"), "node-0");
  EXPECT_EQ(bids.answer("a"), "node-0");
  EXPECT_EQ(bids.desk.figures().by_all, 1U) << "asked twice in one turn it ended once";
  bids.pass(1s);
  bids.desk.left("node-0");
  EXPECT_EQ(bids.answer("a"), "node-1");
}

TEST(BidDesk, ShowsTheWordsItGoesBy) {
  TestBids bids(3);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 0.5F);
  bids.award("other", 0);
  bids.say(1, "a", BidVerdict::reject, -1);
  const auto words = bids.desk.words(bids.question("a"));
  ASSERT_EQ(words.size(), 3U);
  EXPECT_TRUE(words[0].out_of_date);
  EXPECT_EQ(words[0].bid->score, 0.5F);
  EXPECT_EQ(words[1].bid->verdict, BidVerdict::reject);
  EXPECT_FALSE(words[2].bid);
  EXPECT_TRUE(bids.desk.words(bids.question("b")).empty());
}

TEST(BidDesk, StaysSmallWhateverAgentsSay) {
  TestBids bids(3, {}, true);
  for (int i = 0; i < 50'000; ++i) bids.accept(0, "junk" + std::to_string(i), 1);
  bids.accept(1, "a", 1);
  bids.accept(2, "a", 2);
  EXPECT_EQ(bids.answer("a"), "waits") << "whoever said too much is asked";
  bids.pass(6ms);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.letters().at("node-0"), Lines{"asks a"});
  for (int i = 0; i < 50'000; ++i) bids.desk.forget(pod_key("gone" + std::to_string(i)));
  EXPECT_LE(bids.desk.figures().open, 1U);
}

// ---- Many at once.

// Agents that answer a turn later, by what they have heard: the fuller, the lower their score.
class Followers {
 public:
  Followers(TestBids& bids, std::uint32_t nodes) : bids_(bids), awards_(nodes, 0), pods_(nodes, 0) {}

  void read(std::vector<BidDesk::Letter> letters) {
    for (const BidDesk::Letter& letter : letters) {
      const auto slot = static_cast<std::uint32_t>(std::stoul(letter.node.substr(5)));
      if (const auto* awards = std::get_if<LeaderAwards>(&letter.message)) {
        awards_[slot] = awards->awards;
        pods_[slot] += (awards->withdrawn ? -1 : 1) * static_cast<int>(awards->pods.size());
      } else {
        for (const PodQuestion& question : std::get<LeaderAsks>(letter.message).questions)
          answers_.push_back(
              {slot,
               {7, {{question.pod, BidVerdict::accept, -static_cast<float>(pods_[slot]), awards_[slot]}}}});
      }
    }
  }
  void answer() {
    for (const auto& [slot, word] : std::exchange(answers_, {}))
      bids_.desk.heard(TestBids::node(slot), word, bids_.cluster.now);
  }
  const std::vector<int>& pods() const { return pods_; }

 private:
  TestBids& bids_;
  std::vector<std::uint32_t> awards_;
  std::vector<int> pods_;
  std::vector<std::pair<std::uint32_t, AgentBids>> answers_;
};

std::vector<std::string> names(int count) {
  std::vector<std::string> pods;
  for (int i = 0; i < count; ++i) pods.push_back("p" + std::to_string(i));
  return pods;
}

// Turns of the loop until all pods have a node; false: that took too long.
bool run(TestBids& bids, Followers& followers, std::vector<std::string> waiting, int turns = 500) {
  while (!waiting.empty() && turns-- > 0) {
    followers.answer();
    if (bids.desk.has_news(bids.cluster.now)) bids.desk.news_seen();
    std::vector<std::string> left;
    for (const std::string& pod : waiting) {
      if (bids.desk.is_full()) {
        left.push_back(pod);
        continue;
      }
      const BidDesk::Outcome outcome = bids.consult(pod);
      EXPECT_NE(outcome.answer, Answer::nobody) << outcome.why;
      if (outcome.answer == Answer::chosen) {
        bids.award(pod, outcome.node.slot);
      } else {
        left.push_back(pod);
      }
    }
    waiting = left;
    followers.read(bids.desk.take_letters());
    bids.pass(200us);
  }
  return waiting.empty();
}

TEST(BidDesk, SpreadsPodsThatComeAtOnce) {
  TestBids bids(4);
  Followers followers(bids, 4);
  ASSERT_TRUE(run(bids, followers, names(40)));
  EXPECT_EQ(followers.pods(), (std::vector<int>{10, 10, 10, 10}));
  // Asked again about those whose turn is near, not about all that wait.
  EXPECT_LE(bids.desk.figures().questions, 40U * 4U + 40U * 6U);
}

TEST(BidDesk, SpreadsThemOverFiveHundredAgentsAsWell) {
  TestBids bids(500);
  Followers followers(bids, 500);
  ASSERT_TRUE(run(bids, followers, names(1000)));
  EXPECT_LE(*std::max_element(followers.pods().begin(), followers.pods().end()), 3)
      << "six are asked of each";
  EXPECT_GE(*std::min_element(followers.pods().begin(), followers.pods().end()), 1);
  EXPECT_EQ(bids.desk.agents().size(), 500U);
}

TEST(BidDesk, RepeatsItselfForASeed) {
  std::vector<std::vector<int>> ends;
  for (int i = 0; i < 2; ++i) {
    BidDeskOptions options;
    options.sample = 5;
    TestBids bids(30, options);
    Followers followers(bids, 30);
    ASSERT_TRUE(run(bids, followers, names(100)));
    ends.push_back(followers.pods());
  }
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(BidDesk, ComesThroughAgentsThatComeAndGoLoseWordsAndSendThemTwice) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    BidDeskOptions options;
    options.sample = seed % 3 == 0 ? 4 : 0;
    options.most_open = 8;
    const auto nodes = static_cast<std::uint32_t>(2 + seed % 7);
    TestBids bids(nodes, options, seed % 2 == 0);
    Random random(seed);
    std::vector<std::pair<std::uint32_t, AgentBids>> in_flight;
    std::vector<std::uint32_t> awards(nodes, 0);
    std::vector<std::string> waiting;
    std::size_t decided = 0, next = 0;
    for (int turn = 0; turn < 3000 && decided < 60; ++turn) {
      if (next < 60 && random.chance(0.3)) {
        waiting.push_back("p" + std::to_string(next++));
        if (seed % 2 == 0)
          for (std::uint32_t slot = 0; slot < nodes; ++slot)
            in_flight.push_back({slot,
                                 {7,
                                  {{pod_key(waiting.back()), BidVerdict::accept,
                                    static_cast<float>(random.uniform()), awards[slot]}}}});
      }
      random.shuffle(in_flight);
      while (!in_flight.empty() && random.chance(0.7)) {
        const auto [slot, word] = in_flight.back();
        if (!random.chance(0.2)) in_flight.pop_back();  // else it comes twice
        if (!random.chance(0.2)) bids.desk.heard(TestBids::node(slot), word, bids.cluster.now);
      }
      if (random.chance(0.02)) {
        const auto slot = static_cast<std::uint32_t>(random.below(nodes));
        bids.desk.left(TestBids::node(slot));
        if (random.chance(0.7)) {
          bids.join(slot, seed % 2 == 0);
          awards[slot] = 0;
        }
      }
      if (bids.desk.has_news(bids.cluster.now)) bids.desk.news_seen();
      std::vector<std::string> left;
      for (const std::string& pod : waiting) {
        const BidDesk::Outcome outcome =
            bids.desk.is_full() ? BidDesk::Outcome{Answer::waits, {}, {}} : bids.consult(pod);
        if (outcome.answer == Answer::waits) {
          left.push_back(pod);
          continue;
        }
        ++decided;
        ASSERT_FALSE(outcome.why.empty());
        if (outcome.answer == Answer::chosen) bids.award(pod, outcome.node.slot);
        if (random.chance(0.1)) {
          bids.desk.withdrawn(pod_key(pod));
          left.push_back(pod);
          --decided;
        } else {
          bids.desk.forget(pod_key(pod));
        }
      }
      waiting = left;
      for (const BidDesk::Letter& letter : bids.desk.take_letters()) {
        const auto slot = static_cast<std::uint32_t>(std::stoul(letter.node.substr(5)));
        if (const auto* told = std::get_if<LeaderAwards>(&letter.message)) {
          ASSERT_GT(told->awards, awards[slot]) << "seed " << seed;
          awards[slot] = told->awards;
        } else {
          for (const PodQuestion& question : std::get<LeaderAsks>(letter.message).questions)
            in_flight.push_back(
                {slot,
                 {7,
                  {{question.pod, random.chance(0.6) ? BidVerdict::accept : BidVerdict::reject,
                    static_cast<float>(random.uniform()), awards[slot]}}}});
        }
      }
      ASSERT_LE(bids.desk.figures().open, 16U);
      bids.pass(from_seconds(random.between(0, 0.01)));
    }
    EXPECT_EQ(decided, 60U) << "seed " << seed;
  }
}

}  // namespace
}  // namespace evenkeel::agents
