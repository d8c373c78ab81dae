#include "agents/bid_desk.h"

#include <gtest/gtest.h>

#include <limits>

#include "agents/test_bids.h"
#include "scheduling/node_forecasts.h"

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;
using Answer = BidDesk::Answer;

TEST(BidDesk, AsksAllAgentsWhoseNodesWouldDoAndTakesTheBestBid) {
  TestBids bids(4);
  bids.unfit = {3};
  EXPECT_EQ(bids.answer("a"), "waits");
  const auto sent = bids.letters();
  EXPECT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent.at("node-0"), Lines{"asks a"});
  EXPECT_FALSE(sent.contains("node-3"));
  EXPECT_TRUE(bids.letters().empty()) << "asked once";

  bids.pass(3100us);
  bids.accept(0, "a", 0.2F);
  bids.accept(1, "a", 0.58F);
  EXPECT_FALSE(bids.desk.has_news(bids.cluster.now));
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.say(2, "a", BidVerdict::reject, 0.9F);
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  EXPECT_EQ(bids.answer("a"), "node-1");
  EXPECT_EQ(bids.why, "3 of 3 agents answered in 3.1 ms; the best bid 0.58");
  EXPECT_EQ(bids.desk.figures().by_all, 1U);
  EXPECT_EQ(bids.desk.figures().questions, 3U);
}

TEST(BidDesk, TellsTheLeadersFiguresOfThePod) {
  TestBids bids(1);
  PodSpec spec = spec_asking(250, 64 << 20);
  spec.priority = 12;
  Pod pod = test_pod({1, 1}, test_shape(spec));
  pod.uid = "a";
  Demand demand;
  demand.mean = {{0.5, 1e8, 3, 4, 5, 6}};
  EXPECT_EQ(bids.desk.consult(bids.cluster.question(pod, demand)).answer, Answer::waits);
  bids.letters();
  const LeaderAsks& asks = bids.last_asks.at("node-0");
  EXPECT_EQ(asks.term, 7U);
  const PodQuestion& question = asks.questions.at(0);
  EXPECT_EQ(question.pod, pod_key("a"));
  EXPECT_EQ(question.priority, 12);
  EXPECT_DOUBLE_EQ(question.cpu, 0.25);
  EXPECT_DOUBLE_EQ(question.memory, 64 << 20);
  EXPECT_EQ(question.expected, scheduling::NodeForecasts::planned(demand));
  EXPECT_EQ(question.delay, 0);
}

TEST(BidDesk, GathersTheQuestionsOfATurnInOneLetter) {
  TestBids bids(2);
  for (const char* pod : {"a", "b", "c"}) EXPECT_EQ(bids.answer(pod), "waits");
  EXPECT_EQ(bids.letters().at("node-1"), Lines{"asks a b c"});
}

TEST(BidDesk, DecidesAtOnceWhereAgentsThatSeePodsSpokeBefore) {
  TestBids bids(3, {}, true);
  bids.accept(0, "a", 0.1F);
  bids.accept(1, "a", 0.3F);
  bids.accept(2, "a", 0.2F);
  EXPECT_FALSE(bids.desk.has_news(bids.cluster.now)) << "nobody asked yet";
  EXPECT_EQ(bids.answer("a"), "node-1");
  EXPECT_EQ(bids.why, "3 of 3 agents answered in 0.0 ms; the best bid 0.30");
  EXPECT_TRUE(bids.letters().empty()) << "and nobody had to be asked";
}

TEST(BidDesk, AsksThoseWhoSeePodsWhereTheyKeepSilent) {
  TestBids bids(2, {}, true);
  bids.accept(0, "a", 0.1F);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_TRUE(bids.letters().empty());
  EXPECT_EQ(bids.desk.wake_at(), bids.cluster.now + 6ms);
  bids.pass(6ms);
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  EXPECT_EQ(bids.answer("a"), "waits");
  const auto sent = bids.letters();
  EXPECT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent.at("node-1"), Lines{"asks a"});
  bids.pass(1ms);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_TRUE(bids.letters().empty()) << "once is enough";
}

