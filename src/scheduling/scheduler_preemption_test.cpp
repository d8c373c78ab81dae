// Making room, promises of nodes, and how a pod that is being bound ends.
#include <gtest/gtest.h>

#include "scheduling/test_desk.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

// A node of four cores with two pods of no importance, which together leave no room.
class FullNode : public TestDesk {
 public:
  FullNode() : TestDesk(1) {
    first = add_running({0}, spec_of(2000));
    second = add_running({0}, spec_of(2000));
  }
  void end(PodId victim) {
    Pod ending = pod(victim);
    ending.terminating = ending.disrupted_by_us = true;
    tell(PodUpdated{ending});
  }
  PodId first, second;
};

TEST(SchedulerPreemption, WaitsForItsVictimsAndTakesTheirPlace) {
  FullNode desk;
  const PodId pod = desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  EXPECT_EQ(desk.scheduler.nominations().of(pod), NodeId{0});
  desk.now += 20s;
  desk.tell(PodGone{desk.first, PodEnd::deleted});
  EXPECT_EQ(desk.steps(), "") << "half of the room is no room";
  desk.tell(PodGone{desk.second, PodEnd::deleted});
  EXPECT_EQ(desk.steps(), "bind 2 to 0");
  EXPECT_TRUE(desk.scheduler.nominations().empty());
  desk.now += 1min;
  EXPECT_EQ(desk.steps(), "");
  EXPECT_GT(desk.scheduler.wake_at(), desk.now) << "nothing is left to wake up for";
}

