#include "autoscaling/behaviour.h"

#include <gtest/gtest.h>

#include "autoscaling/test_services.h"

namespace evenkeel::autoscaling {
namespace {

using namespace std::chrono_literals;
using Limit = ScalingRules::Limit;
using Select = ScalingRules::Select;

// A workload whose owner gave it rules, from tick to tick.
struct Course {
  std::optional<ScalingBehaviour> behaviour{};
  std::int32_t replicas = 10;
  std::int32_t least = 1, most = 100;
  BehaviourMemory memory{};
  Time now = kNow;
  std::vector<ScalingReason> reasons{};

  std::int32_t tick(Duration after, std::int32_t desired) {
    now += after;
    reasons.clear();
    begin_recommendations(memory, replicas, now);
    const std::int32_t to = lay_behaviour(behaviour, {replicas, desired, least, most, now}, memory, reasons);
    note_change(behaviour, replicas, to, now, memory);
    return replicas = to;
  }
};

TEST(Behaviour, WithoutOneTakesAwayOnlyWhatFiveMinutesDidNotNeed) {
  Course course;
  EXPECT_EQ(course.tick(0s, 10), 10);
  EXPECT_EQ(course.tick(15s, 4), 10);
  EXPECT_EQ(course.reasons.at(0).rule, "stabilisation");
  EXPECT_EQ(course.tick(285s, 4), 10);  // the edge of the window still counts
  EXPECT_EQ(course.tick(1s, 4), 4);
}

TEST(Behaviour, WithoutOneAtMostDoublesOrGoesToFour) {
  Course course{.replicas = 1};
  EXPECT_EQ(course.tick(0s, 50), 4);
  EXPECT_EQ(course.tick(1s, 50), 8);
  EXPECT_EQ(course.reasons.back().rule, "limit");
  course.most = 9;
  EXPECT_EQ(course.tick(1s, 50), 9);
  EXPECT_EQ(course.reasons.back().rule, "bounds");
}

TEST(Behaviour, StabilisesAtWhatItFoundAfterAStart) {
  Course course{.behaviour = ScalingBehaviour{}};
  EXPECT_EQ(course.tick(0s, 2), 10);
  EXPECT_EQ(course.tick(299s, 2), 10);
  EXPECT_EQ(course.tick(1s, 2), 2);  // here the edge no longer counts
}

TEST(Behaviour, WaitsUpwardsWhereItIsToldTo) {
  Course course{.behaviour = ScalingBehaviour{}};
  course.behaviour->up.stabilisation = 60s;
  EXPECT_EQ(course.tick(0s, 10), 10);
  EXPECT_EQ(course.tick(15s, 14), 10);
  EXPECT_EQ(course.tick(30s, 13), 10);
  EXPECT_EQ(course.tick(16s, 20), 13);  // the lowest of the last minute
}

TEST(Behaviour, AddsByDefaultFourOrAsManyInAQuarterOfAMinute) {
  Course course{.behaviour = ScalingBehaviour{}, .replicas = 1};
  EXPECT_EQ(course.tick(0s, 90), 5);
  EXPECT_EQ(course.tick(5s, 90), 5);  // within the same 15 s
  EXPECT_EQ(course.tick(10s, 90), 10);
}

TEST(Behaviour, CountsWhatWasDoneWithinALimitsPeriod) {
  Course course{.behaviour = ScalingBehaviour{}};
  course.behaviour->up.limits = {{Limit::Kind::pods, 3, 60s}};
  EXPECT_EQ(course.tick(0s, 90), 13);
  EXPECT_EQ(course.tick(30s, 90), 13);
  EXPECT_EQ(course.tick(30s, 90), 16);
}

TEST(Behaviour, TakesTheMostOrTheLeastThatItsLimitsAllow) {
  for (const auto& [select, up, down] :
       {std::tuple{Select::most, 15, 5}, {Select::least, 12, 8}, {Select::disabled, 10, 10}}) {
    Course course{.behaviour = ScalingBehaviour{}};
    for (ScalingRules* rules : {&course.behaviour->up, &course.behaviour->down}) {
      rules->limits = {{Limit::Kind::pods, 2, 60s}, {Limit::Kind::percent, 50, 60s}};
      rules->select = select;
      rules->stabilisation = 0s;
    }
    Course other = course;
    EXPECT_EQ(course.tick(1s, 90), up);
    EXPECT_EQ(other.tick(1s, 1), down);
  }
}

TEST(Behaviour, RoundsAPercentageAwayFromWhatIsThere) {
  Course course{.behaviour = ScalingBehaviour{}, .replicas = 3};
  course.behaviour->up.limits = course.behaviour->down.limits = {{Limit::Kind::percent, 10, 60s}};
  course.behaviour->down.stabilisation = 0s;
  EXPECT_EQ(course.tick(1s, 90), 4);  // 3.3
  course.replicas = 3;
  course.memory = {};
  EXPECT_EQ(course.tick(1s, 1), 2);  // 2.7
}

TEST(Behaviour, CountsWhatIsInDoubtAgainstItsOwnDirectionAlone) {
  std::optional<ScalingBehaviour> behaviour{ScalingBehaviour{}};
  behaviour->up.limits = behaviour->down.limits = {{Limit::Kind::pods, 3, 60s}};
  behaviour->down.stabilisation = 0s;
  BehaviourMemory memory;
  note_change(behaviour, 10, 13, kNow, memory);
  doubt_change(10, 13, kNow, memory);
  std::vector<ScalingReason> reasons;
  EXPECT_EQ(lay_behaviour(behaviour, {10, 90, 1, 100, kNow + 1s}, memory, reasons), 10);
  memory.recommended.clear();
  EXPECT_EQ(lay_behaviour(behaviour, {10, 1, 1, 100, kNow + 1s}, memory, reasons), 7);
  forget_change(10, 13, kNow, memory);
  memory.recommended.clear();
  EXPECT_EQ(lay_behaviour(behaviour, {10, 90, 1, 100, kNow + 1s}, memory, reasons), 13);
}

TEST(Behaviour, RemembersNoMoreThanItsWindows) {
  Course course{.behaviour = ScalingBehaviour{}};
  for (int i = 0; i < 1000; ++i) course.tick(15s, 10 + i % 3);
  EXPECT_LE(course.memory.recommended.size(), 22U);
  EXPECT_LE(course.memory.up.size(), 3U);
}

}  // namespace
}  // namespace evenkeel::autoscaling
