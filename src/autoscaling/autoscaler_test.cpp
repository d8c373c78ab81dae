#include "autoscaling/autoscaler.h"

#include <gtest/gtest.h>

#include <limits>

#include "autoscaling/policies/hpa.h"
#include "autoscaling/test_services.h"

namespace evenkeel::autoscaling {
namespace {

using namespace std::chrono_literals;

constexpr ScalerId kWeb{0, 1};

// One workload under an autoscaler, whose policy says what the test says.
struct Desk {
  Autoscaler autoscaler;
  ScalerSpec spec;
  Time now = kNow;
  std::int32_t replicas = 2;
  std::optional<ScaleWorkload> scaled{};
  ScalingDecision decision{};

  explicit Desk(ScalerSpec given = test_spec("other"), AutoscalerOptions options = {})
      : autoscaler(options), spec(std::move(given)) {
    autoscaler.observe(ScalerSet{kWeb, spec}, now);
  }

  void look(double load = 0.5) {
    autoscaler.observe(
        ServiceReported{kWeb,
                        test_report(std::vector<double>(static_cast<std::size_t>(replicas), load), now)},
        now);
  }
  // Looks an interval later and answers; says whether it was asked at all.
  bool turn(const Recommendation& answer, Duration after = 15s, double load = 0.5) {
    now += after;
    look(load);
    return decide(answer);
  }
  bool decide(const Recommendation& answer) {
    scaled.reset();
    const std::optional<ScalingRequest> request = autoscaler.next(now);
    if (!request) return false;
    for (const ScalingAction& action : autoscaler.commit(*request, answer)) {
      if (const auto* scale = std::get_if<ScaleWorkload>(&action))
        scaled = *scale;
      else
        decision = std::get<TellDecision>(action).decision;
    }
    return true;
  }
  void confirm() {
    replicas = scaled->to;
    autoscaler.observe(Scaled{kWeb, replicas}, now);
  }
  bool says(std::string_view rule) const {
    return std::any_of(decision.reasons.begin(), decision.reasons.end(),
                       [&](const auto& r) { return r.rule == rule; });
  }
};

TEST(Autoscaler, AsksOnceAnIntervalAndScalesFromWhatItSaw) {
  Desk desk;
  ASSERT_TRUE(desk.turn({.replicas = 4}));
  ASSERT_TRUE(desk.scaled);
  EXPECT_EQ(desk.scaled->from, 2);
  EXPECT_EQ(desk.scaled->to, 4);
  desk.confirm();
  EXPECT_FALSE(desk.turn({.replicas = 4}, 1s));
  EXPECT_TRUE(desk.turn({.replicas = 4}, 14s));
  EXPECT_FALSE(desk.scaled);
}

TEST(Autoscaler, AsksAboutAThousandWorkloadsAtDifferentMoments) {
  Autoscaler autoscaler;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ScalerSpec spec = test_spec();
    spec.name = "web-" + std::to_string(i);
    autoscaler.observe(ScalerSet{{i, 1}, spec}, kNow);
  }
  std::size_t most = 0, all = 0;
  for (Time now = kNow; now < kNow + 15s; now += 1s) {
    for (std::uint32_t i = 0; i < 1000; ++i)
      autoscaler.observe(ServiceReported{{i, 1}, test_report({0.5}, now)}, now);
    std::size_t asked = 0;
    while (autoscaler.next(now)) ++asked;
    most = std::max(most, asked);
    all += asked;
  }
  EXPECT_LT(most, 400U);  // those at the first moment are within a quarter of their interval
  EXPECT_GE(all, 900U);
}

TEST(Autoscaler, HoldsWhenNothingWasSeenForTooLong) {
  Desk desk;
  desk.turn({.replicas = 2});
  desk.now += 10min;
  ASSERT_LE(desk.autoscaler.wake_at(), desk.now);
  ASSERT_TRUE(desk.decide({.replicas = 9}));
  EXPECT_FALSE(desk.scaled);
  EXPECT_EQ(desk.decision.decided_by, "hold");
}

TEST(Autoscaler, LetsHpaDecideWhereThePolicyCannot) {
  for (const Recommendation& answer :
       {Recommendation{.unable = "no model"},
        Recommendation{.replicas = std::numeric_limits<std::int32_t>::min()},
        Recommendation{.replicas = std::numeric_limits<std::int32_t>::max()}}) {
    Desk desk;
    ASSERT_TRUE(desk.turn(answer, 15s, 1.0));
    ASSERT_TRUE(desk.scaled);
    EXPECT_EQ(desk.scaled->to, 4);
    EXPECT_EQ(desk.decision.decided_by, "hpa");
    EXPECT_FALSE(desk.decision.fallback.empty());
  }
}

TEST(Autoscaler, HoldsWhereHpaCannotTellEither) {
  Desk desk;
  desk.now += 15s;
  desk.look(std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(desk.decide({.unable = "no model"}));
  EXPECT_FALSE(desk.scaled);
  EXPECT_EQ(desk.decision.decided_by, "hold");
}

TEST(Autoscaler, ShowsPoliciesNothingStale) {
  Desk desk;
  desk.now += 15s;
  ServiceReport report = test_report({0.5, 0.5}, desk.now);
  report.replicas[0].samples[0]->measured = desk.now - 2min;
  report.requests_per_s = {100, desk.now - 2min};
  report.response_s = {0.1, desk.now};
  desk.autoscaler.observe(ServiceReported{kWeb, report}, desk.now);
  const auto request = desk.autoscaler.next(desk.now);
  ASSERT_TRUE(request);
  EXPECT_FALSE(request->report.replicas[0].samples[0]);
  EXPECT_TRUE(request->report.replicas[1].samples[0]);
  EXPECT_FALSE(request->report.requests_per_s);
  EXPECT_TRUE(request->report.response_s);
}

TEST(Autoscaler, BoundsEveryPolicyAndBringsWorkloadsBackAtOnce) {
  Desk desk;
  desk.turn({.replicas = 500});
  EXPECT_EQ(desk.scaled->to, 4);  // twice as many or four
  EXPECT_TRUE(desk.says("limit"));
  desk.replicas = 35;
  desk.autoscaler.observe(ScaleFailed{kWeb, "conflict"}, desk.now);
  desk.turn({.replicas = 35});
  EXPECT_EQ(desk.scaled->to, 20);
  EXPECT_TRUE(desk.says("bounds"));
}

TEST(Autoscaler, TriesNothingOutDownwards) {
  Desk desk;
  desk.replicas = 4;
  Recommendation answer{.replicas = 3};
  answer.unexplored = 6;
  desk.turn(answer);
  EXPECT_EQ(desk.scaled->to, 6);
}

TEST(Autoscaler, DoesNotActInPreviewPausedBesideARivalOrWithoutTheLease) {
  ScalerSpec spec = test_spec("other");
  spec.mode = ScalerSpec::Mode::preview;
  Desk preview(spec);
  preview.turn({.replicas = 4});
  EXPECT_FALSE(preview.scaled);
  EXPECT_EQ(preview.decision.to, 4);  // what it would have done

  Desk all_preview(test_spec("other"), {.preview = true});
  all_preview.turn({.replicas = 4});
  EXPECT_FALSE(all_preview.scaled);

  spec.mode = ScalerSpec::Mode::paused;
  Desk paused(spec);
  paused.turn({.replicas = 4});
  EXPECT_FALSE(paused.scaled);
  EXPECT_EQ(paused.decision.to, 2);
  EXPECT_TRUE(paused.says("paused"));

  Desk rival;
  rival.autoscaler.observe(RivalSeen{kWeb, "HorizontalPodAutoscaler shop/web"}, rival.now);
  rival.turn({.replicas = 4});
  EXPECT_FALSE(rival.scaled);
  EXPECT_TRUE(rival.says("rival"));
  rival.autoscaler.observe(RivalSeen{kWeb, ""}, rival.now);
  rival.turn({.replicas = 4});
  EXPECT_TRUE(rival.scaled);

  Desk fenced;
  fenced.autoscaler.hold_lease(fenced.now + 15s, fenced.now);
  fenced.turn({.replicas = 4});
  EXPECT_FALSE(fenced.scaled);
  EXPECT_TRUE(fenced.says("lease"));
  fenced.now += 1s;
  fenced.autoscaler.hold_lease(fenced.now + 1h, fenced.now);
  fenced.turn({.replicas = 4});
  ASSERT_TRUE(fenced.scaled);
  EXPECT_EQ(fenced.scaled->not_after, fenced.now - 15s + 1h);
}

TEST(Autoscaler, CountsWhatItAskedForAtOnceAndDoesNotAskTwice) {
  Desk desk;
  desk.turn({.replicas = 4});
  ASSERT_TRUE(desk.scaled);
  EXPECT_EQ(desk.autoscaler.wanted_of(kWeb), 4);
  desk.turn({.replicas = 8});  // nobody answered yet, and the look still shows two
  EXPECT_FALSE(desk.scaled);
  desk.replicas = 4;  // the answer was lost, the write was not
  desk.turn({.replicas = 8});
  ASSERT_TRUE(desk.scaled);
  EXPECT_EQ(desk.scaled->from, 4);
}

TEST(Autoscaler, DecidesAnewAfterAFailureAndALaterLook) {
  Desk desk;
  desk.turn({.replicas = 4});
  desk.now += 1s;
  desk.autoscaler.observe(ScaleFailed{kWeb, "conflict"}, desk.now);
  EXPECT_FALSE(desk.decide({.replicas = 4}));
  desk.replicas = 3;  // somebody else was quicker
  ASSERT_TRUE(desk.turn({.replicas = 4}, 1s));
  EXPECT_EQ(desk.scaled->from, 3);
}

TEST(Autoscaler, TakesAScalingThatNobodyAnsweredForLost) {
  Desk desk;
  desk.turn({.replicas = 4});
  desk.turn({.replicas = 4}, 31s);
  ASSERT_TRUE(desk.scaled);
  EXPECT_EQ(desk.scaled->from, 2);
}

TEST(Autoscaler, LeavesAWorkloadAloneThatSomebodySetToZero) {
  ScalerSpec spec = test_spec("other");
  spec.min_replicas = 0;
  Desk desk(spec);
  desk.replicas = 0;
  desk.turn({.replicas = 3});
  EXPECT_FALSE(desk.scaled);
  EXPECT_TRUE(desk.says("disabled"));
  desk.replicas = 1;
  desk.turn({.replicas = 0});
  desk.turn({.replicas = 0}, 301s);
  ASSERT_TRUE(desk.scaled);
  EXPECT_EQ(desk.scaled->to, 0);
  desk.confirm();
  desk.turn({.replicas = 3});
  ASSERT_TRUE(desk.scaled);  // this zero is its own
  EXPECT_EQ(desk.scaled->to, 3);
}

TEST(Autoscaler, PromisesNoMoreThanThereIsRoomFor) {
  Desk desk;
  desk.autoscaler.observe(RoomSeen{kWeb, 1}, desk.now);
  desk.turn({.replicas = 4});
  EXPECT_EQ(desk.scaled->to, 3);
  EXPECT_TRUE(desk.says("room"));
  desk.confirm();
  desk.turn({.replicas = 4});
  EXPECT_FALSE(desk.scaled);  // that one has been taken
  desk.autoscaler.observe(RoomSeen{kWeb, std::nullopt}, desk.now);
  desk.turn({.replicas = 4});
  EXPECT_TRUE(desk.scaled);
}

// A cluster with as much room as the test says, whose pods leave in the order it says.
class StubAdviser final : public PlacementAdviser {
 public:
  Room room_for(const ScalingRequest&, std::int32_t more) override {
    ++asked;
    Room told = room;
    told.replicas = std::min(more, room.replicas);
    return told;
  }
  Leavers leavers_of(const ScalingRequest&, std::int32_t) override { return leavers; }
  void promised(const ScalingRequest&, std::int32_t more) override { promises += more; }
  Room room{.replicas = 100, .where = "node-1 (2)"};
  Leavers leavers{};
  int asked = 0, promises = 0;
};

TEST(Autoscaler, AsksAboutRoomWhenAScaleUpIsAboutToHappenAndOnlyThen) {
  Desk desk;
  StubAdviser adviser;
  desk.autoscaler.ask_about_nodes(&adviser);
  desk.turn({.replicas = 2});
  desk.turn({.replicas = 1});
  EXPECT_EQ(adviser.asked, 0);
  desk.turn({.replicas = 4});
  EXPECT_EQ(adviser.asked, 1);
  EXPECT_EQ(adviser.promises, 2);
  EXPECT_EQ(desk.scaled->to, 4);
  EXPECT_EQ(desk.decision.reasons.back().text, "room for 2 more on node-1 (2)");
  EXPECT_FALSE(desk.says("room")) << "nothing was held back";
}

TEST(Autoscaler, HoldsAScaleUpToWhatFitsAndSaysWhereAndWhyNotMore) {
  Desk desk;
  StubAdviser adviser;
  desk.autoscaler.ask_about_nodes(&adviser);
  adviser.room = {
      .replicas = 1, .where = "node-1 (1)", .why = "0/1 nodes are available: 1 Insufficient cpu."};
  desk.turn({.replicas = 5});
  EXPECT_EQ(desk.scaled->to, 3);
  EXPECT_EQ(adviser.promises, 1);
  EXPECT_TRUE(desk.says("room"));
  EXPECT_EQ(desk.decision.reasons.back().text,
            "room for 1 of 2 more on node-1 (1): 0/1 nodes are available: 1 Insufficient cpu.");
  desk.confirm();
  adviser.room = {.replicas = 0, .why = "full"};
  desk.turn({.replicas = 5});
  EXPECT_FALSE(desk.scaled);
  EXPECT_EQ(desk.decision.to, 3);
  EXPECT_TRUE(desk.says("room"));
  adviser.room = {.unknown = "nodes may not be listed"};
  desk.turn({.replicas = 5});
  EXPECT_EQ(desk.scaled->to, 5);
  EXPECT_FALSE(desk.says("room"));
}

TEST(Autoscaler, GivesTheOwnersLeastWhateverTheRoom) {
  ScalerSpec spec = test_spec("other");
  spec.min_replicas = 3;
  Desk desk(spec);
  StubAdviser adviser;
  adviser.room = {.replicas = 0, .why = "full"};
  desk.autoscaler.ask_about_nodes(&adviser);
  desk.turn({.replicas = 3});
  EXPECT_EQ(desk.scaled->to, 3);
}

TEST(Autoscaler, NamesThePodsThatHadBetterLeave) {
  Desk desk;
  desk.replicas = 4;
  StubAdviser adviser;
  adviser.leavers = {{"web-b", "web-a"}, "web-b on node-1 had better go"};
  desk.autoscaler.ask_about_nodes(&adviser);
  for (int i = 0; i < 25 && !desk.scaled; ++i) desk.turn({.replicas = 2});
  ASSERT_TRUE(desk.scaled);
  EXPECT_EQ(desk.scaled->leave_first, adviser.leavers.pods);
  EXPECT_EQ(desk.decision.reasons.back().text, "web-b on node-1 had better go");
}

TEST(Autoscaler, ForgetsAWorkloadThatIsGoneAndKeepsANewOneInItsSlotApart) {
  Desk desk;
  desk.turn({.replicas = 2});
  desk.now += 15s;
  desk.look();
  desk.autoscaler.observe(ScalerGone{kWeb}, desk.now);
  EXPECT_FALSE(desk.autoscaler.next(desk.now));
  EXPECT_EQ(desk.autoscaler.size(), 0U);
  EXPECT_EQ(desk.autoscaler.wake_at(), Time::max());
  desk.autoscaler.observe(ScalerSet{{0, 2}, desk.spec}, desk.now);
  desk.look();  // of the one that is gone
  EXPECT_FALSE(desk.autoscaler.next(desk.now + 1h));
}

TEST(Autoscaler, IsDueOnceWhenItsIntervalChanges) {
  Desk desk;
  desk.turn({.replicas = 2});
  desk.spec.interval = 40s;
  desk.autoscaler.observe(ScalerSet{kWeb, desk.spec}, desk.now);
  desk.now += 5min;
  EXPECT_TRUE(desk.decide({.replicas = 2}));
  EXPECT_FALSE(desk.decide({.replicas = 2}));
}

TEST(Autoscaler, KeepsAnHourInLittleRoom) {
  Desk desk;
  for (int i = 0; i < 1000; ++i) desk.turn({.replicas = 2});
  desk.now += 15s;
  desk.look();
  const auto request = desk.autoscaler.next(desk.now);
  ASSERT_TRUE(request);
  EXPECT_LE(request->past.size(), 110U);
  EXPECT_GE(request->past.size(), 100U);
  EXPECT_GE(desk.now - request->past.front().measured, 58min);
  EXPECT_LE(desk.now - request->past.front().measured, 61min);
  for (std::size_t i = 1; i < request->past.size(); ++i)
    EXPECT_LT(request->past[i - 1].measured, request->past[i].measured);
  EXPECT_EQ(request->past.front().replicas.capacity(), 0U);
}

}  // namespace
}  // namespace evenkeel::autoscaling
