#include "kubernetes/bandwidth_convert.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace evenkeel::kubernetes {
namespace {

constexpr const char* kGroup = R"(
apiVersion: appgroup.diktyo.x-k8s.io/v1alpha1
kind: AppGroup
metadata: {name: shop, namespace: web}
spec:
  numMembers: 2
  topologySortingAlgorithm: KahnSort
  workloads:
  - workload: {kind: Deployment, name: front, selector: front, apiVersion: apps/v1}
    dependencies:
    - workload: {kind: Deployment, name: cart, selector: cart, apiVersion: apps/v1}
      minBandwidth: 10M
  - workload: {kind: Deployment, name: cart, selector: cart, apiVersion: apps/v1}
)";

std::string deployment(const std::string& name, int replicas, const std::string& annotations = "{}",
                       const std::string& name_space = "web") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", namespace: " + name_space +
         "}\nspec:\n  replicas: " + std::to_string(replicas) +
         "\n  template:\n    metadata:\n      annotations: " + annotations +
         "\n      labels: {appgroup.diktyo.x-k8s.io: shop, appgroup.diktyo.x-k8s.io.workload: " + name +
         "}\n";
}

std::vector<nlohmann::json> annotations_of(const ShapedManifests& made) {
  std::vector<nlohmann::json> all;
  std::string_view rest = made.text;
  while (!rest.empty()) {
    const std::size_t end = rest.find("---\n");
    all.push_back(nlohmann::json::parse(rest.substr(0, end))["spec"]["template"]["metadata"]["annotations"]);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 4);
  }
  return all;
}

TEST(BandwidthConvert, SumsEdgesOverPairsOfReplicas) {
  const auto made = shape_manifests(
      {{"group", kGroup}, {"pods", deployment("front", 2) + "---\n" + deployment("cart", 3)}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->annotated, 2U);
  const auto annotations = annotations_of(*made);
  EXPECT_EQ(annotations[0], nlohmann::json({{"kubernetes.io/egress-bandwidth", "30000000"}}))
      << "to three carts";
  EXPECT_EQ(annotations[1], nlohmann::json({{"kubernetes.io/ingress-bandwidth", "20000000"}}))
      << "from two fronts";
}

TEST(BandwidthConvert, LeavesWhatIsThereAndWhatHasNoEdges) {
  const std::string own = "{kubernetes.io/egress-bandwidth: 1M, note: mine}";
  const auto made = shape_manifests(
      {{"all", std::string(kGroup) + "---\n" + deployment("front", 1, own) + "---\n" +
                   deployment("other", 1) + "---\n" + deployment("cart", 1, "{}", "elsewhere")}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->annotated, 0U);
  const auto annotations = annotations_of(*made);
  EXPECT_EQ(annotations[0]["kubernetes.io/egress-bandwidth"], "1M");
  EXPECT_EQ(annotations[0]["note"], "mine");
  EXPECT_TRUE(annotations[1].empty());
  EXPECT_TRUE(annotations[2].empty()) << "another namespace's pods are another group's";
}

TEST(BandwidthConvert, SaysWhatItGuessed) {
  const auto made =
      shape_manifests({{"all", std::string(kGroup) + "---\n" + deployment("front", 2) +
                                   "---\napiVersion: v1\nkind: Service\nmetadata: {name: front}\n"}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(annotations_of(*made).at(0)["kubernetes.io/egress-bandwidth"], "10000000");
  EXPECT_EQ(made->remarks.size(), 2U);
}

TEST(BandwidthConvert, ReadsLists) {
  const std::string list =
      R"({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "front", "namespace": "web", "labels": {"appgroup.diktyo.x-k8s.io": "shop",
    "appgroup.diktyo.x-k8s.io.workload": "front"}}}]})";
  const auto made = shape_manifests({{"group", kGroup}, {"pods", list}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->annotated, 1U);
  EXPECT_EQ(nlohmann::json::parse(made->text)["metadata"]["annotations"]["kubernetes.io/egress-bandwidth"],
            "10000000");
}

TEST(BandwidthConvert, NamesWhatIsWrong) {
  const auto none = shape_manifests({{"pods.yaml", deployment("front", 2)}});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("AppGroup"), std::string::npos);
  const auto bad =
      shape_manifests({{"g.yaml", "kind: AppGroup\nmetadata: {name: x}\nspec: {workloads: 3}\n"}});
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("g.yaml"), std::string::npos) << bad.error().message;
  EXPECT_FALSE(shape_manifests({{"p", "kind: Pod\nmetadata: {labels: 3}\n"}}));
}

}  // namespace
}  // namespace evenkeel::kubernetes
