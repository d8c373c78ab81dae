#include "simulator/pod_trace_source.h"

#include "simulator/test_worlds.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
    "scheduled_time\n";
constexpr const char* kTwoNodes =
    "sn,cpu_milli,memory_mib,gpu,model\nn1,32000,65536,0,\nn2,96000,393216,8,G2\n";

std::string trace_fields(const ScratchFile& nodes, const ScratchFile& pods, const std::string& more = "") {
  return "nodes: {trace: " + nodes.path() + "}\nworkload: {kind: pod-trace, trace: " + pods.path() + more +
         "}\n";
}

// What reading these pods ends with, the path left out.
std::string pods_error(const std::string& rows, const std::string& more = "") {
  const ScratchFile nodes("nodes.csv", kTwoNodes), pods("pods.csv", kPods + rows);
  std::string message = error_of(trace_fields(nodes, pods, more));
  const std::size_t at = message.find(pods.path());
  return at == std::string::npos ? message : message.replace(at, pods.path().size(), "pods");
}

class PodTraceSourceTest : public testing::Test {
 protected:
  ScratchFile nodes_{"nodes.csv", kTwoNodes};
  ScratchFile pods_{"pods.csv", std::string(kPods) +
                                    "a,4000,8192,1,500,,LS,Running,100,700,110\n"
                                    "b,4000,8192,1,500,,BE,Failed,200,260,\n"
                                    "c,8000,16384,2,1000,G2|G3,LS,Running,400,,400\n"};
};

TEST_F(PodTraceSourceTest, KeepsRequestsArrivalsAndLives) {
  const WorldPlan plan = world_of(trace_fields(nodes_, pods_), 1);
  ASSERT_EQ(plan.pods.size(), 3U);
  EXPECT_EQ(plan.pods[0].arrival, Time{});  // the first pod begins the world
  EXPECT_EQ(plan.pods[1].arrival, Time{} + 100s);
  EXPECT_EQ(plan.pods[0].shape->request.cpu.count, 4000);
  EXPECT_EQ(plan.pods[0].shape->request.memory.count, std::int64_t{8192} << 20);
  EXPECT_EQ(plan.pods[0].shape->request.extended_count("evenkeel.io/gpu-milli"), 500);
  EXPECT_EQ(plan.pods[2].shape->request.extended_count("evenkeel.io/gpu-milli"), 2000);
  EXPECT_EQ(plan.pods[0].behaviour->ideal_seconds(), 590);  // from when it was scheduled
  EXPECT_EQ(plan.pods[1].behaviour->ideal_seconds(), 60);   // from when it was created
  EXPECT_EQ(plan.pods[2].behaviour->kind, Behaviour::Kind::endless);
  EXPECT_EQ(plan.end, Time{} + 300s + 10min);
}

TEST_F(PodTraceSourceTest, MakesOneWorkloadOfOneShape) {
  const WorldPlan plan = world_of(trace_fields(nodes_, pods_), 1);
  EXPECT_EQ(plan.workloads, (std::vector<std::string>{"4000m-8192Mi-500gpu", "8000m-16384Mi-2000gpu"}));
  EXPECT_EQ(plan.pods[0].shape->workload, plan.pods[1].shape->workload);
}

TEST_F(PodTraceSourceTest, OffersGpusAndTheirModelOnNodes) {
  const WorldPlan plan = world_of(trace_fields(nodes_, pods_), 1);
  ASSERT_EQ(plan.nodes.size(), 2U);
  EXPECT_EQ(plan.nodes[1].node.allocatable.extended_count("evenkeel.io/gpu-milli"), 8000);
  EXPECT_EQ(*plan.nodes[1].node.labels.find("evenkeel.io/gpu-model"), "G2");
  const auto& required = plan.pods[2].shape->spec.node_affinity.required;
  ASSERT_TRUE(required);
  EXPECT_TRUE(matches((*required)[0].expressions[0], plan.nodes[1].node.labels));
  EXPECT_FALSE(matches((*required)[0].expressions[0], plan.nodes[0].node.labels));
}

TEST_F(PodTraceSourceTest, TakesAWindowAndCompressesArrivals) {
  const WorldPlan plan = world_of(trace_fields(nodes_, pods_, ", from: 150, to: 400, scale: 10"), 1);
  ASSERT_EQ(plan.pods.size(), 1U);
  EXPECT_EQ(plan.pods[0].name, "b");
  EXPECT_EQ(plan.pods[0].arrival, Time{} + 5s);
  EXPECT_EQ(plan.pods[0].behaviour->ideal_seconds(), 60);
}

TEST_F(PodTraceSourceTest, LetsPodsStayWhereLivesAreNotWanted) {
  for (const PodPlan& pod : world_of(trace_fields(nodes_, pods_, ", lifetimes: none"), 1).pods)
    EXPECT_EQ(pod.behaviour->kind, Behaviour::Kind::endless);
}

TEST_F(PodTraceSourceTest, UsesNoMoreThanWasRequested) {
  for (const PodPlan& pod : world_of("workload: {kind: pod-trace, length: 30m}\n", 1).pods) {
    const Usage& demand = pod.behaviour->phases[0].demand;
    EXPECT_LE(demand[Dimension::cpu] * 1000, static_cast<double>(pod.shape->request.cpu.count));
    EXPECT_LE(demand[Dimension::memory], static_cast<double>(pod.shape->request.memory.count));
    EXPECT_GT(demand[Dimension::write], 0);
  }
}

