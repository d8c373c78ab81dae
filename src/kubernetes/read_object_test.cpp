#include "kubernetes/read_object.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace evenkeel::kubernetes {
namespace {

Result<std::optional<ApiObject>> read(std::string_view json) {
  const Result<JsonDocument> document = JsonDocument::parse(json, "test");
  if (!document) return document.error();
  return read_object(document->root());
}

template <class T>
T read_as(std::string_view json) {
  auto object = read(json);
  EXPECT_TRUE(object) << object.error().message;
  EXPECT_TRUE(*object);
  return std::get<T>(**object);
}

template <class T>
T read_cluster_object(std::string_view json) {
  return std::get<T>(read_as<ClusterObject>(json));
}

std::string error_of(std::string_view json) {
  const auto object = read(json);
  return object ? "no error" : object.error().message;
}

TEST(ReadObject, TakesANodeApart) {
  const Node node = read_as<Node>(R"({"apiVersion": "v1", "kind": "Node",
    "metadata": {"name": "n1", "labels": {"zone": "a", "disk": "ssd"}},
    "spec": {"unschedulable": true, "taints": [{"key": "spot", "effect": "NoExecute"}]},
    "status": {"allocatable": {"cpu": "3500m", "memory": "7Gi", "pods": "58", "example.com/gpu": "2",
                               "hugepages-2Mi": "64Mi", "unheard-of": "1"},
               "images": [{"names": ["a:v1", "b:v1"], "sizeBytes": 5000}],
               "declaredFeatures": ["Shiny"],
               "conditions": [{"type": "Ready", "status": "False"}]}})");
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(*node.labels.find("disk"), "ssd");
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.taints.at(0).effect, TaintEffect::no_execute);
  EXPECT_EQ(node.allocatable.cpu.count, 3500);
  EXPECT_EQ(node.allocatable.memory.count, std::int64_t{7} << 30);
  EXPECT_EQ(node.max_pods, 58);
  EXPECT_EQ(node.allocatable.extended_count("example.com/gpu"), 2);
  EXPECT_EQ(node.allocatable.extended_count("hugepages-2Mi"), 64 << 20);
  EXPECT_EQ(node.allocatable.extended_count("unheard-of"), 0);
  EXPECT_EQ(node.images.size(), 2U);
  EXPECT_EQ(node.declared_features.at(0), "Shiny");
  EXPECT_EQ(node.conditions.ready, ConditionStatus::no);
}

TEST(ReadObject, TakesTheCapacityWhereANodeSaysNothingOfWhatIsAllocatable) {
  const Node node = read_as<Node>(
      R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": 2, "pods": 9}}})");
  EXPECT_EQ(node.allocatable.cpu.count, 2000);
  EXPECT_EQ(node.max_pods, 9);
}

TEST(ReadObject, FillsInWhatTheApiServerWould) {
  const PodObject pod = read_as<PodObject>(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
    "spec": {"hostNetwork": true, "containers": [
      {"name": "c", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
       "ports": [{"containerPort": 8080}]}]}})");
  EXPECT_EQ(pod.name_space, "default");
  EXPECT_EQ(pod.spec.scheduler_name, "default-scheduler");
  const Container& container = pod.spec.containers.at(0);
  EXPECT_EQ(container.requests.cpu.count, 500);
  EXPECT_EQ(container.requests.memory.count, 1 << 30);  // the limit's
  EXPECT_EQ(container.ports.at(0).host_port, 8080);     // the host's network is its own
  EXPECT_EQ(container.ports.at(0).protocol, "TCP");
}

TEST(ReadObject, TellsARequestForNothingFromNoRequest) {
  const PodObject pod = read_as<PodObject>(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "0"}}}]}})");
  EXPECT_TRUE(pod.spec.containers.at(0).zero_cpu);
  EXPECT_FALSE(pod.spec.containers.at(0).zero_memory);
}

TEST(ReadObject, DerivesPodLevelRequestsFromLimitsAndContainers) {
  const PodObject pod = read_as<PodObject>(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
    "spec": {"resources": {"limits": {"cpu": "4", "memory": "2Gi"}},
             "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}})");
  ASSERT_TRUE(pod.spec.pod_level_requests);
  EXPECT_EQ(pod.spec.pod_level_requests->cpu, MilliCpu{1000});       // what the containers ask for
  EXPECT_EQ(pod.spec.pod_level_requests->memory, Bytes{2LL << 30});  // nobody asks: the limit
}

TEST(ReadObject, ReadsWhereAPodMayGo) {
  const PodObject pod = read_as<PodObject>(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
    "spec": {"containers": [], "nodeSelector": {"disk": "ssd"},
      "tolerations": [{"operator": "Exists"}, {"key": "spot", "value": "x", "effect": "NoExecute", "tolerationSeconds": 5}],
      "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]}]}},
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm":
          {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {}}}]}},
      "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
        "nodeTaintsPolicy": "Honor", "minDomains": 3}]}})");
  EXPECT_EQ(pod.spec.tolerations.at(0).op, Toleration::Operator::exists);
  EXPECT_EQ(pod.spec.tolerations.at(1).seconds, 5);
  ASSERT_TRUE(pod.spec.node_affinity.required);
  EXPECT_EQ(pod.spec.node_affinity.required->at(0).expressions.at(0).op, SelectorOperator::greater_than);
  const PreferredPodTerm& term = pod.spec.pod_anti_affinity.preferred.at(0);
  EXPECT_EQ(term.weight, 7);
  EXPECT_TRUE(term.term.selector && term.term.selector->requirements.empty());  // empty is not absent
  EXPECT_FALSE(pod.spec.spread.at(0).do_not_schedule);
  EXPECT_FALSE(pod.spec.spread.at(0).selector);
  EXPECT_TRUE(pod.spec.spread.at(0).honor_node_taints);
  EXPECT_EQ(pod.spec.spread.at(0).min_domains, 3);
}

