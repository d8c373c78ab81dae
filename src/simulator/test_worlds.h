// What the tests of worlds share: files that go away, scenarios from text, plans compared.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/yaml_file.h"
#include "simulator/scenario.h"

namespace evenkeel::simulator {

// A file for as long as it is in scope. Its name begins with its test's: tests run beside each other.
class ScratchFile {
 public:
  ScratchFile(const std::string& name, const std::string& text) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + test->test_suite_name() + "." + test->name() + "." + name;
    EXPECT_TRUE(write_file(path_, text));
  }
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The scenario, or the error it ends with.
inline Result<Scenario> scenario_of(const std::string& fields) {
  const auto file =
      YamlFile::parse("apiVersion: evenkeel.io/v1alpha1\nkind: Scenario\nname: test\n" + fields, "test.yaml");
  if (!file) return file.error();
  YamlReader root(*file);
  Scenario scenario = read_scenario(root);
  if (const auto bad = root.finish()) return *bad;
  return scenario;
}

inline std::string error_of(const std::string& fields) {
  const auto scenario = scenario_of(fields);
  return scenario ? "no error" : scenario.error().message;
}

inline WorldPlan world_of(const std::string& fields, std::uint64_t seed) {
  const auto scenario = scenario_of(fields);
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? expand(*scenario, seed) : WorldPlan{};
}

inline bool same(const Behaviour& a, const Behaviour& b) {
  const auto equal = [](const DemandPhase& x, const DemandPhase& y) {
    return x.seconds == y.seconds && x.demand == y.demand;
  };
  return a.kind == b.kind && a.series == b.series &&
         std::equal(a.phases.begin(), a.phases.end(), b.phases.begin(), b.phases.end(), equal);
}

inline bool same(const WorldPlan& a, const WorldPlan& b) {
  const auto nodes = [](const NodePlan& x, const NodePlan& y) {
    return x.node == y.node && x.base == y.base && x.joins == y.joins;
  };
  const auto pods = [](const PodPlan& x, const PodPlan& y) {
    return x.arrival == y.arrival && x.name == y.name && x.shape->spec == y.shape->spec &&
           x.shape->workload == y.shape->workload && x.image_size == y.image_size &&
           same(*x.behaviour, *y.behaviour);
  };
  const auto faults = [](const NodeFault& x, const NodeFault& y) {
    return x.at == y.at && x.node == y.node && x.kind == y.kind;
  };
  const auto samples = [](const WorkloadSample& x, const WorkloadSample& y) {
    return x.workload == y.workload && x.measured == y.measured && x.usage == y.usage;
  };
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), nodes) &&
         std::equal(a.pods.begin(), a.pods.end(), b.pods.begin(), b.pods.end(), pods) &&
         std::equal(a.faults.begin(), a.faults.end(), b.faults.begin(), b.faults.end(), faults) &&
         std::equal(a.history.begin(), a.history.end(), b.history.begin(), b.history.end(), samples) &&
         a.workloads == b.workloads && a.trace_step == b.trace_step && a.measure_from == b.measure_from &&
         a.measure_to == b.measure_to && a.end == b.end && a.source == b.source;
}

}  // namespace evenkeel::simulator