TEST(SchedulerPreemption, EndsNobodyElseWhileTheOrderIsUnderWay) {
  FullNode desk;
  const PodId pod = desk.add(spec_of(2000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 1");
  desk.now += 1s;
  Pod changed = desk.pod(pod);
  changed.shape = test_shape(spec_of(2001, 10));  // looks again, for a reason of its own
  desk.tell(PodUpdated{changed});
  EXPECT_EQ(desk.steps(), "mark 2");
  EXPECT_NE(desk.why.find("not eligible due to a terminating pod on the nominated node"), std::string::npos);
  EXPECT_EQ(desk.scheduler.nominations().of(pod), NodeId{0}) << "the promise holds";
}

TEST(SchedulerPreemption, WaitsForAsLongAsItsVictimsTakeToEnd) {
  FullNode desk;
  desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  desk.end(desk.first);
  desk.end(desk.second);
  for (int minute = 0; minute < 4; ++minute) {
    desk.now += 1min;
    EXPECT_EQ(desk.steps(), "");
  }
}

TEST(SchedulerPreemption, OrdersAnewWhenNobodySeemsToHaveHeard) {
  FullNode desk;
  desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  EXPECT_LE(desk.scheduler.wake_at(), desk.now + 30s);
  desk.now += 30s;
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
}

TEST(SchedulerPreemption, LooksAgainWhenSomebodyElseTookTheRoom) {
  FullNode desk;
  desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  desk.now += 20s;
  desk.tell(PodGone{desk.first, PodEnd::deleted});
  const PodId thief = desk.add_running({0}, spec_of(1000));  // another scheduler's
  desk.tell(PodGone{desk.second, PodEnd::deleted});
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: " + std::to_string(thief.slot));
}

TEST(SchedulerPreemption, OffersThePromisedRoomToNobodyLessImportant) {
  FullNode desk;
  desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  desk.tell(PodGone{desk.first, PodEnd::deleted});
  const PodId small = desk.add(spec_of(1000, 5));
  EXPECT_EQ(desk.steps(), "mark " + std::to_string(small.slot));
  desk.now += 20s;
  desk.tell(PodGone{desk.second, PodEnd::deleted});
  EXPECT_EQ(desk.steps(), "bind 2 to 0");
}

TEST(SchedulerPreemption, TakesTheNodeFromALessImportantPodThatWasPromisedIt) {
  FullNode desk;
  desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  const PodId higher = desk.add(spec_of(4000, 20));
  EXPECT_EQ(desk.steps(), "preempt for 3 on 0: 0 1; mark 2");
  EXPECT_EQ(desk.scheduler.nominations().of(higher), NodeId{0});
  EXPECT_EQ(desk.scheduler.nominations().on({0}).size(), 1U);
}

TEST(SchedulerPreemption, GivesThePromiseUpWithThePod) {
  FullNode desk;
  const PodId pod = desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  const PodId small = desk.add(spec_of(2000, 5));
  desk.tell(PodGone{desk.first, PodEnd::deleted});
  EXPECT_EQ(desk.steps(), "mark " + std::to_string(small.slot));
  desk.tell(PodGone{pod, PodEnd::deleted});
  EXPECT_TRUE(desk.scheduler.nominations().empty());
  EXPECT_EQ(desk.steps(), "bind " + std::to_string(small.slot) + " to 0") << "what was kept is free";
}

TEST(SchedulerPreemption, BringsThePodBackWhenThePromisedNodeIsRemoved) {
  FullNode desk;
  const PodId pod = desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  desk.tell(NodeAdded{test_node(1, 100)});
  EXPECT_EQ(desk.steps(), "");
  desk.tell(NodeRemoved{{0}});
  EXPECT_EQ(desk.steps(), "mark 2");
  EXPECT_FALSE(desk.scheduler.nominations().of(pod));
}

TEST(Nomination, OfSomebodyElseIsHonoured) {
  TestDesk desk(2);
  Pod pod = test_pod({7, 1}, shape_asking(100, 0));
  pod.nominated_node = "node-1";
  desk.tell(PodAdded{pod});
  EXPECT_EQ(desk.steps(), "bind 7 to 1");
}

TEST(Nomination, ThatIsOfNoUseKeepsNobodyOutOnceWhoWasToLeaveHasLeft) {
  TestDesk desk(1);
  const PodId leaving = desk.add_running({0}, spec_of(2000));
  desk.add_running({0}, spec_of(2000, 20));  // nobody may end this one
  Pod ending = desk.pod(leaving);
  ending.terminating = ending.disrupted_by_us = true;
  desk.tell(PodUpdated{ending});
  Pod promised = test_pod({7, 1}, test_shape(spec_of(4000, 10)));
  promised.nominated_node = "node-0";  // by an earlier leader
  desk.tell(PodAdded{promised});
  EXPECT_EQ(desk.steps(), "mark 7");
  EXPECT_EQ(desk.scheduler.nominations().of({7, 1}), NodeId{0}) << "somebody is still leaving";
  const PodId small = desk.add(spec_of(1000, 5));
  EXPECT_EQ(desk.steps(), "mark " + std::to_string(small.slot));
  desk.now += 20s;
  desk.tell(PodGone{leaving, PodEnd::deleted});
  EXPECT_EQ(desk.steps(), "mark 7, promise dropped; bind " + std::to_string(small.slot) + " to 0");
  EXPECT_TRUE(desk.scheduler.nominations().empty());
}

TEST(Nomination, IsNotForgottenBecauseAnOlderUpdateDoesNotKnowOfIt) {
  FullNode desk;
  const PodId pod = desk.add(spec_of(4000, 10));
  EXPECT_EQ(desk.steps(), "preempt for 2 on 0: 0 1");
  Pod old = desk.pod(pod);
  desk.tell(PodUpdated{old});
  EXPECT_EQ(desk.scheduler.nominations().of(pod), NodeId{0});
  old.nominated_node = "node-0";
  desk.tell(PodUpdated{old});
  EXPECT_EQ(desk.scheduler.nominations().of(pod), NodeId{0});
  old.nominated_node = "";
  desk.tell(PodUpdated{old});
  EXPECT_FALSE(desk.scheduler.nominations().of(pod)) << "somebody took it back";
}

// --- a pod that is being bound -----------------------------------------------------------------

class Binding : public testing::Test {
 protected:
  Binding() : desk(2), pod(desk.add(spec_of(1000))) { EXPECT_EQ(desk.steps(), "bind 0 to 0"); }
  void expect_room(double on_first, double on_second) {
    EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[0], on_first);
    EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[1], on_second);
  }
  TestDesk desk;
  PodId pod;
};

