#include <gtest/gtest.h>

#include "scheduling/filters/volume_claims.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

TestCluster zones() {
  TestCluster cluster(3);
  const char* zone[] = {"a", "b", "b"};
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    Node node = test_node(slot);
    node.labels.set("topology.kubernetes.io/zone", zone[slot]);
    cluster.state.set_node(node);
  }
  StorageClass late{"late", "driver.example", BindingMode::wait_for_first_consumer, {}};
  StorageClass manual{"manual", "kubernetes.io/no-provisioner", BindingMode::wait_for_first_consumer, {}};
  StorageClass early{"early", "driver.example", BindingMode::immediate, {}};
  for (const StorageClass& storage : {late, manual, early}) cluster.state.set_object(storage);
  return cluster;
}

PersistentVolumeClaim claim(const std::string& name, const std::string& storage, std::int64_t bytes = 10) {
  PersistentVolumeClaim made;
  made.name_space = "default";
  made.name = name;
  made.storage_class = storage;
  made.requested = {bytes};
  made.access_modes = {"ReadWriteOnce"};
  return made;
}

PersistentVolumeClaim bound(const std::string& name, const std::string& volume) {
  PersistentVolumeClaim made = claim(name, "late");
  made.volume = volume;
  made.bind_completed = true;
  made.phase = ClaimPhase::bound;
  return made;
}

PersistentVolume volume(const std::string& name, const std::string& storage, std::int64_t bytes,
                        const std::string& zone = "") {
  PersistentVolume made;
  made.name = name;
  made.storage_class = storage;
  made.capacity = {bytes};
  made.access_modes = {"ReadWriteOnce"};
  if (!zone.empty())
    made.node_affinity = {{{{"topology.kubernetes.io/zone", SelectorOperator::in, {zone}}}, {}}};
  return made;
}

PodSpec using_claims(std::initializer_list<std::string> names) {
  PodSpec spec = spec_asking(1, 1);
  for (const std::string& name : names)
    spec.volumes.push_back({name, VolumeKind::claim, name, false, "", {}});
  return spec;
}

std::string feasible(TestCluster& cluster, const PodSpec& spec) {
  const Pod pod = pod_with(spec);
  std::string text;
  for (const std::uint8_t flag : cluster.question(pod).feasible) text += static_cast<char>('0' + flag);
  return text;
}

std::string complaint(const TestCluster& cluster, const PodSpec& spec) {
  const Pod pod = pod_with(spec);
  return unschedulable_message({pod, cluster.state, {}, cluster.options});
}

