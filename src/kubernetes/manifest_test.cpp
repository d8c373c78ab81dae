#include "kubernetes/manifest.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

std::vector<ApiObject> read(std::string_view text) {
  auto objects = read_manifest(text, "cluster.yaml");
  EXPECT_TRUE(objects) << objects.error().message;
  return objects ? *std::move(objects) : std::vector<ApiObject>{};
}
std::string error_of(std::string_view text) {
  const auto objects = read_manifest(text, "cluster.yaml");
  return objects ? "no error" : objects.error().message;
}

TEST(Manifest, ReadsDocumentsAndListsInTheirOrder) {
  const auto objects = read(R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
---
# nothing here
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec: {containers: []}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: passed-over}
- apiVersion: v1
  kind: Pod
  metadata: {name: b, namespace: web}
  spec: {containers: []}
)");
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(std::get<Node>(objects[0]).name, "n1");
  EXPECT_EQ(std::get<PodObject>(objects[1]).name, "a");
  EXPECT_EQ(std::get<PodObject>(objects[2]).name_space, "web");
}

TEST(Manifest, ReadsJsonAndTypedListsThatLeaveOutTheKind) {
  const auto objects =
      read(R"({"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "n1"}},
                                                                                 {"metadata": {"name": "n2"}}]})");
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(std::get<Node>(objects[1]).name, "n2");
}

TEST(Manifest, TakesWordsOfYamlForWhatKubectlTakesThem) {
  const auto objects = read(R"(
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {number: "3", truth: "true", nothing: ""}}
spec: {unschedulable: yes}
status: {allocatable: {cpu: 2, memory: 1e9, pods: 0x10}}
)");
  const Node& node = std::get<Node>(objects.at(0));
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.allocatable.cpu.count, 2000);
  EXPECT_EQ(node.allocatable.memory.count, 1'000'000'000);
  EXPECT_EQ(node.max_pods, 16);
  EXPECT_EQ(*node.labels.find("number"), "3");
}

TEST(Manifest, NamesFileLineObjectAndField) {
  EXPECT_EQ(error_of("kind: Node\napiVersion: v1\nmetadata: {name: n}\n---\nkind: Pod\napiVersion: v1\n"
                     "metadata: {name: p, labels: {a: 1}}\nspec: {containers: []}\n"),
            "cluster.yaml:5: Pod p: metadata.labels.a: expected text, found the number 1");
  EXPECT_EQ(error_of(R"({"kind": "List", "apiVersion": "v1", "items": [{"kind": "Pod", "apiVersion": "v1",
                         "metadata": {"name": "p"}}]})"),
            "cluster.yaml: items[0]: Pod p: spec: expected what the pod is made of, found nothing");
  EXPECT_EQ(error_of("a: [1, 2\n").substr(0, 13), "cluster.yaml:");
  EXPECT_EQ(error_of("just words"),
            "cluster.yaml:1: expected an object of the API, found the text 'just words'");
}

TEST(Manifest, OfNothingIsEmpty) { EXPECT_TRUE(read("").empty()); }

}  // namespace
}  // namespace evenkeel::kubernetes