TEST(BidDesk, TellsEverybodyWhereItIsToRelayPods) {
  BidDeskOptions options;
  options.tells_pods = true;
  TestBids bids(2, options, true);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.letters().size(), 2U);
}

TEST(BidDesk, AsksAboutDelaysEvenThoseWhoSeePods) {
  TestBids bids(2, {}, true);
  bids.accept(0, "a", 0.9F);  // without knowing the delay
  bids.accept(1, "a", 0.1F);
  const auto delay = [](const scheduling::PlacementRequest&, NodeId node) {
    return node.slot == 0 ? 20.0F : 0.0F;
  };
  EXPECT_EQ(bids.answer("a", delay), "waits");
  EXPECT_EQ(bids.letters().size(), 2U);
  EXPECT_EQ(bids.last_asks.at("node-0").questions[0].delay, 20);
  EXPECT_EQ(bids.last_asks.at("node-1").questions[0].delay, 0);
  bids.accept(0, "a", 0.05F);
  bids.accept(1, "a", 0.1F);
  EXPECT_EQ(bids.answer("a", delay), "node-1");
  // Where no node has any, nobody needs to be told.
  bids.accept(0, "b", 0.9F);
  bids.accept(1, "b", 0.1F);
  EXPECT_EQ(bids.answer("b", [](const scheduling::PlacementRequest&, NodeId) { return 0.0F; }), "node-0");
}

// ---- Quorum and deadline.

TEST(BidDesk, AQuorumIsEnoughAfterAWhile) {
  TestBids bids(4);
  EXPECT_EQ(bids.answer("a"), "waits");
  for (std::uint32_t slot = 0; slot < 3; ++slot) bids.accept(slot, "a", static_cast<float>(slot));
  bids.pass(11ms);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.desk.wake_at(), bids.cluster.now + 1ms);
  bids.pass(1ms);
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  EXPECT_EQ(bids.answer("a"), "node-2");
  EXPECT_EQ(bids.why, "3 of 4 agents answered in 12.0 ms; the best bid 2.00");
  EXPECT_EQ(bids.desk.figures().by_quorum, 1U);
}

TEST(BidDesk, AQuorumOfWhichNobodyAcceptsWaitsForTheOthers) {
  TestBids bids(4);
  EXPECT_EQ(bids.answer("a"), "waits");
  for (std::uint32_t slot = 0; slot < 3; ++slot) bids.say(slot, "a", BidVerdict::reject, -1);
  bids.pass(20ms);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(3, "a", -5);
  EXPECT_EQ(bids.answer("a"), "node-3");
}

TEST(BidDesk, ALateQuorumIsNews) {
  TestBids bids(4);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.pass(20ms);
  bids.desk.news_seen();
  EXPECT_EQ(bids.answer("a"), "waits");
  for (std::uint32_t slot = 0; slot < 2; ++slot) bids.accept(slot, "a", 1);
  EXPECT_FALSE(bids.desk.has_news(bids.cluster.now));
  bids.accept(2, "a", 1);
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  EXPECT_NE(bids.answer("a"), "waits");
}

TEST(BidDesk, DecidesAtTheDeadlineByThoseWhoAnswered) {
  TestBids bids(4);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(2, "a", -3);
  bids.pass(59ms);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.desk.wake_at(), bids.cluster.now + 1ms);
  bids.pass(1ms);
  EXPECT_EQ(bids.answer("a"), "node-2");
  EXPECT_EQ(bids.why, "1 of 4 agents answered in 60.0 ms; the best bid -3.00");
  EXPECT_EQ(bids.desk.figures().by_deadline, 1U);
  EXPECT_DOUBLE_EQ(bids.desk.figures().gather_ms_sum, 60);
}

