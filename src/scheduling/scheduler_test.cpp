#include "scheduling/scheduler.h"

#include <gtest/gtest.h>

#include "cluster/test_objects.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
constexpr Time kStart{1h};

// A scheduler and a clock, told facts one at a time and asked what it wants.
class Desk {
 public:
  explicit Desk(std::uint32_t nodes, SchedulingOptions options = {}) : Desk(nodes, {{"", options}}, {}) {}
  Desk(std::uint32_t nodes, std::vector<SchedulerProfile> profiles, QueueOptions queue)
      : scheduler(std::move(profiles), queue) {
    for (std::uint32_t slot = 0; slot < nodes; ++slot) tell(NodeAdded{test_node(slot)});
  }

  void tell(const ClusterEvent& event) { scheduler.observe(event, now); }
  PodId add(PodSpec spec, WorkloadId workload = {}) { return add(test_shape(std::move(spec), workload)); }
  PodId add(std::shared_ptr<const PodTemplate> shape) {
    const PodId id{next_slot_++, 1};
    tell(PodAdded{test_pod(id, std::move(shape))});
    return id;
  }
  // The pod asked about, answered with the given node; none: nothing is asked.
  std::optional<PodId> answer(NodeId node) {
    const Next next = scheduler.next(now);
    const auto* request = std::get_if<PlacementRequest>(&next);
    if (!request) return std::nullopt;
    const PodId pod = request->pod.id;
    const Action action = scheduler.commit(*request, node);
    EXPECT_EQ(std::get<BindPod>(action).pod, pod);
    EXPECT_EQ(std::get<BindPod>(action).node, node);
    return pod;
  }
  bool idle() { return std::holds_alternative<NothingToDo>(scheduler.next(now)); }
  std::string complaint() {
    const Next next = scheduler.next(now);
    const auto* action = std::get_if<Action>(&next);
    const auto* stuck = action ? std::get_if<MarkUnschedulable>(action) : nullptr;
    return stuck ? stuck->why : "no complaint";
  }

  Scheduler scheduler;
  Time now = kStart;

 private:
  std::uint32_t next_slot_ = 0;
};

TEST(Scheduler, AsksOnceAboutEachPod) {
  Desk desk(2);
  const PodId pod = desk.add(spec_asking(100, 0));
  desk.tell(PodAdded{test_pod(pod, shape_asking(100, 0))});  // delivered twice
  EXPECT_EQ(desk.scheduler.pending(), 1U);
  EXPECT_EQ(desk.answer({1}), pod);
  EXPECT_TRUE(desk.idle());
  EXPECT_EQ(desk.scheduler.pending(), 0U);
  EXPECT_EQ(desk.scheduler.cluster().pod(pod)->place, PodPlace::assumed);
}

TEST(Scheduler, OffersOnlyNodesThatPassEveryFilter) {
  Desk desk(3);
  Node cordoned = test_node(1);
  cordoned.unschedulable = true;
  desk.tell(NodeUpdated{cordoned});
  desk.tell(NodeRemoved{{2}});
  desk.add(spec_asking(100, 0));
  const Next next = desk.scheduler.next(desk.now);
  const auto& request = std::get<PlacementRequest>(next);
  EXPECT_EQ(request.feasible_count, 1U);
  EXPECT_EQ(std::vector<std::uint8_t>(request.feasible.begin(), request.feasible.end()),
            (std::vector<std::uint8_t>{1, 0, 0}));
}

TEST(Scheduler, SeesTheRoomItGaveAwayBeforeAnybodyConfirmsIt) {
  Desk desk(1);  // four cores
  desk.add(spec_asking(3000, 0));
  desk.add(spec_asking(3000, 0));
  EXPECT_TRUE(desk.answer({0}));
  EXPECT_EQ(desk.complaint(),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No "
            "preemption victims found for incoming pod.");
}

TEST(Scheduler, AsksAgainAboutAPodWhoseBindingFailed) {
  Desk desk(1);
  const PodId pod = desk.add(spec_asking(100, 0));
  EXPECT_TRUE(desk.answer({0}));
  for (const Duration wait : {1s, 2s, 4s, 8s, 10s, 10s}) {
    desk.tell(BindFailed{pod, "conflict"});
    EXPECT_EQ(desk.scheduler.pending(), 1U);
    EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[0], 0);  // forgotten, not double-assumed
    EXPECT_TRUE(desk.idle());
    EXPECT_EQ(desk.scheduler.wake_at(), desk.now + wait);
    desk.now += wait - 1us;
    EXPECT_TRUE(desk.idle());
    desk.now += 1us;
    EXPECT_EQ(desk.answer({0}), pod);
  }
}

