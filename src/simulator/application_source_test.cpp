#include "simulator/application_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "simulator/scenario.h"
#include "simulator/simulated_world.h"

namespace evenkeel::simulator {
namespace {

constexpr std::string_view kHead = R"(
apiVersion: evenkeel.io/v1alpha1
kind: Scenario
name: test
metrics: {every: 0s}
nodes:
  list:
    - name: a-%d
      count: 2
      capacity: {cpu: 4, memory: 8GiB}
      labels: {topology.kubernetes.io/region: r, topology.kubernetes.io/zone: a}
    - name: b-%d
      count: 2
      capacity: {cpu: 4, memory: 8GiB}
      labels: {topology.kubernetes.io/region: r, topology.kubernetes.io/zone: b}
network:
  zones: {cost: 10, bandwidth: 2Gbit/s, list: [{from: a, to: b, cost: 5}]}
workload:
  kind: applications
  apps:
    - name: shop
      cpu: 1
      memory: 1GiB
      bandwidth: 600Mbit/s
      workloads:
        - {name: front, replicas: 1, calls: [cart, ad]}
        - {name: cart, calls: [ad]}
        - {name: ad}
    - name: ring
      cpu: 500m
      calls: all
      workloads: [{name: x}, {name: y}, {name: z}]
)";

Result<Scenario> scenario_with(std::vector<std::string> sets) {
  Result<YamlFile> file = YamlFile::parse(std::string(kHead), "test.yaml");
  if (!file) return file.error();
  for (const std::string& assignment : sets)
    if (const Status set = file->set(assignment); !set) return set.error();
  YamlReader root(*file);
  Scenario scenario = read_scenario(root);
  if (const auto bad = root.finish()) return *bad;
  return scenario;
}

WorldPlan plan_with(const std::vector<std::string>& sets, std::uint64_t seed = 1) {
  const Result<Scenario> scenario = scenario_with(sets);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  return scenario ? expand(*scenario, seed) : WorldPlan{};
}

template <class T>
std::vector<T> objects(const WorldPlan& plan) {
  std::vector<T> all;
  for (const ClusterObject& object : plan.objects)
    if (const T* found = std::get_if<T>(&object)) all.push_back(*found);
  return all;
}

std::string write(const std::string& name, const std::string& text) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
  std::ofstream(path) << text;
  return path;
}

TEST(ApplicationSource, MakesAGroupOfPodsForEveryCopyOfAnApplication) {
  const WorldPlan plan = plan_with({"workload.app=shop", "workload.replicas=2", "workload.copies=2"});
  const std::vector<AppGroup> groups = objects<AppGroup>(plan);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "shop-1");
  EXPECT_EQ(groups[0].members, 5);  // one front, two carts, two ads
  EXPECT_EQ(plan.pods.size(), 10U);
  ASSERT_EQ(groups[0].workloads.size(), 3U);
  EXPECT_EQ(groups[0].workloads[0].dependencies.size(), 2U);
  EXPECT_EQ(groups[0].workloads[0].dependencies[0].workload.selector, "cart");
  for (const PodPlan& pod : plan.pods) EXPECT_FALSE(pod.shape->app_group.empty());
}

TEST(ApplicationSource, SharesAPodsBandwidthAmongAllItSendsTo) {
  const WorldPlan plan = plan_with({"workload.app=shop", "workload.replicas=2", "workload.bandwidth=true"});
  const AppGroup group = objects<AppGroup>(plan).front();
  EXPECT_EQ(group.workloads[0].dependencies[0].min_bandwidth.count, 150'000'000);  // of 600, by four pods
  EXPECT_EQ(group.workloads[1].dependencies[0].min_bandwidth.count, 300'000'000);
}

TEST(ApplicationSource, LetsEverybodyTalkToEverybodyWhereItSaysSo) {
  const AppGroup group = objects<AppGroup>(plan_with({"workload.app=ring"})).front();
  for (const AppWorkload& workload : group.workloads) EXPECT_EQ(workload.dependencies.size(), 2U);
}

