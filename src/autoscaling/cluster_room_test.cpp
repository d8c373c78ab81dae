#include "autoscaling/cluster_room.h"

#include <gtest/gtest.h>

#include "autoscaling/test_services.h"
#include "cluster/test_objects.h"

namespace evenkeel::autoscaling {
namespace {

using namespace std::chrono_literals;
constexpr ScalerId kWeb{0, 1}, kShop{1, 1};

// Nodes of 4 cores, and a workload on them whose pods ask for one each.
struct Desk {
  explicit Desk(std::uint32_t nodes, ClusterRoom::Options options = {}) : room(options) {
    room.set_blind("");
    for (std::uint32_t slot = 0; slot < nodes; ++slot) tell(NodeAdded{test_node(slot)});
  }
  void tell(const ClusterEvent& event) { room.observe(event, kNow); }
  std::shared_ptr<const PodTemplate> shape(PodSpec of, std::uint32_t workload = 0,
                                           std::string owner = "ReplicaSet") const {
    return test_shape(std::move(of), {workload}, {{std::move(owner), "web-1", "uid-1", true, "apps/v1"}});
  }
  PodId run(NodeId node, std::shared_ptr<const PodTemplate> of) {
    const PodId id{next_++, 1};
    Pod pod = test_pod(id, std::move(of));
    pod.created = kNow + std::chrono::seconds(next_);
    tell(PodFound{pod, node});
    return id;
  }
  PodId wait(std::shared_ptr<const PodTemplate> of) {
    const PodId id{next_++, 1};
    tell(PodAdded{test_pod(id, std::move(of))});
    return id;
  }
  // A replica of the workload under test, running there.
  void replica(std::uint32_t node) { replica(node, shape(spec_asking(1000, 1 << 20))); }
  void replica(std::uint32_t node, std::shared_ptr<const PodTemplate> of) {
    own.push_back(run({node}, std::move(of)));
  }
  ScalingRequest request(ScalerId scaler = kWeb) {
    report.replicas.clear();
    for (const PodId id : own) {
      ReplicaReport seen = test_replica(0.5);
      seen.name = room.cluster().pod(id)->pod.name;
      seen.ready = unready.empty() || seen.name != unready;
      report.replicas.push_back(std::move(seen));
    }
    spec.name_space = "default";
    return {scaler, spec, report, {}, {}, static_cast<std::int32_t>(own.size()), kNow};
  }
  Room ask(std::int32_t more) { return room.room_for(request(), more); }
  std::vector<std::string> leavers(std::int32_t fewer) { return room.leavers_of(request(), fewer).pods; }

  ClusterRoom room;
  ScalerSpec spec = test_spec();
  ServiceReport report;
  std::vector<PodId> own;
  std::string unready;

