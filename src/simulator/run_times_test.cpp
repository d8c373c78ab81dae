#include "simulator/run_times.h"

#include "simulator/test_worlds.h"

namespace evenkeel::simulator {
namespace {

std::string fields(const std::string& table) {
  return R"(
nodes: {list: [{name: n, capacity: {cpu: 1, memory: 1GiB}}]}
workload:
  trace: )" +
         table + R"(
  arrivals: {pods: 2, pattern: at-once}
  apps:
    - {name: gemm, phases: [{seconds: 1, demand: {cpu: 1}}]}
    - {name: atax, phases: [{seconds: 1, demand: {cpu: 1}}, {seconds: 3, demand: {cpu: 1}}]}
)";
}

TEST(RunTimes, AreTheMedianOfEachKernel) {
  const ScratchFile table("times.csv",
                          "kernel,flags7,t_large_s\ngemm,a,5\natax,a,8\ngemm,b,1\ngemm,c,2\natax,b,16\n");
  const auto scenario = scenario_of(fields(table.path()));
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->apps[0].phases[0].seconds.low, 2);
  EXPECT_EQ(scenario->apps[1].phases[0].seconds.low, 3);  // 12 in the proportion of its phases
  EXPECT_EQ(scenario->apps[1].phases[1].seconds.high, 9);
  EXPECT_EQ(scenario->source, "run times of " + table.path() + " (median t_large_s of each kernel)");
}

TEST(RunTimes, NameTheAppThatHasNone) {
  const ScratchFile table("times.csv", "kernel,t_large_s\ngemm,5\n");
  EXPECT_NE(error_of(fields(table.path())).find(table.path() + ": no row has the kernel 'atax'"),
            std::string::npos);
}

TEST(RunTimes, NameTheLineOfATimeThatCannotBe) {
  const ScratchFile table("times.csv", "kernel,t_large_s\ngemm,5\natax,0\n");
  EXPECT_NE(error_of(fields(table.path()))
                .find(table.path() + ":3: t_large_s: expected more than 0 seconds, found 0"),
            std::string::npos);
}

}  // namespace
}  // namespace evenkeel::simulator