TEST(ApplicationSource, KeepsReplicasApartByNodeOrZone) {
  const auto key = [](const WorldPlan& plan) {
    const auto& rules = plan.pods.front().shape->spec.pod_anti_affinity.required;
    return rules.empty() ? std::string() : rules.front().topology_key;
  };
  EXPECT_EQ(key(plan_with({"workload.app=shop"})), "");
  EXPECT_EQ(key(plan_with({"workload.app=shop", "workload.anti_affinity=pod"})), "kubernetes.io/hostname");
  EXPECT_EQ(key(plan_with({"workload.app=shop", "workload.anti_affinity=zone"})), kZoneLabel);
}

TEST(ApplicationSource, TellsWhatPlacesCostDirectionByDirection) {
  const NetworkTopology topology = objects<NetworkTopology>(plan_with({"workload.app=shop"})).front();
  ASSERT_EQ(topology.weights.front().levels.size(), 2U);
  const NetworkTopology::Level& zones = topology.weights.front().levels[1];
  ASSERT_EQ(zones.origins.size(), 2U);
  EXPECT_EQ(zones.origins[0].costs,
            (std::vector<NetworkTopology::Cost>{{"b", 5, BitsPerSecond{2'000'000'000}, {}}}));
  EXPECT_EQ(zones.origins[1].costs,
            (std::vector<NetworkTopology::Cost>{{"a", 10, BitsPerSecond{2'000'000'000}, {}}}));
}

TEST(ApplicationSource, PutsSomebodyElsesPodsOnNodesFirstAndTheSeedSaysWhere) {
  const std::vector<std::string> sets{"workload.app=shop", "workload.background=0.5"};
  const WorldPlan plan = plan_with(sets, 1), same = plan_with(sets, 1), other = plan_with(sets, 2);
  std::vector<std::string> nodes, nodes_again, nodes_of_other;
  const auto gather = [](const WorldPlan& of, std::vector<std::string>& into) {
    for (const PodPlan& pod : of.pods)
      if (!pod.shape->spec.node_name.empty()) into.push_back(pod.shape->spec.node_name);
  };
  gather(plan, nodes);
  gather(same, nodes_again);
  gather(other, nodes_of_other);
  EXPECT_EQ(nodes.size(), 16U);  // half of 16 CPUs, in halves
  EXPECT_EQ(nodes, nodes_again);
  EXPECT_NE(nodes, nodes_of_other);
  EXPECT_LT(plan.pods.front().arrival, plan.pods.back().arrival);
}

TEST(ApplicationSource, RollsOutTogetherOrOneApplicationEachSecond) {
  const WorldPlan together = plan_with({"workload.app=[shop, ring]"});
  for (const PodPlan& pod : together.pods) EXPECT_EQ(pod.arrival, together.pods.front().arrival);
  const WorldPlan in_turn = plan_with({"workload.app=[shop, ring]", "workload.arrivals=one-by-one"});
  std::set<std::pair<Time, std::string>> turns;
  for (const PodPlan& pod : in_turn.pods) turns.emplace(pod.arrival, pod.shape->app_group);
  EXPECT_EQ(turns.size(), 2U);
}

TEST(ApplicationSource, TakesApplicationsAndLatenciesOfFiles) {
  const std::string edges =
      write("edges.csv", "app,src,dst,evidence\nbook,page,reviews,x\nbook,reviews,ratings,x\n");
  const std::string services = write(
      "services.csv", "app,workload,replicas,cpu_req_m,mem_req_mib\nbook,page,2,300,100.5\nbook,idle,1,,\n");
  const std::string rtt =
      write("rtt.csv", "src,dst,rtt_min_ms,rtt_avg_ms\nx,y,1,20.4\ny,x,1,31\nx,x,0,0.1\nx,z,1,0.2\n");
  const WorldPlan plan =
      plan_with({"workload.app=book", "workload.edges=" + edges, "workload.services=" + services,
                 "workload.usual.cpu=150m", "network.regions.trace=" + rtt});
  EXPECT_EQ(plan.pods.size(), 5U);  // two pages, reviews, ratings, and one that talks to nobody
  EXPECT_EQ(plan.nodes.size(), 6U);
  for (const PodPlan& pod : plan.pods)
    EXPECT_EQ(pod.shape->request.cpu.count, pod.shape->app_workload == "page" ? 300 : 150);
  const NetworkTopology::Level regions = objects<NetworkTopology>(plan).front().weights.front().levels[0];
  ASSERT_EQ(regions.origins.size(), 2U);  // nobody measured from z
  EXPECT_EQ(regions.origins[0].costs[0].cost, 20);
  EXPECT_EQ(regions.origins[0].costs[1].cost, 1);  // never free
  EXPECT_EQ(regions.origins[1].costs[0].cost, 31);
}

TEST(ApplicationSource, TakesTheLastWindowOfASeriesAndSoManyPlacesOfIt) {
  const std::string rtt = write("zones.csv",
                                "window_end,region,src_zone,dst_zone,rtt_avg_ms\n2024-01-01,R 1,old,gone,9\n"
                                "2024-01-08,R 1,p,q,0.5\n2024-01-08,R 1,q,p,0.7\n2024-01-08,R 2,s,s,0.1\n");
  const WorldPlan all = plan_with({"workload.app=ring", "network.zones.trace=" + rtt, "network.unit=0.1ms"});
  std::set<std::string> zones;
  for (const NodePlan& node : all.nodes) zones.insert(*node.node.labels.find(kZoneLabel));
  EXPECT_EQ(zones, (std::set<std::string>{"p", "q", "s"}));
  EXPECT_DOUBLE_EQ(all.cost_unit_ms, 0.1);
  EXPECT_EQ(objects<NetworkTopology>(all).front().weights.front().levels[1].origins[0].costs[0].cost, 5);
  const WorldPlan some =
      plan_with({"workload.app=ring", "network.zones.trace=" + rtt, "network.places=2", "nodes.per_place=3"});
  EXPECT_EQ(some.nodes.size(), 6U);
}

TEST(ApplicationSource, SaysWhatIsWrong) {
  const auto error = [](const std::vector<std::string>& sets) {
    const Result<Scenario> scenario = scenario_with(sets);
    return scenario ? std::string("none") : scenario.error().message;
  };
  EXPECT_NE(error({"workload.app=shpo"}).find("did you mean 'shop'"), std::string::npos)
      << error({"workload.app=shpo"});
  EXPECT_NE(error({"workload.app=shop", "workload.edges=/nowhere.csv"}).find("/nowhere.csv"),
            std::string::npos);
  const std::string edges = write("broken.csv", "app,from,to\n");
  EXPECT_NE(error({"workload.app=shop", "workload.edges=" + edges}).find("src"), std::string::npos);
  EXPECT_NE(error({"workload.app=shop", "workload.apps.0.workloads.0.calls=[frnt]"}).find("frnt"),
            std::string::npos);
  EXPECT_NE(error({"workload.app=shop", "workload.sort=Alphabetic"}).find("KahnSort"), std::string::npos);
}

TEST(ApplicationSource, TellsGroupsAndTopologyBeforeAnyPodComes) {
  const WorldPlan plan = plan_with({"workload.app=shop"});
  SimulatedWorld world(plan, Random(1), false);
  std::vector<std::string> seen;
  while (const auto events = world.wait_for_events(Time::max())) {
    for (const ClusterEvent& event : *events) {
      if (std::holds_alternative<ObjectSet>(event)) seen.emplace_back("object");
      if (std::holds_alternative<PodAdded>(event)) seen.emplace_back("pod");
    }
    if (seen.size() >= 5) break;
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"object", "object", "pod", "pod", "pod"}));
}

}  // namespace
}  // namespace evenkeel::simulator