 private:
  std::uint32_t next_ = 0;
};

TEST(ClusterRoom, CountsAsManyReplicasAsNodesHaveRoomForAndNamesThem) {
  Desk desk(2);
  desk.replica(0);
  const Room some = desk.ask(3);
  EXPECT_EQ(some.replicas, 3);
  EXPECT_EQ(some.where, "node-0 (1), node-1 (2)");
  EXPECT_EQ(some.why, "");
  const Room all = desk.ask(20);
  EXPECT_EQ(all.replicas, 7);
  EXPECT_EQ(all.why, "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(desk.ask(20).replicas, 7) << "asking leaves the cluster as it was";
}

TEST(ClusterRoom, GoesByTheSchedulersFilters) {
  Desk desk(3);
  Node tainted = test_node(0);
  tainted.taints = {{"team", "others", TaintEffect::no_schedule}};
  desk.tell(NodeUpdated{tainted});
  Node labelled = test_node(1);
  labelled.labels = Labels({{"disk", "ssd"}});
  desk.tell(NodeUpdated{labelled});
  desk.replica(2);
  EXPECT_EQ(desk.ask(20).replicas, 7);  // of three nodes of four, one is not tolerated and one core is taken
  PodSpec picky = spec_asking(1000, 1 << 20);
  picky.node_selector = Labels({{"disk", "ssd"}});
  desk.own.clear();
  desk.replica(1, desk.shape(picky));
  EXPECT_EQ(desk.ask(20).replicas, 3);
}

TEST(ClusterRoom, KnowsThatReplicasWhoAvoidEachOtherNeedANodeEach) {
  Desk desk(3);
  PodSpec spec = spec_asking(100, 1 << 20);
  PodAffinityTerm term;
  term.selector = LabelSelector{{{"app", SelectorOperator::in, {"web"}}}};
  term.topology_key = "kubernetes.io/hostname";
  spec.pod_anti_affinity.required = {term};
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    Node node = test_node(slot);
    node.labels = Labels({{"kubernetes.io/hostname", node.name}});
    desk.tell(NodeUpdated{node});
  }
  const auto shape = std::make_shared<const PodTemplate>("default", Labels({{"app", "web"}}),
                                                         std::vector<OwnerReference>{}, WorkloadId{0}, spec);
  desk.replica(0, shape);
  const Room room = desk.ask(5);
  EXPECT_EQ(room.replicas, 2);
  EXPECT_EQ(room.where, "node-1 (1), node-2 (1)");
}

TEST(ClusterRoom, LeavesWhatOthersWaitForToThem) {
  Desk desk(1);
  desk.replica(0);
  desk.wait(desk.shape(spec_asking(2000, 1 << 20), 7));
  EXPECT_EQ(desk.ask(5).replicas, 1);
  PodSpec modest = spec_asking(1000, 1 << 20);
  modest.priority = -1;  // comes after
  desk.wait(desk.shape(modest, 8));
  EXPECT_EQ(desk.ask(5).replicas, 1);
}

TEST(ClusterRoom, CountsReplicasThatAreWantedAndHaveNoPodYet) {
  Desk desk(1);
  desk.replica(0);
  ScalingRequest request = desk.request();
  request.wanted = 3;
  EXPECT_EQ(desk.room.room_for(request, 5).replicas, 1);
}

TEST(ClusterRoom, KeepsWhatItPromisedToOneWorkloadFromTheNext) {
  Desk desk(1);
  desk.replica(0);
  desk.room.promised(desk.request(kShop), 2);
  EXPECT_EQ(desk.ask(5).replicas, 1);
  // Once the pods are there, they count themselves.
  desk.run({0}, desk.shape(spec_asking(1000, 1 << 20)));
  desk.run({0}, desk.shape(spec_asking(1000, 1 << 20)));
  EXPECT_EQ(desk.ask(5).replicas, 1);
  ScalingRequest later = desk.request(kShop);
  desk.room.promised(later, 1);
  EXPECT_EQ(desk.ask(5).replicas, 0);
  ScalingRequest own = desk.request();
  own.now = kNow + 2min;
  EXPECT_EQ(desk.room.room_for(own, 5).replicas, 1) << "a promise nobody kept is not one for ever";
}

TEST(ClusterRoom, CountsRoomThatPodsOfLowerPriorityWouldMake) {
  Desk desk(1);
  PodSpec important = spec_asking(1000, 1 << 20), other = spec_asking(1000, 1 << 20);
  important.priority = 100;
  desk.replica(0, desk.shape(important));
  for (int i = 0; i < 3; ++i) desk.run({0}, desk.shape(other, 9));
  const Room room = desk.ask(5);
  EXPECT_EQ(room.replicas, 3);
  EXPECT_EQ(room.where, "node-0 (3), after 3 pods of lower priority have to leave");
  EXPECT_EQ(desk.ask(5).replicas, 3);
  important.preemption = PreemptionPolicy::never;
  desk.tell(PodUpdated{[&] {
    Pod pod = desk.room.cluster().pod(desk.own.front())->pod;
    pod.shape = desk.shape(important);
    return pod;
  }()});
  EXPECT_EQ(desk.ask(5).replicas, 0);
}

TEST(ClusterRoom, DoesNotAskTheNextReplicaForTheLastOnesClaims) {
  Desk desk(2);
  PodSpec spec = spec_asking(1000, 1 << 20);
  PodVolume claim;
  claim.name = "data";
  claim.kind = VolumeKind::claim;
  claim.source = "data-pod-0-1";  // of a StatefulSet's pod: nobody else's
  spec.volumes = {claim};
  desk.replica(0, desk.shape(spec, 0, "StatefulSet"));
  EXPECT_EQ(desk.ask(3).replicas, 3);
  claim.source = "shared";  // everybody's, and not there
  spec.volumes = {claim};
  desk.own.clear();
  desk.replica(0, desk.shape(spec));
  EXPECT_EQ(desk.ask(3).replicas, 0);
}

TEST(ClusterRoom, SaysWhyItCannotTell) {
  Desk desk(1);
  EXPECT_EQ(desk.ask(1).unknown, "no pod of web shows what its replicas ask for");
  desk.replica(0);
  desk.room.set_blind("nodes may not be listed");
  EXPECT_EQ(desk.ask(1).unknown, "nodes may not be listed");
  EXPECT_TRUE(desk.leavers(1).empty());
  Desk ignoring(1, {.room = false});
  ignoring.replica(0);
  EXPECT_FALSE(ignoring.ask(9).unknown.empty());
}

TEST(ClusterRoom, NamesPodsOfTheBusiestNodes) {
  Desk desk(3);
  desk.replica(0);
  desk.replica(1);
  desk.replica(2);
  desk.run({1}, desk.shape(spec_asking(2000, 1 << 20), 5));
  const Leavers leavers = desk.room.leavers_of(desk.request(), 1);
  EXPECT_EQ(leavers.pods, (std::vector<std::string>{"pod-1-1"}));
  EXPECT_NE(leavers.why.find("pod-1-1 on node-1 (75 % of its CPU in use)"), std::string::npos) << leavers.why;
}

TEST(ClusterRoom, GoesByWhatPodsUseWhereThatWasSeen) {
  Desk desk(2);
  desk.replica(0);
  desk.replica(1);
  ScalingRequest request = desk.request();
  desk.report.replicas[0].samples[0]->value = 3;
  desk.report.replicas[1].samples[0]->value = 0.1;
  desk.room.note_usage(desk.report, desk.spec);
  EXPECT_EQ(desk.leavers(1), (std::vector<std::string>{"pod-0-1"}));
  desk.report.replicas[0].samples[0]->value = 0.1;
  desk.report.replicas[1].samples[0]->value = 3;
  desk.room.note_usage(desk.report, desk.spec);
  EXPECT_EQ(desk.leavers(1), (std::vector<std::string>{"pod-1-1"}));
  EXPECT_EQ(request.wanted, 2);
}

TEST(ClusterRoom, NamesNobodyWhereTheNameWouldNotCount) {
  Desk stateful(2);
  stateful.replica(0, stateful.shape(spec_asking(1000, 1 << 20), 0, "StatefulSet"));
  stateful.replica(1, stateful.shape(spec_asking(1000, 1 << 20), 0, "StatefulSet"));
  EXPECT_TRUE(stateful.leavers(1).empty());

  Desk rolling(2);
  rolling.replica(0);
  rolling.replica(
      1, test_shape(spec_asking(1000, 1 << 20), {0}, {{"ReplicaSet", "web-2", "uid-2", true, "apps/v1"}}));
  EXPECT_TRUE(rolling.leavers(1).empty());

  // Whoever is not ready goes first, named or not.
  Desk desk(2);
  desk.replica(0);
  desk.replica(0);
  desk.replica(1);
  desk.unready = "pod-2-1";
  EXPECT_TRUE(desk.leavers(1).empty());
  EXPECT_EQ(desk.leavers(2), (std::vector<std::string>{"pod-1-1"}));

  Desk off(2, {.leavers = false});
  off.replica(0);
  off.replica(1);
  EXPECT_TRUE(off.leavers(1).empty());
}

}  // namespace
}  // namespace evenkeel::autoscaling
