#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

PodSpec listens_on(std::vector<ContainerPort> ports) {
  PodSpec spec = spec_asking(0, 0);
  spec.containers.front().ports = std::move(ports);
  return spec;
}

// Whether the second pod may join the first on its node.
bool fits_beside(const PodSpec& there, const PodSpec& wanted) {
  TestCluster cluster(1);
  cluster.add_running({0}, test_shape(there));
  return cluster.passes(kNodePorts, pod_with(wanted)) == "1";
}

TEST(NodePortsFilter, MindsHostPortsOnly) {
  EXPECT_TRUE(fits_beside(listens_on({{0, "TCP", ""}}), listens_on({{0, "TCP", ""}})));
  EXPECT_TRUE(fits_beside(listens_on({{80, "TCP", ""}}), listens_on({})));
  EXPECT_TRUE(fits_beside(listens_on({}), listens_on({{80, "TCP", ""}})));
}

TEST(NodePortsFilter, RejectsTheSamePortAndProtocol) {
  EXPECT_FALSE(fits_beside(listens_on({{80, "TCP", ""}}), listens_on({{80, "TCP", ""}})));
  EXPECT_TRUE(fits_beside(listens_on({{80, "TCP", ""}}), listens_on({{80, "UDP", ""}})));
  EXPECT_TRUE(fits_beside(listens_on({{80, "TCP", ""}}), listens_on({{81, "TCP", ""}})));
  EXPECT_FALSE(fits_beside(listens_on({{80, "TCP", ""}, {443, "TCP", ""}}),
                           listens_on({{1, "TCP", ""}, {443, "TCP", ""}})));
}

TEST(NodePortsFilter, TellsAddressesApartUnlessOneIsAllOfThem) {
  EXPECT_TRUE(fits_beside(listens_on({{80, "TCP", "10.0.0.1"}}), listens_on({{80, "TCP", "10.0.0.2"}})));
  EXPECT_FALSE(fits_beside(listens_on({{80, "TCP", "10.0.0.1"}}), listens_on({{80, "TCP", "10.0.0.1"}})));
  EXPECT_FALSE(fits_beside(listens_on({{80, "TCP", "10.0.0.1"}}), listens_on({{80, "TCP", "0.0.0.0"}})));
  EXPECT_FALSE(fits_beside(listens_on({{80, "TCP", ""}}), listens_on({{80, "TCP", "10.0.0.1"}})));
}

TEST(NodePortsFilter, CountsAnInitContainersPortOnlyIfItStays) {
  PodSpec init = listens_on({});
  init.init_containers = listens_on({{80, "TCP", ""}}).containers;
  EXPECT_TRUE(fits_beside(init, listens_on({{80, "TCP", ""}})));
  init.init_containers.front().restarts_always = true;
  EXPECT_FALSE(fits_beside(init, listens_on({{80, "TCP", ""}})));
}

TEST(NodePortsFilter, ObjectsInKubeSchedulersWords) {
  TestCluster cluster(2);
  cluster.add_running({0}, test_shape(listens_on({{80, "TCP", ""}})));
  const Pod pod = pod_with(listens_on({{80, "TCP", ""}}));
  EXPECT_EQ(cluster.passes(kNodePorts, pod), "01");
  EXPECT_EQ(cluster.objections_of(kNodePorts, pod, {0}),
            std::vector<std::string>{"node(s) didn't have free ports for the requested pod ports"});
}

}  // namespace
}  // namespace evenkeel::scheduling