TEST_F(PodTraceSourceTest, MakesTheSameWorldOfTheSameSeed) {
  for (const std::string& fields :
       {trace_fields(nodes_, pods_), std::string("workload: {kind: pod-trace, length: 30m}\n")}) {
    EXPECT_TRUE(same(world_of(fields, 3), world_of(fields, 3)));
    EXPECT_FALSE(same(world_of(fields, 3), world_of(fields, 4)));
  }
}

TEST_F(PodTraceSourceTest, SamplesNodesOfATraceBySeed) {
  std::string rows = "sn,cpu_milli,memory_mib\n";
  for (int i = 0; i < 50; ++i) rows += "n" + std::to_string(i) + ",1000,1000\n";
  const ScratchFile many("many.csv", rows);
  const std::string fields =
      "nodes: {count: 5, trace: " + many.path() + "}\nworkload: {kind: pod-trace, length: 1m}\n";
  const auto names = [&](std::uint64_t seed) {
    std::vector<std::string> result;
    for (const NodePlan& node : world_of(fields, seed).nodes) result.push_back(node.node.name);
    return result;
  };
  EXPECT_EQ(names(1).size(), 5U);
  EXPECT_EQ(names(1), names(1));
  EXPECT_NE(names(1), names(2));
}

// The load that the generator aims at is there from the fill on, whatever the size of the cluster.
TEST_F(PodTraceSourceTest, KeepsGeneratedClustersAtTheirLoad) {
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const WorldPlan plan = world_of("workload: {kind: pod-trace, load: 0.7}\n", seed);
    double gpus = 0, used = 0;
    for (const NodePlan& node : plan.nodes)
      gpus += static_cast<double>(node.node.allocatable.extended_count("evenkeel.io/gpu-milli"));
    const double from = 600, to = 6 * 3600;
    for (const PodPlan& pod : plan.pods) {
      const double begins = to_seconds(pod.arrival.time_since_epoch()),
                   ends = begins + pod.behaviour->ideal_seconds();
      const double within = std::max(0.0, std::min(ends, to) - std::max(begins, from));
      used += within / (to - from) *
              static_cast<double>(pod.shape->request.extended_count("evenkeel.io/gpu-milli"));
    }
    EXPECT_GT(used / gpus, 0.5);
    EXPECT_LT(used / gpus, 0.9);
    mean += used / gpus / 5;
  }
  EXPECT_NEAR(mean, 0.7, 0.07);
}

TEST_F(PodTraceSourceTest, SaysWhereItsPodsCameFromAndThatUseIsDrawn) {
  EXPECT_EQ(world_of(trace_fields(nodes_, pods_), 1).source, "3 pods of " + pods_.path() + " on nodes of " +
                                                                 nodes_.path() +
                                                                 "; use is drawn as a share of requests");
  EXPECT_EQ(world_of("workload: {kind: pod-trace}\n", 1).source,
            "generated pods on generated nodes; use is drawn as a share of requests");
}

TEST_F(PodTraceSourceTest, NamesTheLineOfABadPod) {
  const std::string place = "test.yaml:5: workload.trace: pods:2: ";
  EXPECT_EQ(pods_error("a,-1,1,0,0,,LS,R,0,1,0\n"), place + "cpu_milli: expected 0 to 10000000, found -1");
  EXPECT_EQ(pods_error("a,1,x,0,0,,LS,R,0,1,0\n"), place + "memory_mib: expected a whole number, found 'x'");
  EXPECT_EQ(pods_error("a,1,1,1,2000,,LS,R,0,1,0\n"), place + "gpu_milli: expected 0 to 1000, found 2000");
  EXPECT_EQ(pods_error("a,1,1,0,0,,LS,R,9,1,\n"),
            place + "deletion_time: expected no time before the pod's start");
  EXPECT_EQ(pods_error("a,1,1,0,0,,LS,R,9,10,8\n"),
            place + "scheduled_time: expected no time before the pod's creation");
  EXPECT_EQ(pods_error("a,1,1,0,0,,LS,R,0,1,0\na,1,1,0,0,,LS,R,0,1,0\n"),
            "test.yaml:5: workload.trace: pods:3: name: 'a' comes twice");
}

TEST_F(PodTraceSourceTest, NamesTheLineOfABadNode) {
  const ScratchFile bad("bad.csv", "sn,cpu_milli,memory_mib\nn1,1000,1000\nn2,0,1000\n");
  EXPECT_EQ(error_of(trace_fields(bad, pods_)),
            "test.yaml:4: nodes.trace: " + bad.path() + ":3: cpu_milli: expected more than 0");
}

TEST_F(PodTraceSourceTest, RefusesWindowsWithoutPods) {
  const std::string row = "a,1,1,0,0,,LS,R,0,1,0\n";
  EXPECT_EQ(pods_error(row, ", from: 100"),
            "test.yaml:5: workload.from: no pod of the trace was created in that window");
  EXPECT_EQ(pods_error(row, ", from: 100, to: 50"),
            "test.yaml:5: workload.to: expected more than 100s, found '50'");
  EXPECT_EQ(error_of("workload: {kind: pod-trace, from: 5}\n"),
            "test.yaml:4: workload.from: expected a `trace` to take a window of");
}

}  // namespace
}  // namespace evenkeel::simulator