TEST_F(Binding, IsConfirmed) {
  desk.tell(PodBound{pod, {0}});
  EXPECT_EQ(desk.place(pod), PodPlace::bound);
  expect_room(1000, 0);
}

TEST_F(Binding, FailsAndIsForgotten) {
  desk.tell(BindFailed{pod, "conflict"});
  EXPECT_EQ(desk.place(pod), PodPlace::pending);
  EXPECT_EQ(desk.scheduler.pending(), 1U);
  EXPECT_EQ(desk.scheduler.depths().backing_off, 1U);
  expect_room(0, 0);
}

TEST_F(Binding, EndsElsewhereWhenAnotherSchedulerWasQuicker) {
  desk.tell(PodBound{pod, {1}});
  EXPECT_EQ(desk.place(pod), PodPlace::bound);
  expect_room(0, 1000);
  desk.tell(BindFailed{pod, "conflict"});  // the answer to our own attempt
  EXPECT_EQ(desk.place(pod), PodPlace::bound);
  EXPECT_EQ(desk.scheduler.pending(), 0U);
}

TEST_F(Binding, EndsWhereThePodIsFound) {
  desk.tell(PodFound{desk.pod(pod), {1}});
  EXPECT_EQ(desk.place(pod), PodPlace::bound);
  expect_room(0, 1000);
  EXPECT_EQ(desk.scheduler.pending(), 0U);
}

TEST_F(Binding, EndsWithThePod) {
  desk.tell(PodGone{pod, PodEnd::deleted});
  expect_room(0, 0);
  desk.tell(PodBound{pod, {0}});
  desk.tell(BindFailed{pod, "not found"});
  EXPECT_EQ(desk.scheduler.cluster().pod(pod), nullptr);
  EXPECT_EQ(desk.scheduler.pending(), 0U);
  expect_room(0, 0);
}

TEST_F(Binding, GoesOnWhileThePodIsUpdated) {
  Pod changed = desk.pod(pod);
  changed.shape = test_shape(spec_of(1500));
  desk.tell(PodUpdated{changed});
  EXPECT_EQ(desk.place(pod), PodPlace::assumed);
  expect_room(1500, 0);
  EXPECT_EQ(desk.steps(), "");
}

TEST_F(Binding, IsForgottenWithItsNodeButNotTriedAgainBeforeItsOutcomeIsKnown) {
  desk.tell(NodeRemoved{{0}});
  EXPECT_EQ(desk.place(pod), PodPlace::pending);
  EXPECT_EQ(desk.scheduler.pending(), 1U);
  expect_room(0, 0);
  desk.now += 1h;
  EXPECT_EQ(desk.steps(), "") << "it may be bound twice";
  desk.tell(BindFailed{pod, "no such node"});
  desk.now += 1s;
  EXPECT_EQ(desk.steps(), "bind 0 to 1");
}

TEST_F(Binding, MaySucceedThoughItsNodeIsGone) {
  desk.tell(NodeRemoved{{0}});
  desk.tell(PodBound{pod, {0}});
  EXPECT_EQ(desk.place(pod), PodPlace::bound);
  EXPECT_EQ(desk.scheduler.pending(), 0U);
  desk.tell(PodGone{pod, PodEnd::deleted});
  desk.tell(NodeAdded{test_node(0)});
  expect_room(0, 0);
}

TEST_F(Binding, LeavesNothingBehindForTheNextNodeOfThatHandle) {
  desk.tell(NodeRemoved{{0}});
  Node other = test_node(0);
  other.name = "another";
  desk.tell(NodeAdded{other});
  expect_room(0, 0);
  EXPECT_TRUE(desk.scheduler.cluster().pods_on({0}).empty());
  desk.tell(PodGone{pod, PodEnd::deleted});
  EXPECT_EQ(desk.scheduler.pending(), 0U);
  expect_room(0, 0);
}

}  // namespace
}  // namespace evenkeel::scheduling