TEST(ReadObject, ReadsClaimsByTheirOldAnnotationToo) {
  const auto claim = read_cluster_object<PersistentVolumeClaim>(R"({"apiVersion": "v1",
    "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "web", "annotations": {
      "volume.beta.kubernetes.io/storage-class": "old", "pv.kubernetes.io/bind-completed": ""}},
    "spec": {"storageClassName": "new", "resources": {"requests": {"storage": "1.5Gi"}}}})");
  EXPECT_EQ(claim.storage_class, "old");
  EXPECT_TRUE(claim.bind_completed);
  EXPECT_EQ(claim.requested.count, 1610612736);
}

TEST(ReadObject, LabelsANamespaceWithItsName) {
  const auto space = read_cluster_object<Namespace>(
      R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}})");
  EXPECT_EQ(*space.labels.find("kubernetes.io/metadata.name"), "web");
}

TEST(ReadObject, PassesOverKindsThatSchedulingDoesNotLookAt) {
  const auto object =
      read(R"({"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": 5}})");
  ASSERT_TRUE(object);
  EXPECT_FALSE(*object);
}

TEST(ReadObject, NamesTheObjectAndTheFieldThatIsWrong) {
  EXPECT_EQ(
      error_of(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "web"},
    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "lots"}}}]}})"),
      "Pod web/p: spec.containers[0].resources.requests.cpu: expected a quantity such as 500m, 2, 1.5, 1e3, "
      "64Mi or 5G, found 'lots'");
  EXPECT_EQ(error_of(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
    "spec": {"taints": [{"key": "a", "effect": "Maybe"}]}})"),
            "Node n: spec.taints[0].effect: expected one of NoSchedule, PreferNoSchedule, NoExecute, found "
            "'Maybe'");
  EXPECT_EQ(
      error_of(
          R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": 3}})"),
      "Pod p: spec.containers: expected a list, found the number 3");
  EXPECT_EQ(error_of(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
    "spec": {"containers": [], "priority": 3000000000}})"),
            "Pod p: spec.priority: expected a number from -2147483648 to 2147483647, found 3000000000");
  EXPECT_EQ(error_of(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {}})"),
            "Pod without a name: metadata.name: expected text, found nothing");
  EXPECT_EQ(error_of(R"({"kind": 3})"), "object: kind: expected text, found the number 3");
  EXPECT_EQ(error_of("[1]"), "expected an object of the API, found a list");
}

TEST(ReadObject, SurvivesObjectsOfHostileSize) {
  const std::string ten_megabytes(10 << 20, 'x');
  std::string labels;
  for (int i = 0; i < 10'000; ++i)
    labels += (i ? ", " : "") + ("\"key-" + std::to_string(9999 - i) + "\": \"v\"");
  const PodObject pod = read_as<PodObject>(
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": {"a": ")" +
      ten_megabytes + R"("}, "labels": {)" + labels + R"(}}, "spec": {"containers": []}})");
  EXPECT_EQ(pod.labels.all().size(), 10'000U);
  EXPECT_EQ(pod.labels.all().front().key, "key-0");
  // A message shows the beginning of what is wrong, not all of it.
  const std::string error = error_of(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
    "spec": {"containers": [], "overhead": {"cpu": ")" +
                                     ten_megabytes + R"("}}})");
  EXPECT_LT(error.size(), 300U);
  std::string nested = "1";
  for (int i = 0; i < 5000; ++i) nested = "[" + nested + "]";
  EXPECT_FALSE(read(R"({"kind": "Pod", "x": )" + nested + "}"));  // deeper than anything the API has
}

// Any byte changed, dropped or doubled: a result or an error, never more. A failing seed names itself.
TEST(ReadObject, SurvivesWhatWireNoiseMakesOfAPod) {
  const std::string pod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{
    "containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"}},"ports":[{"hostPort":80}]}],
    "affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z",
    "labelSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}}]}},
    "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"x"}}],"priority":5},
    "status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z"}})";
  constexpr std::string_view kBytes = "{}[]\",:0-9.eE\\untrfalse\xff ";
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    std::string noisy = pod;
    for (std::uint64_t change = 0; change < 1 + seed % 4; ++change) {
      const auto at = static_cast<std::size_t>(random.below(noisy.size()));
      switch (random.below(3)) {
        case 0:
          noisy[at] = kBytes[static_cast<std::size_t>(random.below(kBytes.size()))];
          break;
        case 1:
          noisy.erase(at, 1 + static_cast<std::size_t>(random.below(9)));
          break;
        default:
          noisy.insert(at, noisy.substr(at, static_cast<std::size_t>(random.below(20))));
      }
    }
    SCOPED_TRACE(seed);
    if (const auto object = read(noisy); !object) {
      EXPECT_FALSE(object.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace evenkeel::kubernetes