TEST(BidDesk, SaysWhyNobodyWillHaveThePod) {
  TestBids bids(5);
  EXPECT_EQ(bids.answer("a"), "waits");
  for (std::uint32_t slot = 0; slot < 3; ++slot) bids.say(slot, "a", BidVerdict::reject);
  bids.say(3, "a", BidVerdict::unfit);
  bids.say(4, "a", BidVerdict::abstains);
  EXPECT_EQ(bids.answer("a"), "nobody");
  EXPECT_EQ(bids.why, "5 agents answered, none accepts: 3 reject, 1 unfit, 1 abstains");
  EXPECT_EQ(bids.desk.figures().by_nobody, 1U);

  EXPECT_EQ(bids.answer("b"), "waits");
  bids.pass(60ms);
  EXPECT_EQ(bids.answer("b"), "nobody");
  EXPECT_EQ(bids.why, "none of 5 agents answered in 60.0 ms: 5 silent");
  EXPECT_EQ(bids.answer("c"), "waits");
  bids.say(1, "c", BidVerdict::reject);
  bids.pass(60ms);
  EXPECT_EQ(bids.answer("c"), "nobody");
  EXPECT_EQ(bids.why, "1 of 5 agents answered in 60.0 ms, none accepts: 1 reject, 4 silent");
}

TEST(BidDesk, LeavesThePodToARuleWhereNobodyIsThere) {
  TestBids bids(0);
  bids.cluster.state.set_node(test_node(0));
  EXPECT_EQ(bids.answer("a"), "nobody");
  EXPECT_EQ(bids.why, "none of the nodes that would do has an agent");
  EXPECT_EQ(bids.desk.wake_at(), Time::max());
  bids.desk.end_term();
  EXPECT_EQ(bids.answer("a"), "nobody");
}

TEST(BidDesk, DrawsLotsBetweenEqualBids) {
  std::vector<int> wins(3, 0);
  TestBids bids(3);
  for (int i = 0; i < 300; ++i) {
    const std::string pod = "p" + std::to_string(i);
    EXPECT_EQ(bids.answer(pod), "waits");
    bids.accept(0, pod, 1);
    bids.accept(1, pod, 0.5F);
    bids.accept(2, pod, 1);
    const BidDesk::Outcome outcome = bids.consult(pod);
    ++wins.at(outcome.node.slot);
    bids.desk.forget(pod_key(pod));
  }
  EXPECT_EQ(wins[1], 0);
  EXPECT_GT(wins[0], 100);
  EXPECT_GT(wins[2], 100);
}

TEST(BidDesk, TakesAScoreThatIsNoNumberForNoOpinion) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", std::numeric_limits<float>::quiet_NaN());
  bids.accept(1, "a", -100);
  EXPECT_EQ(bids.answer("a"), "node-1");
  EXPECT_EQ(bids.answer("b"), "waits");
  bids.accept(0, "b", std::numeric_limits<float>::infinity());
  bids.accept(1, "b", -100);
  EXPECT_EQ(bids.answer("b"), "node-1");
}

// ---- Terms and duplicates.

TEST(BidDesk, RefusesWordsOfAnotherTermAndOfStrangers) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_FALSE(bids.say(0, "a", BidVerdict::accept, 1, 0, 6));
  EXPECT_FALSE(bids.say(0, "a", BidVerdict::accept, 1, 0, 8));
  EXPECT_FALSE(bids.say(9, "a", BidVerdict::accept, 1));
  EXPECT_TRUE(bids.accept(1, "a", 0.5F));
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.desk.figures().foreign_term, 3U);
  EXPECT_EQ(bids.desk.figures().bids, 1U);
}

TEST(BidDesk, ForgetsEverythingSaidInTheTermBefore) {
  TestBids bids(2, {}, true);
  bids.accept(0, "a", 1);
  bids.accept(1, "a", 2);
  EXPECT_EQ(bids.answer("b"), "waits");
  bids.award("c", 0);
  bids.desk.begin_term(8);
  EXPECT_EQ(bids.desk.figures().open, 0U);
  EXPECT_TRUE(bids.letters().empty()) << "awards of a term that is over";
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_TRUE(bids.say(0, "a", BidVerdict::accept, 1, 0, 8)) << "and awards count from 0";
  EXPECT_TRUE(bids.say(1, "a", BidVerdict::accept, 2, 0, 8));
  EXPECT_EQ(bids.answer("a"), "node-1");
  bids.desk.end_term();
  EXPECT_FALSE(bids.say(0, "a", BidVerdict::accept, 1, 0, 8));
  EXPECT_EQ(bids.desk.wake_at(), Time::max());
}

