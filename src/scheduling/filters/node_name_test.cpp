#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

TEST(NodeNameFilter, LetsAPodPassWhereItAsksToBe) {
  const TestCluster cluster(3);
  PodSpec spec;
  EXPECT_EQ(cluster.passes(kNodeName, pod_with(spec)), "111");
  spec.node_name = "node-1";
  EXPECT_EQ(cluster.passes(kNodeName, pod_with(spec)), "010");
  spec.node_name = "node-10";
  EXPECT_EQ(cluster.passes(kNodeName, pod_with(spec)), "000");
}

TEST(NodeNameFilter, ObjectsInKubeSchedulersWords) {
  PodSpec spec;
  spec.node_name = "node-1";
  EXPECT_EQ(TestCluster(2).objections_of(kNodeName, pod_with(spec), {0}),
            std::vector<std::string>{"node(s) didn't match the requested node name"});
}

}  // namespace
}  // namespace evenkeel::scheduling