TEST(Scheduler, IgnoresAFailedBindingOfAPodThatIsBound) {
  Desk desk(1);
  const PodId pod = desk.add(spec_asking(100, 0));
  desk.answer({0});
  desk.tell(PodBound{pod, {0}});
  desk.tell(BindFailed{pod, "late echo"});
  desk.tell(PodBound{pod, {0}});
  EXPECT_EQ(desk.scheduler.cluster().pod(pod)->place, PodPlace::bound);
  EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[0], 100);
  EXPECT_EQ(desk.scheduler.pending(), 0U);
}

TEST(Scheduler, DoesNotAskAboutAPodThatSomebodyElseBound) {
  Desk desk(2);
  const PodId pod = desk.add(spec_asking(100, 0));
  desk.tell(PodBound{pod, {1}});
  EXPECT_TRUE(desk.idle());
  EXPECT_EQ(desk.scheduler.pending(), 0U);
  EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[1], 100);
}

TEST(Scheduler, DoesNotAskAboutAPodThatIsFoundOnANode) {
  Desk desk(2);
  const PodId pod = desk.add(spec_asking(100, 0));
  desk.tell(PodFound{test_pod(pod, shape_asking(100, 0)), {1}});
  EXPECT_TRUE(desk.idle());
  EXPECT_EQ(desk.scheduler.pending(), 0U);
  EXPECT_EQ(desk.scheduler.cluster().columns().pods[1], 1);
}

TEST(Scheduler, ForgetsAPodThatGoesAwayWhileItWaits) {
  Desk desk(1);
  const PodId pod = desk.add(spec_asking(100, 0)), large = desk.add(spec_asking(9000, 0));
  desk.tell(PodGone{pod, PodEnd::deleted});
  EXPECT_NE(desk.complaint(), "no complaint");
  desk.tell(PodGone{large, PodEnd::deleted});
  desk.now += 1h;
  EXPECT_TRUE(desk.idle());
  EXPECT_EQ(desk.scheduler.pending(), 0U);
}

TEST(Scheduler, RetriesAParkedPodWhenANodeImprovesAndNotBefore) {
  Desk desk(1);
  const PodId running = desk.add(spec_asking(3000, 0));
  desk.answer({0});
  const PodId parked = desk.add(spec_asking(2000, 0));
  EXPECT_EQ(desk.complaint(),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No "
            "preemption victims found for incoming pod.");
  desk.now += 1min;
  desk.tell(PodBound{running, {0}});
  desk.tell(NodeAdded{test_node(1, 1000)});  // one more node, too small to help
  EXPECT_TRUE(desk.idle());
  desk.tell(PodGone{running, PodEnd::completed});
  EXPECT_EQ(desk.answer({0}), parked);
}

TEST(Scheduler, LooksAtParkedPodsNowAndThenWhateverHappens) {
  Desk desk(1);
  desk.add(spec_asking(9000, 0));
  EXPECT_NE(desk.complaint(), "no complaint");
  EXPECT_EQ(desk.scheduler.wake_at(), desk.now + 5min);
  desk.now += 5min;
  EXPECT_EQ(desk.complaint(),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption "
            "is not helpful for scheduling.");
}

TEST(Scheduler, LeavesAPodPendingWhoseWishesItDoesNotHonour) {
  Desk desk(1);
  PodSpec spec = spec_asking(100, 0);
  spec.resource_claims = {"gpu"};
  const PodId pod = desk.add(spec);
  EXPECT_EQ(desk.complaint(),
            "the pod uses dynamic resource claims, which is not honoured here: left pending, not guessed");
  desk.now += 1h;
  EXPECT_TRUE(desk.idle());
  EXPECT_EQ(desk.scheduler.pending(), 1U);
  EXPECT_EQ(desk.scheduler.cluster().pod(pod)->place, PodPlace::pending);
}

TEST(Scheduler, KeepsGatedPodsOutOfTheQueue) {
  Desk desk(1);
  PodSpec spec = spec_asking(100, 0);
  spec.scheduling_gates = {"kueue.x-k8s.io/admission"};
  desk.add(spec);
  EXPECT_TRUE(desk.idle());
  EXPECT_EQ(desk.scheduler.pending(), 1U);
}

TEST(Scheduler, AsksAboutHigherPrioritiesFirst) {
  Desk desk(1);
  PodSpec urgent = spec_asking(100, 0);
  urgent.priority = 1000;
  const PodId first = desk.add(spec_asking(100, 0)), second = desk.add(urgent);
  EXPECT_EQ(desk.answer({0}), second);
  EXPECT_EQ(desk.answer({0}), first);
}