TEST(BidDesk, CountsAnAgentOnceHoweverOftenItSpeaks) {
  TestBids bids(3);
  EXPECT_EQ(bids.answer("a"), "waits");
  for (int i = 0; i < 5; ++i) bids.accept(0, "a", 0.9F);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 0.1F);  // it changed its mind
  bids.accept(1, "a", 0.5F);
  bids.accept(2, "a", 0.3F);
  EXPECT_EQ(bids.answer("a"), "node-1");
}

TEST(BidDesk, IgnoresLateWordsToPodsThatAreDecided) {
  TestBids bids(2, {}, true);
  bids.accept(0, "a", 1);
  bids.accept(1, "a", 2);
  EXPECT_EQ(bids.answer("a"), "node-1");
  bids.award("a", 1);
  bids.accept(0, "a", 1);
  bids.desk.withdrawn(pod_key("a"));
  bids.unfit = {1};
  EXPECT_EQ(bids.answer("a"), "waits") << "what came too late is not kept for the next time";
}

// ---- Out of date.

TEST(BidDesk, TellsTheWinnerAndCountsItsEarlierWordsNoMore) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.answer("b"), "waits");
  bids.letters();
  for (const char* pod : {"a", "b"}) {
    bids.accept(0, pod, 0.9F);
    bids.accept(1, pod, 0.1F);
  }
  EXPECT_EQ(bids.answer("a"), "node-0");
  bids.award("a", 0);
  EXPECT_EQ(bids.answer("b"), "waits");
  const auto sent = bids.letters();
  EXPECT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent.at("node-0"), (Lines{"award 1: a", "asks b"})) << "first the award, then the question";
  EXPECT_TRUE(bids.letters().empty()) << "asked again once per award";
  bids.accept(0, "b", 0.05F, 1);
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  EXPECT_EQ(bids.answer("b"), "node-1");
}

TEST(BidDesk, AWordThatCrossedAnAwardIsOutOfDate) {
  TestBids bids(2);
  bids.pod("other");
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.letters();
  bids.award("other", 0);
  EXPECT_EQ(bids.letters().at("node-0"), Lines{"award 1: other"}) << "its answer may know of it already";
  bids.accept(0, "a", 0.9F, 0);
  bids.accept(1, "a", 0.1F, 0);
  EXPECT_EQ(bids.desk.figures().out_of_date, 1U);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.letters().at("node-0"), Lines{"asks a"});
  bids.accept(0, "a", 0.5F, 1);
  bids.accept(0, "a", 0.9F, 0);  // overtaken on the way
  EXPECT_EQ(bids.answer("a"), "node-0");
  EXPECT_EQ(bids.why, "2 of 2 agents answered in 0.0 ms; the best bid 0.50");
}

TEST(BidDesk, DoesNotWaitForTheWinnersSecondWordWhileAQuorumIsLeft) {
  TestBids bids(4);
  for (const char* pod : {"a", "b", "c"}) {
    EXPECT_EQ(bids.answer(pod), "waits");
    for (std::uint32_t slot = 0; slot < 4; ++slot)
      bids.accept(slot, pod, 1 - 0.1F * static_cast<float>(slot));
  }
  EXPECT_EQ(bids.answer("a"), "node-0");
  bids.award("a", 0);
  EXPECT_EQ(bids.answer("b"), "node-1") << "the winner before is left out";
  EXPECT_EQ(bids.why, "3 of 4 agents answered in 0.0 ms; the best bid 0.90");
  bids.award("b", 1);
  EXPECT_EQ(bids.answer("c"), "waits") << "two of four are no quorum";
}

TEST(BidDesk, WaitsForWhoIsOutOfDateWhereTheQuorumAcceptsNothing) {
  TestBids bids(4);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 1);
  bids.award("other", 0);
  for (std::uint32_t slot = 1; slot < 4; ++slot) bids.say(slot, "a", BidVerdict::reject);
  bids.pass(60ms);
  EXPECT_EQ(bids.answer("a"), "waits") << "past the deadline, too: a word is all that lacks";
  bids.accept(0, "a", 0.5F, 1);
  EXPECT_EQ(bids.answer("a"), "node-0");
}

