#include "agents/succession.h"

#include <gtest/gtest.h>

#include <set>

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
const Time kStart = Time{} + 1h;
const HolderIdentity kLeader{"leader", "10.0.0.1:9473", 77};
const std::string kHolder = to_text(kLeader);

LeaderBeat beat_of(Term term, std::uint32_t number, std::vector<std::string> deputies = {"first", "second"}) {
  LeaderBeat beat;
  beat.term = term;
  beat.beat = number;
  beat.leader = "leader";
  beat.deputies = std::move(deputies);
  return beat;
}

// A member that has heard the leader.
Succession follower(const std::string& node, std::uint64_t seed = 1) {
  Succession succession(node, {}, Random(seed));
  succession.line_open(kStart);
  succession.heard_beat(beat_of(3, 1), kStart);
  succession.saw_holder(kHolder, kStart);
  return succession;
}

TEST(Succession, IsADeputyWhileTheLeaderNamesIt) {
  Succession succession = follower("first");
  EXPECT_TRUE(succession.is_deputy());
  EXPECT_FALSE(follower("other").is_deputy());
  succession.heard_beat(beat_of(3, 2, {"second"}), kStart + 300ms);
  EXPECT_FALSE(succession.is_deputy());
}

TEST(Succession, IgnoresBeatsOfAnOlderTermAndThoseOvertaken) {
  Succession succession = follower("first");
  succession.heard_beat(beat_of(4, 1, {"second"}), kStart + 1s);
  succession.heard_beat(beat_of(3, 9), kStart + 1s);
  EXPECT_FALSE(succession.is_deputy());
  succession.heard_beat(beat_of(4, 5, {"first"}), kStart + 1s);
  succession.heard_beat(beat_of(4, 4, {}), kStart + 1s);
  EXPECT_TRUE(succession.is_deputy());
  // An old one is no sign of life either.
  succession.heard_beat(beat_of(3, 99), kStart + 2400ms);
  EXPECT_EQ(succession.wake_at(), kStart + 2500ms);
}

TEST(Succession, LetsALeaderCountAnewOnANewLine) {
  Succession succession = follower("first");
  succession.heard_beat(beat_of(3, 50), kStart + 1s);
  succession.line_lost(kStart + 2s);
  succession.line_open(kStart + 3s);
  succession.heard_beat(beat_of(3, 0, {}), kStart + 3s);
  EXPECT_FALSE(succession.is_deputy());
}

TEST(Succession, DeputiesLookOftenAndOthersSeldomWhileBeatsCome) {
  Succession deputy = follower("second"), member = follower("other");
  for (int look = 0; look < 100; ++look) {
    const Time now = kStart + look * 300ms;
    deputy.heard_beat(beat_of(3, static_cast<std::uint32_t>(look) + 2), now);
    EXPECT_LE(deputy.look_after(now), 600ms);
  }
  Time look = kStart;
  int looks = 0;
  std::uint32_t number = 2;
  for (Time now = kStart; now < kStart + 60s; now += 300ms) {
    member.heard_beat(beat_of(3, number++), now);
    const Duration left = member.look_after(now);
    if (now >= look) ++looks;
    look = now + left;
  }
  EXPECT_GE(looks, 8);
  EXPECT_LE(looks, 24) << "a beat does not put off the next look, nor bring it nearer";
}

TEST(Succession, OthersLookOftenOnceBeatsStop) {
  Succession member = follower("other");
  EXPECT_GE(member.look_after(kStart), 2500ms);
  EXPECT_EQ(member.wake_at(), kStart + 1500ms);
  EXPECT_LE(member.look_after(kStart + 1500ms), 600ms);
  EXPECT_EQ(member.wake_at(), Time::max()) << "nothing more changes by itself";
}

TEST(Succession, OthersLookOftenOnceTheirLineIsLostAndBeforeTheyEverHadOne) {
  Succession fresh("other", {}, Random(1));
  EXPECT_LE(fresh.look_after(kStart), 600ms);
  Succession member = follower("other");
  EXPECT_GE(member.look_after(kStart), 2500ms);
  member.line_lost(kStart + 100ms);
  EXPECT_LE(member.look_after(kStart + 100ms), 600ms);
  member.line_open(kStart + 200ms);
  (void)member.look_after(kStart + 10s - 1ms);
  member.line_open(kStart + 10s);
  EXPECT_GE(member.look_after(kStart + 11s), 2s) << "as long as it is not silent again";
}

TEST(Succession, ALookWhoseTimeHasPassedIsTakenForMade) {
  Succession deputy = follower("first");
  Time now = kStart;
  for (int look = 0; look < 50; ++look) {
    const Duration wait = deputy.look_after(now);
    EXPECT_GE(wait, 200ms) << "also where looking failed";
    now += wait;
  }
}