TEST(VolumeBinding, RefusesAPodWhoseClaimsAreNotThereOrNotReady) {
  TestCluster cluster = zones();
  const PodSpec spec = using_claims({"data"});
  EXPECT_EQ(complaint(cluster, spec), "0/3 nodes are available: persistentvolumeclaim \"data\" not found.");
  EXPECT_EQ(feasible(cluster, spec), "000");
  cluster.state.set_object(claim("data", "early"));
  EXPECT_EQ(complaint(cluster, spec),
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.");
  PersistentVolumeClaim lost = bound("data", "gone");
  lost.phase = ClaimPhase::lost;
  cluster.state.set_object(lost);
  EXPECT_EQ(complaint(cluster, spec),
            "0/3 nodes are available: persistentvolumeclaim \"data\" bound to non-existent persistentvolume "
            "\"gone\".");
  PersistentVolumeClaim leaving = claim("data", "late");
  leaving.deleting = true;
  cluster.state.set_object(leaving);
  EXPECT_EQ(complaint(cluster, spec),
            "0/3 nodes are available: persistentvolumeclaim \"data\" is being deleted.");
}

TEST(VolumeBinding, GoesWhereTheBoundVolumeIs) {
  TestCluster cluster = zones();
  cluster.state.set_object(bound("data", "disk"));
  cluster.state.set_object(volume("disk", "late", 10, "b"));
  EXPECT_EQ(feasible(cluster, using_claims({"data"})), "011");
}

TEST(VolumeBinding, FindsTheSmallestVolumeForAClaimThatWaitsForItsFirstConsumer) {
  TestCluster cluster = zones();
  cluster.state.set_object(claim("data", "manual"));
  cluster.state.set_object(volume("large", "manual", 100, "b"));
  cluster.state.set_object(volume("right", "manual", 20, "b"));
  cluster.state.set_object(volume("small", "manual", 5, "a"));
  const PodSpec spec = using_claims({"data"});
  EXPECT_EQ(feasible(cluster, spec), "011");
  const Pod pod = pod_with(spec);
  EXPECT_EQ(plan_volumes({pod, cluster.state, {}, cluster.options}, {1}).bindings,
            (std::vector<VolumeBinding>{{"default", "data", "right"}}));
  EXPECT_EQ(plan_volumes({pod, cluster.state, {}, cluster.options}, {0}).reasons,
            std::vector<std::string>{"node(s) didn't find available persistent volumes to bind"});
}

TEST(VolumeBinding, GivesNoVolumeTwice) {
  TestCluster cluster = zones();
  cluster.state.set_object(claim("one", "manual"));
  cluster.state.set_object(claim("two", "manual"));
  cluster.state.set_object(volume("disk", "manual", 10));
  EXPECT_EQ(feasible(cluster, using_claims({"one"})), "111");
  EXPECT_EQ(feasible(cluster, using_claims({"one", "two"})), "000");
  const std::vector<VolumeBinding> promised = {{"default", "two", "disk"}};
  cluster.state.reserve_volumes(promised, {0});
  EXPECT_EQ(feasible(cluster, using_claims({"one"})), "000");
  EXPECT_EQ(feasible(cluster, using_claims({"two"})), "111");
  cluster.state.release_volumes(promised);
  EXPECT_EQ(feasible(cluster, using_claims({"one"})), "111");
}

TEST(VolumeBinding, HasVolumesMadeWhereTheClassAllowsAndTheDriverHasRoom) {
  TestCluster cluster = zones();
  cluster.state.set_object(claim("data", "late", 50));
  const PodSpec spec = using_claims({"data"});
  EXPECT_EQ(feasible(cluster, spec), "111");
  cluster.state.set_object(StorageClass{"late",
                                        "driver.example",
                                        BindingMode::wait_for_first_consumer,
                                        {{{"topology.kubernetes.io/zone", {"b"}}}}});
  EXPECT_EQ(feasible(cluster, spec), "011");
  cluster.state.set_object(CsiDriver{"driver.example", true});
  EXPECT_EQ(complaint(cluster, spec),
            "0/3 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 2 node(s) "
            "did not have enough free storage.");
  CsiStorageCapacity room{"x", "pool", "late", LabelSelector{}, Bytes{60}, {}};
  cluster.state.set_object(room);
  EXPECT_EQ(feasible(cluster, spec), "011");
  room.largest_volume = Bytes{40};
  cluster.state.set_object(room);
  EXPECT_EQ(feasible(cluster, spec), "000");
}

TEST(VolumeBinding, StaysWithTheNodeThatWasSelectedBefore) {
  TestCluster cluster = zones();
  PersistentVolumeClaim chosen = claim("data", "late");
  chosen.selected_node = "node-2";
  cluster.state.set_object(chosen);
  EXPECT_EQ(feasible(cluster, using_claims({"data"})), "001");
}

TEST(VolumeBinding, WantsAnEphemeralVolumesClaimToBeThePodsOwn) {
  TestCluster cluster = zones();
  PodSpec spec = spec_asking(1, 1);
  spec.volumes = {{"scratch", VolumeKind::ephemeral, "", false, "", {}}};
  EXPECT_EQ(complaint(cluster, spec),
            "0/3 nodes are available: waiting for ephemeral volume controller to create the "
            "persistentvolumeclaim \"pod-1-1-scratch\".");
  PersistentVolumeClaim made = claim("pod-1-1-scratch", "late");
  made.owners = {{"Pod", "pod-1-1", "somebody else", true}};
  cluster.state.set_object(made);
  EXPECT_EQ(complaint(cluster, spec),
            "0/3 nodes are available: PVC default/pod-1-1-scratch was not created for pod default/pod-1-1 "
            "(pod is not owner).");
}

TEST(VolumeZone, KeepsToTheZonesTheVolumesLabelsName) {
  TestCluster cluster = zones();
  cluster.state.set_object(bound("data", "disk"));
  PersistentVolume disk = volume("disk", "late", 10);
  disk.labels = {{"failure-domain.beta.kubernetes.io/zone", "a__c"}};
  cluster.state.set_object(disk);
  EXPECT_EQ(feasible(cluster, using_claims({"data"})), "100");
  EXPECT_EQ(cluster.objections_of(kVolumeZone, pod_with(using_claims({"data"})), {1}),
            std::vector<std::string>{"node(s) had no available volume zone"});
}

TEST(VolumeRestrictions, LetsOnePodOnANodeWriteToADisk) {
  TestCluster cluster = zones();
  PodSpec reads = spec_asking(1, 1), writes = spec_asking(1, 1);
  reads.volumes = {{"d", VolumeKind::gce_disk, "disk", true, "", {}}};
  writes.volumes = {{"d", VolumeKind::gce_disk, "disk", false, "", {}}};
  cluster.add_running({0}, test_shape(reads));
  EXPECT_EQ(cluster.passes(kVolumeRestrictions, pod_with(reads)), "111");
  EXPECT_EQ(cluster.passes(kVolumeRestrictions, pod_with(writes)), "011");
  EXPECT_EQ(cluster.objections_of(kVolumeRestrictions, pod_with(writes), {0}),
            std::vector<std::string>{"node(s) had no available disk"});
}

TEST(VolumeRestrictions, GivesAReadWriteOncePodClaimToOnePodInTheCluster) {
  TestCluster cluster = zones();
  PersistentVolumeClaim once = bound("data", "disk");
  once.access_modes = {"ReadWriteOncePod"};
  cluster.state.set_object(once);
  cluster.state.set_object(volume("disk", "late", 10));
  const PodSpec spec = using_claims({"data"});
  EXPECT_EQ(feasible(cluster, spec), "111");
  const PodId user = cluster.add_running({0}, test_shape(spec));
  EXPECT_EQ(feasible(cluster, spec), "000");
  cluster.state.remove_pod(user);
  EXPECT_EQ(feasible(cluster, spec), "111");
}

TEST(NodeVolumeLimits, CountsEachVolumeOfADriverOnce) {
  TestCluster cluster = zones();
  for (const char* name : {"one", "two", "three"}) {
    cluster.state.set_object(bound(name, std::string("disk-") + name));
    PersistentVolume disk = volume(std::string("disk-") + name, "late", 10);
    disk.kind = VolumeKind::csi;
    disk.driver = "driver.example";
    disk.handle = name;
    cluster.state.set_object(disk);
  }
  cluster.state.set_object(CsiNode{"node-0", {{"driver.example", 2}}, {}});
  cluster.add_running({0}, test_shape(using_claims({"one"})));
  cluster.add_running({0}, test_shape(using_claims({"one"})));
  EXPECT_EQ(feasible(cluster, using_claims({"two"})), "111");
  EXPECT_EQ(feasible(cluster, using_claims({"one", "two"})), "111");
  EXPECT_EQ(feasible(cluster, using_claims({"two", "three"})), "011");
  cluster.state.set_object(VolumeAttachment{"a", "driver.example", "node-0", "disk-three"});
  EXPECT_EQ(feasible(cluster, using_claims({"two"})), "011");
  EXPECT_EQ(cluster.objections_of(kNodeVolumeLimits, pod_with(using_claims({"two"})), {0}),
            std::vector<std::string>{"node(s) exceed max volume count"});
}

// kube-scheduler gives up on the pod with an error as soon as one node cannot be counted.
TEST(NodeVolumeLimits, LetsNoNodePassWhereSomebodysVolumeIsNotItsOwn) {
  TestCluster cluster = zones();
  cluster.state.set_object(CsiNode{"node-0", {{"driver.example", 2}}, {}});
  cluster.state.set_object(claim("data", "late"));
  PodSpec stranger = spec_asking(1, 1);
  stranger.volumes.push_back({"scratch", VolumeKind::ephemeral, "", false, "", {}});
  const PodId other = cluster.add_running({0}, test_shape(stranger));
  cluster.state.set_object(claim(cluster.state.pod(other)->pod.name + "-scratch", "late"));
  EXPECT_EQ(feasible(cluster, using_claims({"data"})), "000");
  const Pod pod = pod_with(using_claims({"data"}));
  EXPECT_TRUE(judge({pod, cluster.state, {}, cluster.options}, {0}).failed);
}

TEST(NodeDeclaredFeatures, WantsWhatThePodNeedsToBeDeclared) {
  TestCluster cluster(2);
  Node able = test_node(1);
  able.declared_features = {"UserNamespacesHostNetworkSupport"};
  cluster.state.set_node(able);
  PodSpec spec = spec_asking(1, 1);
  spec.host_network = true;
  EXPECT_EQ(cluster.passes(kNodeDeclaredFeatures, pod_with(spec)), "11");
  spec.user_namespace = true;
  EXPECT_EQ(cluster.passes(kNodeDeclaredFeatures, pod_with(spec)), "01");
}

TEST(NodeAffinity, LooksOnlyAtNodesThatEveryTermNames) {
  TestCluster cluster(3);
  PodSpec spec = spec_asking(1, 1);
  spec.node_affinity.required = {{{}, {{"metadata.name", SelectorOperator::in, {"node-1"}}}}};
  spec.containers.front().requests.cpu = {9000};
  EXPECT_EQ(
      complaint(cluster, spec),
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].");
  spec.node_affinity.required->front().fields.push_back({"metadata.name", SelectorOperator::in, {"node-2"}});
  EXPECT_EQ(complaint(cluster, spec), "0/3 nodes are available: pod affinity terms conflict.");
}

TEST(NodeAffinity, AlsoHonoursWhatTheProfileAdds) {
  TestCluster cluster = zones();
  NodeAffinity added;
  added.required = {{{{"topology.kubernetes.io/zone", SelectorOperator::in, {"b"}}}, {}}};
  cluster.options.profile.added_affinity = added;
  EXPECT_EQ(feasible(cluster, spec_asking(1, 1)), "011");
  EXPECT_EQ(cluster.objections_of(kNodeAffinity, pod_with(spec_asking(1, 1)), {0}),
            std::vector<std::string>{"node(s) didn't match scheduler-enforced node affinity"});
}

}  // namespace
}  // namespace evenkeel::scheduling
