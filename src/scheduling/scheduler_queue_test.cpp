// Who waits where, and what brings them back.
#include <gtest/gtest.h>

#include "cluster/test_objects.h"
#include "scheduling/test_desk.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
using Desk = TestDesk;

// --- what brings a parked pod back -------------------------------------------------------------

// A pod that no node takes, whatever stops it, and the one event that changes that. Events that change
// nothing come first, and must leave it alone.
struct Cure {
  std::string name;
  PodSpec spec;
  std::vector<ClusterEvent> useless, helpful;
  std::vector<ClusterEvent> before = {};
};
void PrintTo(const Cure& cure, std::ostream* out) { *out << cure.name; }

Node node_with(std::uint32_t slot, const std::function<void(Node&)>& change) {
  Node node = test_node(slot);
  change(node);
  return node;
}
Pod running(std::uint32_t slot, PodSpec spec, Labels labels = {}) {
  return test_pod({slot, 1}, std::make_shared<const PodTemplate>("default", std::move(labels),
                                                                 std::vector<OwnerReference>{}, WorkloadId{},
                                                                 std::move(spec)));
}
PodSpec tiny(const std::function<void(PodSpec&)>& change) {
  PodSpec spec = spec_asking(100, 0);
  change(spec);
  return spec;
}
LabelSelector app_is(const std::string& app) { return {{{"app", SelectorOperator::in, {app}}}}; }