TEST(BidDesk, DoesNotWaitForThemForEver) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 1);
  bids.award("other", 0);
  bids.pass(60ms);
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.desk.wake_at(), bids.cluster.now + 60ms);
  bids.pass(60ms);
  EXPECT_EQ(bids.answer("a"), "nobody");
  EXPECT_EQ(bids.why, "none of 2 agents answered in 120.0 ms: 1 out of date, 1 silent");
}

TEST(BidDesk, DropsWordsThatKnowOfMoreAwardsThanWereGiven) {
  TestBids bids(1);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 1, 3);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 1, 0);
  EXPECT_EQ(bids.answer("a"), "node-0");
}

TEST(BidDesk, TellsOfAwardsByARuleAsWell) {
  TestBids bids(2, {}, true);
  bids.award("a", 1);
  bids.award("b", 1);
  bids.desk.awarded(pod_key("c"), "no-agent-there");
  EXPECT_EQ(bids.letters().at("node-1").front().substr(0, 8), "award 2:");
  bids.accept(0, "d", 1);
  bids.accept(1, "d", 2, 1);
  EXPECT_EQ(bids.answer("d"), "waits");
  EXPECT_EQ(bids.letters().at("node-1"), Lines{"asks d"});
}

TEST(BidDesk, TellsOfAnAwardOnceHoweverOftenItIsTold) {
  TestBids bids(1);
  bids.answer("a");
  bids.award("a", 0);
  bids.award("a", 0);
  EXPECT_EQ(bids.letters().at("node-0"), Lines{"award 1: a"});
}

TEST(BidDesk, WithdrawsAnAwardWhoseBindingFailedAndAsksAgain) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  for (std::uint32_t slot = 0; slot < 2; ++slot) bids.accept(slot, "a", 1);
  bids.award("a", 0);
  bids.letters();
  bids.desk.withdrawn(pod_key("a"));
  EXPECT_EQ(bids.letters().at("node-0"), Lines{"withdrawn 2: a"});
  bids.desk.withdrawn(pod_key("a"));
  EXPECT_TRUE(bids.letters().empty());
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.letters().size(), 2U);
  bids.accept(0, "a", 9, 1);  // still believes that the pod is there
  bids.accept(1, "a", 1, 0);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 2, 2);
  EXPECT_EQ(bids.answer("a"), "node-0");
}

TEST(BidDesk, AwardsAndWithdrawalsReachTheAgentInOrder) {
  TestBids bids(1);
  for (const char* pod : {"a", "b", "c"}) bids.answer(pod);
  bids.letters();
  bids.award("a", 0);
  bids.award("b", 0);
  bids.desk.withdrawn(pod_key("a"));
  bids.award("c", 0);
  EXPECT_EQ(bids.letters().at("node-0"), (Lines{"award 2: a b", "withdrawn 3: a", "award 4: c"}));
}

TEST(BidDesk, TakesAnAwardFromOneAgentWhenAnotherGetsThePod) {
  TestBids bids(2);
  bids.answer("a");
  bids.letters();
  bids.award("a", 0);
  bids.award("a", 1);
  const auto sent = bids.letters();
  EXPECT_EQ(sent.at("node-0"), (Lines{"award 1: a", "withdrawn 2: a"}));
  EXPECT_EQ(sent.at("node-1"), Lines{"award 1: a"});
}

TEST(BidDesk, AnAwardThatWasCarriedOutIsNotWithdrawn) {
  TestBids bids(1);
  bids.answer("a");
  bids.award("a", 0);
  bids.letters();
  bids.desk.forget(pod_key("a"));
  bids.desk.withdrawn(pod_key("a"));
  EXPECT_TRUE(bids.letters().empty());
}

// ---- Coming and going.

