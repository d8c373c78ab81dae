#include "simulator/scenario.h"

#include <gtest/gtest.h>

#include "simulator/test_worlds.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

// Lines 4 to 11 of the file that scenario_of makes.
const std::string kNodes = R"(nodes:
  list:
    - name: ash
      capacity: {cpu: 4, memory: 8GiB}
)";
const std::string kWorkload = R"(workload:
  arrivals: {pods: 3, every: 10s}
  apps:
    - name: web
      phases: [{seconds: 5, demand: {cpu: 1}}]
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(Scenario, IsReadWithDefaultsWhereItSaysNothing) {
  const auto scenario = scenario_of(kNodes + kWorkload);
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->nodes.front().node.allocatable.cpu.count, 4000);
  EXPECT_EQ(scenario->nodes.front().node.allocatable.memory.count, 8LL << 30);
  EXPECT_EQ(scenario->nodes.front().node.max_pods, 110);
  EXPECT_EQ(scenario->apps.front().kind, Behaviour::Kind::fixed_work);
  EXPECT_EQ(scenario->arrivals.pods, 3);
  EXPECT_EQ(scenario->arrivals.every, 10s);
  EXPECT_FALSE(scenario->end);
  EXPECT_EQ(scenario->binding.fail, 0);
}

TEST(Scenario, TakesACapacityForAllocatableToTheLastMillicore) {
  for (const int milli : {1001, 1003, 4021, 7999}) {
    const auto scenario =
        scenario_of(replaced(kNodes, "cpu: 4", "cpu: " + std::to_string(milli) + "m") + kWorkload);
    ASSERT_TRUE(scenario);
    EXPECT_EQ(scenario->nodes.front().node.allocatable.cpu.count, milli);
  }
}