std::vector<Cure> cures() {
  std::vector<Cure> all;
  const auto same = NodeUpdated{test_node(0)};
  const auto cordoned = node_with(0, [](Node& n) { n.unschedulable = true; });
  all.push_back({"Room",
                 spec_asking(5000, 0),
                 {same, NodeUpdated{node_with(0, [](Node& n) { n.labels.set("a", "b"); })}},
                 {NodeUpdated{test_node(0, 6000)}}});
  all.push_back({"ANodeThatIsLargeEnough",
                 spec_asking(5000, 0),
                 {NodeAdded{test_node(1)}},
                 {NodeAdded{test_node(2, 6000)}}});
  all.push_back(
      {"PodsGone",
       spec_asking(3000, 0),
       {PodGone{{91, 1}, PodEnd::deleted}},
       {PodGone{{90, 1}, PodEnd::deleted}},
       {PodFound{running(90, spec_asking(3000, 0)), {0}}, PodFound{running(91, spec_asking(0, 0)), {0}}}});
  all.push_back({"APodScaledDown",
                 spec_asking(3000, 0),
                 {},
                 {PodUpdated{running(90, spec_asking(500, 0))}},
                 {PodFound{running(90, spec_asking(3000, 0)), {0}}}});
  all.push_back(
      {"Uncordoned", spec_asking(100, 0), {NodeUpdated{cordoned}}, {same}, {NodeUpdated{cordoned}}});
  const auto tainted = node_with(0, [](Node& n) { n.taints = {{"spot", "", TaintEffect::no_schedule}}; });
  all.push_back(
      {"TaintRemoved", spec_asking(100, 0), {NodeUpdated{tainted}}, {same}, {NodeUpdated{tainted}}});
  all.push_back({"NodeLabelled",
                 tiny([](PodSpec& s) { s.node_selector.set("disk", "ssd"); }),
                 {NodeUpdated{node_with(0, [](Node& n) { n.labels.set("disk", "hdd"); })},
                  PodGone{{90, 1}, PodEnd::deleted}},
                 {NodeUpdated{node_with(0, [](Node& n) { n.labels.set("disk", "ssd"); })}},
                 {PodFound{running(90, spec_asking(1000, 0)), {0}}}});
  const auto port = tiny([](PodSpec& s) { s.containers.front().ports = {{8080, "TCP", ""}}; });
  all.push_back({"PortFreed",
                 port,
                 {PodGone{{91, 1}, PodEnd::deleted}},
                 {PodGone{{90, 1}, PodEnd::deleted}},
                 {PodFound{running(90, port), {0}}, PodFound{running(91, spec_asking(1, 0)), {0}}}});
  const auto wants_peer = tiny([](PodSpec& s) {
    s.pod_affinity.required = {{app_is("peer"), {}, {}, "kubernetes.io/hostname", {}, {}}};
  });
  const auto host = NodeUpdated{node_with(0, [](Node& n) { n.labels.set("kubernetes.io/hostname", "n0"); })};
  all.push_back({"ANeighbourCame",
                 wants_peer,
                 {PodFound{running(90, spec_asking(1, 0), {{"app", "db"}}), {0}}},
                 {PodFound{running(91, spec_asking(1, 0), {{"app", "peer"}}), {0}}},
                 {host}});
  all.push_back({"ANeighbourWasRelabelled",
                 wants_peer,
                 {},
                 {PodUpdated{running(90, spec_asking(1, 0), {{"app", "peer"}})}},
                 {host, PodFound{running(90, spec_asking(1, 0), {{"app", "db"}}), {0}}}});
  const auto shuns_web = tiny([](PodSpec& s) {
    s.pod_anti_affinity.required = {{app_is("web"), {}, {}, "kubernetes.io/hostname", {}, {}}};
  });
  all.push_back({"AShunnedPodLeft",
                 shuns_web,
                 {PodGone{{91, 1}, PodEnd::deleted}},
                 {PodGone{{90, 1}, PodEnd::deleted}},
                 {host, PodFound{running(90, spec_asking(1, 0), {{"app", "web"}}), {0}},
                  PodFound{running(91, spec_asking(1, 0), {{"app", "db"}}), {0}}}});
  const auto shuns_all = tiny([](PodSpec& s) {
    s.pod_anti_affinity.required = {{LabelSelector{}, {}, {}, "kubernetes.io/hostname", {}, {}}};
  });
  all.push_back({"APodThatShunsItLeft",
                 spec_asking(100, 0),
                 {},
                 {PodGone{{90, 1}, PodEnd::deleted}},
                 {host, PodFound{running(90, shuns_all), {0}}}});
  const auto spread =
      tiny([](PodSpec& s) { s.spread = {{1, "zone", true, app_is("web"), {}, true, false, {}}}; });
  const auto zone = [](std::uint32_t slot, const char* name, std::int64_t cpu) {
    Node node = test_node(slot, cpu);
    node.labels.set("zone", name);
    return node;
  };
  // Zone b is full and has none of them; zone a has one too many until b gets one, or loses its only node.
  const std::vector<ClusterEvent> lopsided = {
      NodeUpdated{zone(0, "a", 4000)}, NodeAdded{zone(1, "b", 50)},
      PodFound{running(90, spec_asking(1, 0), {{"app", "web"}}), {0}}};
  PodSpec spread_web = spread;
  all.push_back({"AnotherDomainFilledUp",
                 spread_web,
                 {PodFound{running(91, spec_asking(1, 0), {{"app", "db"}}), {1}}},
                 {PodFound{running(92, spec_asking(1, 0), {{"app", "web"}}), {1}}},
                 lopsided});
  all.push_back({"ADomainEnded", spread_web, {}, {NodeRemoved{{1}}}, lopsided});
  const auto claim = tiny([](PodSpec& s) {
    PodVolume volume;
    volume.kind = VolumeKind::claim;
    volume.source = "data";
    s.volumes = {volume};
  });
  PersistentVolumeClaim other, own;
  own.name_space = other.name_space = "default";
  other.name = "logs";
  own.name = "data";
  own.volume = "pv";
  own.phase = ClaimPhase::bound;
  own.bind_completed = true;
  PersistentVolume pv;
  pv.name = "pv";
  pv.claim = ClaimReference{"default", "data", ""};
  all.push_back({"ItsClaim", claim, {ObjectSet{other}}, {ObjectSet{pv}, ObjectSet{own}}});
  return all;
}

class ParkedPod : public testing::TestWithParam<Cure> {};