TEST(BidDesk, DoesNotWaitForWhoHasLeft) {
  TestBids bids(3);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 1);
  bids.accept(1, "a", 2);
  bids.desk.left("node-2");
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  EXPECT_EQ(bids.answer("a"), "node-1");
  EXPECT_EQ(bids.desk.agents(), (Lines{"node-0", "node-1"}));
}

TEST(BidDesk, DoesNotChooseWhoHasLeft) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 9);
  bids.desk.left("node-0");
  bids.accept(1, "a", 1);
  EXPECT_EQ(bids.answer("a"), "node-1");
}

TEST(BidDesk, WhoComesBackStartsWithoutWordsAndAwards) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.award("x", 0);
  bids.accept(0, "a", 9, 1);
  bids.join(0);
  EXPECT_EQ(bids.letters().count("node-0"), 0U) << "nothing of before is told to the new line";
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.letters().at("node-0"), Lines{"asks a"});
  bids.accept(1, "a", 1);
  EXPECT_EQ(bids.answer("a"), "waits") << "its earlier word does not count";
  bids.accept(0, "a", 3, 0);
  EXPECT_EQ(bids.answer("a"), "node-0");
  EXPECT_EQ(bids.desk.agents(), (Lines{"node-1", "node-0"})) << "the longest joined first";
}

TEST(BidDesk, WhoTakesThePlaceOfOneThatLeftIsNotTakenForIt) {
  TestBids bids(3);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(2, "a", 9);
  bids.desk.left("node-2");
  bids.cluster.state.set_node(test_node(3));
  bids.join(3);
  bids.join(2);  // in another place than before
  EXPECT_TRUE(bids.accept(3, "a", 5));
  bids.accept(0, "a", 1);
  bids.accept(1, "a", 2);
  EXPECT_EQ(bids.answer("a"), "node-1") << "neither was asked in this round";
  bids.desk.withdrawn(pod_key("a"));
}

TEST(BidDesk, EarlyWordsOfOneThatLeftDoNotCountForWhoComesInItsPlace) {
  TestBids bids(1, {}, true);
  bids.accept(0, "a", 9);
  bids.join(0, true);
  EXPECT_EQ(bids.answer("a"), "waits");
}

TEST(BidDesk, AsksOthersWhereAllItHadAskedAreGone) {
  TestBids bids(2);
  bids.unfit = {1};
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.letters();
  bids.desk.left("node-0");
  EXPECT_TRUE(bids.desk.has_news(bids.cluster.now));
  bids.unfit = {};
  EXPECT_EQ(bids.answer("a"), "waits");
  EXPECT_EQ(bids.letters().at("node-1"), Lines{"asks a"});
  bids.accept(1, "a", 1);
  EXPECT_EQ(bids.answer("a"), "node-1");
}

TEST(BidDesk, LooksAtTheMaskAgainWhenItIsConsultedAgain) {
  TestBids bids(3);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 9);
  bids.accept(1, "a", 1);
  bids.unfit = {0, 2};
  EXPECT_EQ(bids.answer("a"), "node-1") << "one would do no more, another need not be waited for";
  bids.desk.forget(pod_key("a"));
  EXPECT_EQ(bids.answer("b"), "waits");
  bids.unfit = {};
  bids.accept(1, "b", 1);
  EXPECT_EQ(bids.answer("b"), "node-1");
}

TEST(BidDesk, ANodeThatWouldDoAgainKeepsItsWord) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 9);
  bids.unfit = {0};
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.unfit = {};
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(1, "a", 1);
  EXPECT_EQ(bids.answer("a"), "node-0");
}

TEST(BidDesk, IsNotConfusedByNodesThatTakeEachOthersHandles) {
  TestBids bids(2);
  EXPECT_EQ(bids.answer("a"), "waits");
  bids.accept(0, "a", 9);
  bids.accept(1, "a", 1);
  Node other = test_node(0);
  other.name = "node-1b";
  bids.cluster.state.remove_node({0});
  bids.cluster.state.set_node(other);
  EXPECT_EQ(bids.answer("a"), "node-1") << "the handle means another node by now";
}

}  // namespace
}  // namespace evenkeel::agents