TEST(Scenario, ReadsEverythingANodeAndAnAppMaySay) {
  const auto scenario = scenario_of(R"(
nodes:
  list:
    - name: ash-%d
      count: 3
      capacity: {cpu: 4, memory: 8GiB, receive: 1Gbit/s}
      base: {cpu: 100m}
      allocatable: {cpu: 3500m, memory: 7GiB}
      extended: {nvidia.com/gpu: 2}
      labels: {zone: a}
      taints: [{key: gpu, value: "yes", effect: NoSchedule}]
      max_pods: 20
      joins: 1m
workload:
  scale: 2
  mix: random
  arrivals: {pods: 3, pattern: poisson, every: 10s}
  apps:
    - name: web
      kind: fixed-duration
      weight: 3
      cpu_request: [200m, 500m]
      cpu_limit: [200m, 500m]
      memory_request: 1GiB
      owner: web
      priority: 7
      node_selector: {zone: a}
      tolerations: [{key: gpu, operator: Exists}]
      extended: {nvidia.com/gpu: 1}
      image_size: 100MB
      phases: [{seconds: [5, 10], demand: {cpu: 1}}]
metrics: {every: 30s, delay: 2s, noise: 0.1, missing: 0.2}
binding: {delay: 10ms, jitter: 5ms, fail: 0.1}
kubelet: {start_delay: 1s, pull_rate: 10MB/s, swap: true}
faults: {crashes_per_hour: 2, planned: [{at: 5s, node: 2, kind: leaves}]}
measure: {from: 1m, to: last-arrival}
end: 1h
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const NodeGroup& node = scenario->nodes.front();
  EXPECT_EQ(node.count, 3);
  EXPECT_EQ(node.node.capacity[Dimension::receive], 125e6);
  EXPECT_EQ(node.node.allocatable.extended_count("nvidia.com/gpu"), 2);
  EXPECT_EQ(node.node.taints.front(), (Taint{"gpu", "yes", TaintEffect::no_schedule}));
  EXPECT_EQ(node.joins, 1min);
  const App& app = scenario->apps.front();
  EXPECT_EQ(app.kind, Behaviour::Kind::fixed_duration);
  EXPECT_EQ(app.cpu_request->low, 0.2);
  EXPECT_EQ(app.cpu_request->high, 0.5);
  EXPECT_EQ(app.priority, 7);
  EXPECT_EQ(app.tolerations.front().op, Toleration::Operator::exists);
  EXPECT_EQ(scenario->metrics.delay, 2s);
  EXPECT_EQ(scenario->binding.fail, 0.1);
  EXPECT_TRUE(scenario->kubelet.swap);
  EXPECT_EQ(scenario->planned_faults.front().node, NodeId{2});
  EXPECT_TRUE(scenario->measure_to_last_arrival);
  EXPECT_EQ(scenario->end, 1h);
}

struct Malformed {
  const char* what;  // of kNodes + kWorkload
  const char* by;
  const char* error;  // what the message must begin with
};

TEST(Scenario, NamesFileLineAndFieldOfWhatIsWrong) {
  const Malformed cases[] = {
      {"      capacity:", "      kapacity: 1\n      capacity:",
       "test.yaml:7: nodes.list.0.kapacity: unknown field"},
      {"cpu: 4,", "cpu: many,", "test.yaml:7: nodes.list.0.capacity.cpu: "},
      {"memory: 8GiB", "memory: -8GiB", "test.yaml:7: nodes.list.0.capacity.memory: "},
      {"cpu: 4, memory: 8GiB", "cpu: 4",
       "test.yaml:7: nodes.list.0.capacity: expected cpu and memory above 0"},
      {"8GiB}", "8GiB}\n      base: {cpu: 5}",
       "test.yaml:8: nodes.list.0.base: expected less cpu than the capacity"},
      {"    - name: ash\n", "    - max_pods: 3\n", "test.yaml:6: nodes.list.0"},
      {"8GiB}", "8GiB}\n      base: {memory: 9GiB}", "test.yaml:8: nodes.list.0.base: "},
      {"8GiB}", "8GiB}\n      taints: [{key: a, effect: Never}]",
       "test.yaml:8: nodes.list.0.taints.0.effect: "},
      {"8GiB}\n", "8GiB}\n  count: 0\n", "test.yaml:8: nodes.count: "},
      {"pods: 3", "pods: three", "test.yaml:9: workload.arrivals.pods: "},
      {"pods: 3", "pods: -3", "test.yaml:9: workload.arrivals.pods: "},
      {", every: 10s", "", "test.yaml:9: workload.arrivals.every: "},
      {"every: 10s", "every: 0s", "test.yaml:9: workload.arrivals.every: "},
      {"every: 10s", "every: 10s, pattern: bursty", "test.yaml:9: workload.arrivals.pattern: "},
      {"seconds: 5, ", "", "test.yaml:12: workload.apps.0.phases.0.seconds: "},
      {"seconds: 5", "seconds: [9, 5]",
       "test.yaml:12: workload.apps.0.phases.0.seconds: expected [low, high]"},
      {"seconds: 5", "seconds: [1, 2, 3]",
       "test.yaml:12: workload.apps.0.phases.0.seconds: expected one value or [low, high]"},
      {"phases: [{seconds: 5, demand: {cpu: 1}}]", "phases: []",
       "test.yaml:12: workload.apps.0.phases: expected at least one phase"},
      {"demand: {cpu: 1}", "demand: {gpu: 1}",
       "test.yaml:12: workload.apps.0.phases.0.demand.gpu: unknown field"},
      {"- name: web", "- name: web\n      kind: eternal", "test.yaml:12: workload.apps.0.kind: "},
      {"- name: web", "- name: web\n      kind: endless",
       "test.yaml:1: end: expected a time: an app that runs endlessly needs one"},
      {"- name: web", "- name: web\n      noise: 4", "test.yaml:12: workload.apps.0.noise: "},
      {"- name: web", "- name: web\n      reference_cpu: 500m",
       "test.yaml:12: workload.apps.0.reference_cpu: "},
      {"workload:", "binding: {fail: 1}\nworkload:", "test.yaml:8: binding.fail: "},
      {"workload:", "faults: {planned: [{at: 1s, node: 1, kind: crashes}]}\nworkload:",
       "test.yaml:8: faults.planned.0.node: "},
      {"workload:", "measure: {from: 10s, to: 5s}\nworkload:", "test.yaml:8: measure.to: "},
      {"workload:", "metrics: 5s\nworkload:", "test.yaml:8: metrics"},
      {"workload:", "colour: green\nworkload:", "test.yaml:8: colour: unknown field"},
  };
  for (const Malformed& c : cases) {
    const std::string error = error_of(replaced(kNodes + kWorkload, c.what, c.by));
    EXPECT_EQ(error.substr(0, std::string(c.error).size()), c.error) << "in full: " << error;
  }
}

TEST(Scenario, NeedsNodesAndApps) {
  EXPECT_NE(error_of(kWorkload).find("nodes.list: expected at least one node"), std::string::npos)
      << error_of(kWorkload);
  const std::string no_apps = kNodes + "workload: {arrivals: {pods: 1, every: 1s}}\n";
  EXPECT_NE(error_of(no_apps).find("workload.apps: expected at least one app"), std::string::npos)
      << error_of(no_apps);
}

TEST(Scenario, IsOfItsKindAndVersion) {
  for (const char* text :
       {"kind: Scenario\nname: x\n", "apiVersion: evenkeel.io/v2\nkind: Scenario\nname: x\n",
        "apiVersion: evenkeel.io/v1alpha1\nkind: Deployment\nname: x\n",
        "apiVersion: evenkeel.io/v1alpha1\nkind: Scenario\n"}) {
    const auto file = YamlFile::parse(text + kNodes + kWorkload, "test.yaml");
    ASSERT_TRUE(file);
    YamlReader root(*file);
    read_scenario(root);
    EXPECT_TRUE(root.finish()) << text;
  }
}

TEST(Scenario, NamesTheOverrideWhereThatIsWrong) {
  const std::string text = "apiVersion: evenkeel.io/v1alpha1\nkind: Scenario\nname: x\n" + kNodes + kWorkload;
  const auto error_after = [&](const std::string& assignment) -> std::string {
    auto file = YamlFile::parse(text, "test.yaml");
    if (const Status set = file->set(assignment); !set) return set.error().message;
    YamlReader root(*file);
    read_scenario(root);
    const auto bad = root.finish();
    return bad ? bad->message : "no error";
  };
  EXPECT_EQ(error_after("nodes.count=3"), "no error");
  EXPECT_EQ(error_after("workload.apps.0.phases.0.seconds=7"), "no error");
  for (const char* wrong :
       {"nodes.count=-1", "workload.arrivals.pods=x", "nodes.cuont=3", "workload.apps.5.name=x", "nonsense"})
    EXPECT_NE(error_after(wrong).find("--set"), std::string::npos) << error_after(wrong);
}

TEST(Scenario, MultipliesASingleKindOfNode) {
  EXPECT_EQ(world_of(kNodes + "  count: 5\n" + kWorkload, 1).nodes.size(), 5U);
  const std::string two = replaced(kNodes, "    - name: ash",
                                   "    - {name: oak, capacity: {cpu: 1, memory: 1GiB}}\n    - name: ash");
  EXPECT_NE(error_of(two + "  count: 5\n" + kWorkload).find("nodes.count: expected a list of one kind"),
            std::string::npos);
}

}  // namespace
}  // namespace evenkeel::simulator