TEST_P(ParkedPod, ComesBackForWhatHelpsItAndForNothingElse) {
  const Cure& cure = GetParam();
  Desk desk(1);
  for (const ClusterEvent& event : cure.before) desk.tell(event);
  const PodId pod = desk.add(std::make_shared<const PodTemplate>(
      "default", Labels{{"app", "web"}}, std::vector<OwnerReference>{}, WorkloadId{}, cure.spec));
  const std::string number = std::to_string(pod.slot);
  ASSERT_EQ(desk.steps(), "mark " + number);
  desk.now += 1min;
  for (const ClusterEvent& event : cure.useless) desk.tell(event);
  EXPECT_EQ(desk.steps(), "") << desk.why;
  EXPECT_EQ(desk.scheduler.parked(), 1U);
  for (const ClusterEvent& event : cure.helpful) desk.tell(event);
  EXPECT_EQ(desk.steps().substr(0, 6 + number.size()), "bind " + number + " ") << desk.why;
}

INSTANTIATE_TEST_SUITE_P(Queue, ParkedPod, testing::ValuesIn(cures()),
                         [](const auto& given) { return given.param.name; });

TEST(ParkedPods, OfOneKindAreTriedOneAfterTheOther) {
  Desk desk(1);
  const PodId hog = desk.add_running({0}, spec_asking(4000, 0));
  const auto shape = shape_asking(2000, 0);
  for (int i = 0; i < 4; ++i) desk.add(shape);
  EXPECT_EQ(desk.steps(), "mark 1; mark 2; mark 3; mark 4");
  desk.now += 1min;
  desk.tell(PodGone{hog, PodEnd::completed});
  EXPECT_EQ(desk.steps(), "bind 1 to 0; bind 2 to 0; mark 3") << "and the fourth is spared the attempt";
  EXPECT_EQ(desk.scheduler.parked(), 2U);
  EXPECT_EQ(desk.scheduler.pending(), 2U);
}

TEST(ParkedPods, TryTheNextWhenTheFirstIsGoneBeforeItsTurn) {
  Desk desk(1);
  const PodId hog = desk.add_running({0}, spec_asking(4000, 0));
  const auto shape = shape_asking(2000, 0);
  const PodId first = desk.add(shape), second = desk.add(shape);
  EXPECT_EQ(desk.steps(), "mark 1; mark 2");
  desk.tell(PodGone{hog, PodEnd::completed});  // the first is on its way now
  desk.tell(PodGone{first, PodEnd::deleted});
  EXPECT_EQ(desk.steps(), "bind 2 to 0");
  EXPECT_EQ(desk.place(second), PodPlace::assumed);
}

TEST(ParkedPods, TakeTheReasonOfTheirKindWhileNothingHasHappened) {
  Desk desk(1);
  const auto shape = shape_asking(5000, 0);
  desk.add(shape);
  EXPECT_EQ(desk.steps(), "mark 0");
  const std::string first = desk.why;
  desk.add(shape);
  EXPECT_EQ(desk.steps(), "mark 1");
  EXPECT_EQ(desk.why, first);
  desk.now += 1min;
  desk.tell(NodeUpdated{test_node(0, 6000)});
  EXPECT_EQ(desk.steps(), "bind 0 to 0; mark 1");
  EXPECT_NE(desk.why, first);
}

TEST(ParkedPods, ComeBackWhenWhatIsLeftCouldBePreempted) {
  Desk desk(1);
  desk.add_running({0}, spec_of(2000, 20));
  const PodId equal = desk.add_running({0}, spec_of(1000, 10)),
              another = desk.add_running({0}, spec_of(1000, 10));
  desk.add(spec_of(2000, 10));
  EXPECT_EQ(desk.steps(), "mark 3");
  desk.now += 1min;
  desk.tell(PodGone{equal, PodEnd::completed});
  desk.add_running({0}, spec_of(1000, 0));
  EXPECT_EQ(desk.steps(), "") << "nobody of less importance is worth enough";
  desk.tell(PodGone{another, PodEnd::completed});
  EXPECT_EQ(desk.steps(), "preempt for 3 on 0: 4");
}

TEST(Queue, TriesAReleasedPodEarlyWhenNobodyElseWaits) {
  Desk desk(1);
  const PodId pod = desk.add(spec_asking(5000, 0));
  EXPECT_EQ(desk.steps(), "mark 0");
  desk.now += 10ms;  // well within its back-off
  desk.tell(NodeUpdated{test_node(0, 6000)});
  EXPECT_EQ(desk.steps(), "bind 0 to 0");
  EXPECT_EQ(desk.place(pod), PodPlace::assumed);
}

