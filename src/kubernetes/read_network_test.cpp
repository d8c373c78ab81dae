#include <gtest/gtest.h>

#include "kubernetes/read_object.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::string_view kTopology =
    R"("apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1", "kind": "NetworkTopology",
       "metadata": {"name": "nt", "namespace": "net"})";
constexpr std::string_view kGroup =
    R"("apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1", "kind": "AppGroup", "metadata": {"name": "shop"})";

template <class T>
T read_as(std::string_view head, const std::string& rest) {
  const std::string json = "{" + std::string(head) + ", " + rest + "}";
  const Result<JsonDocument> document = JsonDocument::parse(json, "test");
  EXPECT_TRUE(document);
  const auto object = read_object(document->root());
  EXPECT_TRUE(object) << object.error().message;
  return object && *object ? std::get<T>(std::get<ClusterObject>(**object)) : T{};
}

std::string error_of(std::string_view head, const std::string& rest) {
  const std::string json = "{" + std::string(head) + ", " + rest + "}";
  const Result<JsonDocument> document = JsonDocument::parse(json, "test");
  EXPECT_TRUE(document);
  const auto object = read_object(document->root());
  return object ? "no error" : object.error().message;
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

const std::string kRightSpelling = R"("spec": {"configmapName": "netperf-metrics", "weights": [
  {"name": "UserDefined", "topologyList": [
    {"topologyKey": "topology.kubernetes.io/zone", "originList": [
      {"origin": "z1", "costList": [
        {"destination": "z2", "networkCost": 5, "bandwidthCapacity": "1Gi", "bandwidthAllocated": "250M"}]}]}]}]})";
const std::string kExamplesSpelling = R"("spec": {"configMapName": "netperf-metrics", "weights": [
  {"name": "UserDefined", "costList": [
    {"topologyKey": "topology.kubernetes.io/zone", "originCosts": [
      {"origin": "z1", "costs": [
        {"destination": "z2", "networkCost": 5, "bandwidthCapacity": "1Gi", "bandwidthAllocated": "250M"}]}]}]}]})";

TEST(ReadNetwork, TakesATopologyApart) {
  const auto topology = read_as<NetworkTopology>(kTopology, kRightSpelling);
  EXPECT_EQ(topology.name_space, "net");
  EXPECT_EQ(topology.config_map, "netperf-metrics");
  const NetworkTopology::Level& level = topology.weights.at(0).levels.at(0);
  EXPECT_EQ(level.topology_key, kZoneLabel);
  const NetworkTopology::Cost& cost = level.origins.at(0).costs.at(0);
  EXPECT_EQ(cost.destination, "z2");
  EXPECT_EQ(cost.cost, 5);
  EXPECT_EQ(cost.capacity, BitsPerSecond{std::int64_t{1} << 30});
  EXPECT_EQ(cost.allocated, BitsPerSecond{250'000'000});
}

TEST(ReadNetwork, UnderstandsTheSpellingOfUpstreamsExamples) {
  EXPECT_EQ(read_as<NetworkTopology>(kTopology, kExamplesSpelling),
            read_as<NetworkTopology>(kTopology, kRightSpelling));
}

TEST(ReadNetwork, NamesTheFieldThatIsMissingOrGivenTwice) {
  EXPECT_TRUE(says(error_of(kTopology, R"("spec": {"weights": [{"name": "UserDefined"}]})"), "topologyList"));
  EXPECT_TRUE(
      says(error_of(kTopology, R"("spec": {"configmapName": "a", "configMapName": "b", "weights": []})"),
           "configmapName"));
  EXPECT_TRUE(says(error_of(kTopology, R"("spec": {"weights": [{"name": "n", "topologyList": [
      {"topologyKey": "k", "originList": [{"origin": "a", "costList": [{"destination": "b"}]}]}]}]})"),
                   "networkCost"));
  EXPECT_TRUE(says(error_of(kTopology, R"("spec": {"weights": [{"name": "n", "topologyList": [
      {"topologyKey": "k", "originList": [{"origin": "a", "costList": [
        {"destination": "b", "networkCost": -1}]}]}]}]})"),
                   "networkCost"));
}

TEST(ReadNetwork, TakesAGroupApart) {
  const auto group =
      read_as<AppGroup>(kGroup, R"("spec": {"numMembers": 2, "topologySortingAlgorithm": "KahnSort",
    "workloads": [
      {"workload": {"kind": "Deployment", "name": "front-v1", "selector": "front", "apiVersion": "apps/v1"},
       "dependencies": [{"workload": {"kind": "Deployment", "name": "cart-v1", "selector": "cart"},
                         "minBandwidth": "100Mi", "maxNetworkCost": 30}]},
      {"workload": {"kind": "Deployment", "name": "cart-v1", "selector": "cart"}}]},
    "status": {"topologyOrder": [{"workload": {"selector": "front"}, "index": 1},
                                 {"workload": {"selector": "cart"}, "index": 2}]})");
  EXPECT_EQ(group.name_space, "default");
  EXPECT_EQ(group.members, 2);
  EXPECT_FALSE(group.gang);
  const AppDependency& dependency = group.workloads.at(0).dependencies.at(0);
  EXPECT_EQ(dependency.workload.selector, "cart");
  EXPECT_EQ(dependency.min_bandwidth, BitsPerSecond{100 << 20});
  EXPECT_TRUE(dependency.limits_cost);
  EXPECT_EQ(dependency.max_network_cost, 30);
  EXPECT_EQ(group.order.at(0), (AppGroup::Rank{"cart", 2}));
}

TEST(ReadNetwork, RefusesABandwidthBelowNothingOrBeyondSense) {
  const auto group_asking = [](const std::string& bandwidth) {
    return error_of(kGroup,
                    R"("spec": {"workloads": [{"workload": {"kind": "D", "name": "a", "selector": "a"},
      "dependencies": [{"workload": {"kind": "D", "name": "b", "selector": "b"}, "minBandwidth": ")" +
                        bandwidth + R"("}]}]})");
  };
  EXPECT_TRUE(says(group_asking("-1"), "minBandwidth"));
  EXPECT_TRUE(says(group_asking("8E"), "minBandwidth"));
  EXPECT_EQ(group_asking("1G"), "no error");
}

}  // namespace
}  // namespace evenkeel::kubernetes