TEST(Scheduler, BringsHeldPodsBackAfterASecondOrWhenSomethingChanges) {
  Desk desk(1);
  const PodId pod = desk.add(spec_asking(100, 0));
  const auto hold = [&] {
    const Next next = desk.scheduler.next(desk.now);
    ASSERT_TRUE(std::holds_alternative<PlacementRequest>(next));
    desk.scheduler.hold(std::get<PlacementRequest>(next));
    EXPECT_TRUE(desk.idle());
  };
  hold();
  EXPECT_EQ(desk.scheduler.wake_at(), desk.now + 1s);
  desk.now += 1s;
  hold();
  desk.tell(NodeAdded{test_node(1)});
  EXPECT_EQ(desk.answer({1}), pod);
}

TEST(Scheduler, LearnsHowLongPodsRunFromThoseThatCompleted) {
  Desk desk(1);
  for (const PodEnd how : {PodEnd::completed, PodEnd::evicted, PodEnd::failed}) {
    const PodId pod = desk.add(spec_asking(100, 0), {3});
    desk.answer({0});
    desk.tell(PodBound{pod, {0}});
    desk.tell(PodStarted{pod});
    desk.now += how == PodEnd::completed ? 60s : 1s;
    desk.tell(PodGone{pod, how});
  }
  EXPECT_EQ(desk.scheduler.history().ends({3}), 1U);
  EXPECT_NEAR(desk.scheduler.history().lifetime(test_pod({9, 1}, shape_asking(100, 0, {3}))).median_s(), 60,
              1e-6);
}

TEST(Scheduler, TakesWhatNoPodExplainsForTheNodesOwnLoad) {
  Desk desk(1);
  const PodId pod = desk.add(spec_asking(100, 0));
  desk.answer({0});
  const PodUsage used[] = {{pod, Usage{{1, 0, 0, 0, 0, 0}}}, {{77, 1}, Usage{{0.5, 0, 0, 0, 0, 0}}}};
  desk.tell(UsageReported{{0}, desk.now, Usage{{2, 0, 0, 0, 0, 0}}, used});
  EXPECT_DOUBLE_EQ(desk.scheduler.cluster().base_load({0})[Dimension::cpu], 0.5);
  desk.tell(UsageReported{{0}, desk.now - 1s, Usage{{4, 0, 0, 0, 0, 0}}, {}});  // overtaken by a later one
  EXPECT_DOUBLE_EQ(desk.scheduler.cluster().base_load({0})[Dimension::cpu], 0.5);
  EXPECT_EQ(desk.scheduler.cluster().pod(pod)->samples, 1U);
}

// --- profiles ---------------------------------------------------------------------------------

PodSpec spec_for(const std::string& scheduler, std::int64_t milli_cpu) {
  PodSpec spec = spec_asking(milli_cpu, 0);
  spec.scheduler_name = scheduler;
  return spec;
}

std::vector<SchedulerProfile> plain_and_lenient() {
  SchedulingOptions lenient;
  lenient.profile.filters = std::vector<std::string>{"NodeResourcesFit"};
  return {{"default-scheduler", {}}, {"lenient", lenient}};
}

TEST(Scheduler, PlacesEachPodByTheProfileThatItNames) {
  Desk desk(1, plain_and_lenient(), {});
  Node cordoned = test_node(0);
  cordoned.unschedulable = true;
  desk.tell(NodeUpdated{cordoned});
  desk.add(spec_for("default-scheduler", 100));
  const PodId second = desk.add(spec_for("lenient", 100));
  EXPECT_NE(desk.complaint(), "no complaint");
  const Next next = desk.scheduler.next(desk.now);
  const auto& request = std::get<PlacementRequest>(next);
  EXPECT_EQ(request.pod.id, second);
  EXPECT_EQ(request.profile, 1U);
  EXPECT_EQ(&request.options, &desk.scheduler.options(1));
}

TEST(Scheduler, KeepsOneQueueForAllProfiles) {
  Desk desk(1, plain_and_lenient(), {});
  PodSpec urgent = spec_for("lenient", 100);
  urgent.priority = 10;
  const PodId first = desk.add(spec_for("default-scheduler", 100)),
              second = desk.add(spec_for("lenient", 100)), third = desk.add(urgent);
  EXPECT_EQ(desk.answer({0}), third);
  EXPECT_EQ(desk.answer({0}), first);
  EXPECT_EQ(desk.answer({0}), second);
}