TEST(Queue, SortsAWaitingPodAnewWhenItsPriorityChanges) {
  Desk desk(1);
  desk.add(spec_of(100, 5));
  const PodId second = desk.add(spec_of(100, 0));
  Pod raised = desk.pod(second);
  raised.shape = test_shape(spec_of(100, 10));
  desk.tell(PodUpdated{raised});
  EXPECT_EQ(desk.steps(), "bind 1 to 0; bind 0 to 0");
}

TEST(Queue, LetsAPodInWhenItsGatesAreRemoved) {
  Desk desk(1);
  PodSpec spec = spec_asking(100, 0);
  spec.scheduling_gates = {"wait"};
  const PodId pod = desk.add(spec);
  EXPECT_EQ(desk.steps(), "");
  EXPECT_EQ(desk.scheduler.depths().gated, 1U);
  Pod open = desk.pod(pod);
  open.shape = shape_asking(100, 0);
  desk.tell(PodUpdated{open});
  EXPECT_EQ(desk.scheduler.depths().active, 1U);
  EXPECT_EQ(desk.steps(), "bind 0 to 0");
  EXPECT_EQ(desk.scheduler.depths().gated + desk.scheduler.depths().active, 0U);
}

TEST(Queue, LeavesAParkedPodAloneWhoseStatusAloneChanged) {
  Desk desk(1);
  const PodId pod = desk.add(spec_asking(5000, 0));
  EXPECT_EQ(desk.steps(), "mark 0");
  desk.now += 1min;
  Pod told = desk.pod(pod);  // our own complaint comes back as an update
  told.shape = test_shape(spec_asking(5000, 0));
  desk.tell(PodUpdated{told});
  EXPECT_EQ(desk.steps(), "");
  told.shape = shape_asking(100, 0);
  desk.tell(PodUpdated{told});
  EXPECT_EQ(desk.steps(), "bind 0 to 0");
}

TEST(Queue, NamesAFeatureThatIsNotHonouredOnceAndLooksAgainWhenThePodChanges) {
  Desk desk(1);
  PodSpec spec = spec_asking(100, 0);
  spec.resource_claims = {"gpu"};
  const PodId pod = desk.add(spec);
  EXPECT_EQ(desk.steps(), "mark 0");
  EXPECT_NE(desk.why.find("dynamic resource claims"), std::string::npos);
  EXPECT_EQ(desk.scheduler.depths().unschedulable, 1U);
  desk.now += 1h;
  desk.tell(NodeAdded{test_node(1)});
  EXPECT_EQ(desk.steps(), "");
  Pod changed = desk.pod(pod);
  changed.shape = shape_asking(100, 0);
  desk.tell(PodUpdated{changed});
  EXPECT_EQ(desk.steps(), "bind 0 to 0");
}

TEST(Queue, LeavesAPodAloneThatIsBeingDeleted) {
  Desk desk(1);
  const auto shape = shape_asking(100, 0);
  const PodId first = desk.add(shape);
  desk.add(shape);
  Pod ending = desk.pod(first);
  ending.terminating = true;
  desk.tell(PodUpdated{ending});
  EXPECT_EQ(desk.steps(), "bind 1 to 0");
  desk.tell(PodGone{first, PodEnd::deleted});
  EXPECT_EQ(desk.scheduler.pending(), 0U);
}

TEST(Queue, LooksAtEachKindNowAndThenWhateverHappens) {
  Desk desk(1);
  const auto shape = shape_asking(5000, 0);
  desk.add(shape);
  desk.add(shape);
  desk.add(spec_asking(6000, 0));
  EXPECT_EQ(desk.steps(), "mark 0; mark 1; mark 2");
  EXPECT_EQ(desk.scheduler.wake_at(), desk.now + 5min);
  desk.now += 5min;
  EXPECT_EQ(desk.steps(), "mark 0; mark 2") << "one speaks for its kind";
}

}  // namespace
}  // namespace evenkeel::scheduling