TEST(Succession, DeputiesClaimInTurnOnceTheLeaderIsProvenDead) {
  Succession first = follower("first"), second = follower("second");
  EXPECT_FALSE(first.may_claim_from(kStart + 1h)) << "silence is no proof";
  const Time dead = kStart + 1s;
  first.leader_gone(kLeader, dead);
  second.leader_gone(kLeader, dead);
  EXPECT_EQ(first.may_claim_from(dead), kLeader);
  EXPECT_EQ(first.look_after(dead), Duration::zero());
  EXPECT_GT(first.look_after(dead), Duration::zero()) << "said once";
  EXPECT_FALSE(second.may_claim_from(dead + 99ms));
  EXPECT_EQ(second.wake_at(), dead + 100ms);
  EXPECT_LE(second.look_after(dead), 100ms);
  EXPECT_EQ(second.may_claim_from(dead + 100ms), kLeader);
}

TEST(Succession, AProofHeardTwiceDoesNotPutOffTheTurn) {
  Succession second = follower("second");
  second.leader_gone(kLeader, kStart + 1s);
  second.leader_gone(kLeader, kStart + 1090ms);
  EXPECT_TRUE(second.may_claim_from(kStart + 1100ms));
}

TEST(Succession, OthersClaimAfterTheDeputiesAndNotAllAtOnce) {
  const Time dead = kStart + 1s;
  std::set<Time> turns;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Succession member = follower("other-" + std::to_string(seed), seed);
    member.line_lost(dead);
    member.leader_gone(kLeader, dead);
    EXPECT_FALSE(member.may_claim_from(dead + 199ms));
    EXPECT_TRUE(member.may_claim_from(dead + 1200ms));
    turns.insert(member.wake_at());
  }
  EXPECT_GE(turns.size(), 99U);
  EXPECT_LT(*turns.begin(), dead + 300ms) << "one of them soon";
}

TEST(Succession, HundredsThatLoseTheirLineAtOnceDoNotLookInStep) {
  std::vector<int> looks(12, 0);  // by tenths of a second
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Succession member = follower("other-" + std::to_string(seed), seed);
    (void)member.look_after(kStart);
    member.line_lost(kStart + 1s);
    for (Time now = kStart + 1s; now < kStart + 2s;) {
      now += member.look_after(now);
      if (now < kStart + 2200ms) ++looks[static_cast<std::size_t>((now - kStart - 1s) / 100ms)];
    }
  }
  EXPECT_EQ(looks[0], 0);
  for (const int in_a_tenth : looks) EXPECT_LE(in_a_tenth, 200);
}

TEST(Succession, GivesUpItsClaimWhenSomebodyElseHoldsTheLease) {
  Succession first = follower("first");
  first.leader_gone(kLeader, kStart + 1s);
  first.saw_holder(kHolder, kStart + 1s);
  EXPECT_TRUE(first.may_claim_from(kStart + 1s)) << "the dead one still holds it";
  first.saw_holder("second/10.0.0.3:9473/0000000000000001", kStart + 2s);
  EXPECT_FALSE(first.may_claim_from(kStart + 3s));
  first.leader_gone(kLeader, kStart + 4s);
  first.saw_holder("", kStart + 4s);
  EXPECT_FALSE(first.may_claim_from(kStart + 5s)) << "it is free: nobody has to be dead";
}

TEST(Succession, ABeatRefutesTheProof) {
  Succession first = follower("first");
  first.leader_gone(kLeader, kStart + 1s);
  first.heard_beat(beat_of(3, 2), kStart + 1100ms);
  EXPECT_FALSE(first.may_claim_from(kStart + 2s));
  first.leader_gone(kLeader, kStart + 2s);
  first.heard_beat(beat_of(2, 7), kStart + 2100ms);
  EXPECT_TRUE(first.may_claim_from(kStart + 2200ms)) << "one of an older term does not";
}

TEST(Succession, DoesNotCareForTheDeathOfWhoLeadsNoMore) {
  Succession first = follower("first");
  first.leader_gone({"before", "10.0.0.9:9473", 1}, kStart + 1s);
  EXPECT_FALSE(first.may_claim_from(kStart + 2s));
  // Unless nobody is heard: perhaps it is the one it is looking for.
  Succession fresh("other", {}, Random(1));
  fresh.leader_gone(kLeader, kStart);
  EXPECT_EQ(fresh.may_claim_from(kStart + 1200ms), kLeader);
}

}  // namespace
}  // namespace evenkeel::agents