TEST(Scheduler, CountsPodsOfOtherSchedulersButNeverAsksAboutThem) {
  Desk desk(1, plain_and_lenient(), {});
  const PodId other = desk.add(spec_for("kube-batch", 3000));
  EXPECT_TRUE(desk.idle());
  EXPECT_EQ(desk.scheduler.pending(), 0U);
  desk.tell(PodBound{other, {0}});
  EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[0], 3000);
  desk.tell(PodGone{other, PodEnd::completed});
  EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[0], 0);
  EXPECT_EQ(desk.scheduler.pending(), 0U);
}

TEST(Scheduler, BacksOffAsConfigured) {
  Desk desk(1, plain_and_lenient(), {.first_backoff = 3s, .longest_backoff = 5s, .longest_parked = 1min});
  const PodId pod = desk.add(spec_for("lenient", 100));
  EXPECT_TRUE(desk.answer({0}));
  for (const Duration wait : {3s, 5s, 5s}) {
    desk.tell(BindFailed{pod, "conflict"});
    EXPECT_TRUE(desk.idle());
    EXPECT_EQ(desk.scheduler.wake_at(), desk.now + wait);
    desk.now += wait;
    EXPECT_EQ(desk.answer({0}), pod);
  }
}

// --- moves ------------------------------------------------------------------------------------

// Two nodes, everything on the first, and a budget to change that.
class LopsidedDesk : public Desk {
 public:
  LopsidedDesk() : Desk(2, with_moves()), shape(shape_asking(1000, 1LL << 30)) {
    for (int i = 0; i < 4; ++i) {
      const PodId pod = add(shape);
      answer({0});
      tell(PodBound{pod, {0}});
      tell(PodStarted{pod});
      pods.push_back(pod);
    }
    report();
  }
  static SchedulingOptions with_moves() {
    SchedulingOptions options;
    options.moves.per_hour = 60;
    return options;
  }
  void report() {
    std::vector<PodUsage> used;
    for (const PodId pod : pods) used.push_back({pod, Usage{{0.9, 1e9, 0, 0, 0, 0}}});
    tell(UsageReported{{0}, now, Usage{{3.6, 4e9, 0, 0, 0, 0}}, used});
    tell(UsageReported{{1}, now, Usage{}, {}});
  }
  std::optional<EvictPod> move() {
    for (int look = 0; look < 200; ++look) {
      const Next next = scheduler.next(now);
      if (const auto* action = std::get_if<Action>(&next)) return std::get<EvictPod>(*action);
      now += 10s;
      report();
    }
    return std::nullopt;
  }

  std::shared_ptr<const PodTemplate> shape;
  std::vector<PodId> pods;
};

TEST(Scheduler, KeepsThePlaceFreeForAPodItMoves) {
  LopsidedDesk desk;
  const auto move = desk.move();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->destination, NodeId{1});
  EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[1], 1000);  // reserved

  desk.add(spec_asking(3500, 0));  // would fit, were the place not kept
  EXPECT_EQ(desk.complaint(),
            "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No "
            "preemption victims found for incoming pod.");

  desk.tell(PodGone{move->pod, PodEnd::evicted});
  const PodId successor = desk.add(desk.shape);
  const Next next = desk.scheduler.next(desk.now);
  const auto& request = std::get<PlacementRequest>(next);
  EXPECT_EQ(request.pod.id, successor);
  EXPECT_EQ(request.feasible_count, 1U);
  EXPECT_TRUE(request.feasible[1]);
  desk.scheduler.commit(request, {1});
  EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[1], 1000);  // once, not twice
  EXPECT_EQ(desk.scheduler.cluster().columns().pods[1], 1);
}

TEST(Scheduler, GivesAPlaceBackThatNobodyCameFor) {
  LopsidedDesk desk;
  ASSERT_TRUE(desk.move());
  desk.now += 2min;
  desk.scheduler.next(desk.now);
  EXPECT_EQ(desk.scheduler.cluster().columns().requested_cpu[1], 0);
}

TEST(Scheduler, RetriesAParkedPodWhenAKeptPlaceIsGivenBack) {
  LopsidedDesk desk;
  ASSERT_TRUE(desk.move());
  const PodId large = desk.add(spec_asking(3500, 0));
  EXPECT_NE(desk.complaint(), "no complaint");
  EXPECT_LE(desk.scheduler.wake_at(), desk.now + 2min);
  desk.now += 2min;
  std::optional<PodId> asked = desk.answer({1});
  if (!asked) asked = desk.answer({1});
  EXPECT_EQ(asked, large);
}

}  // namespace
}  // namespace evenkeel::scheduling
