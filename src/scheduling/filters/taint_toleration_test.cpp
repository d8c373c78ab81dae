#include <gtest/gtest.h>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using enum TaintEffect;
using Operator = Toleration::Operator;

TestCluster with_taint(Taint taint) {
  TestCluster cluster(2);
  Node node = test_node(1);
  node.taints = {std::move(taint)};
  cluster.state.set_node(node);
  return cluster;
}

Pod tolerating(std::vector<Toleration> tolerations) {
  PodSpec spec;
  spec.tolerations = std::move(tolerations);
  return pod_with(spec);
}

TEST(TaintTolerationFilter, KeepsPodsOffWhatTheyDoNotTolerate) {
  EXPECT_EQ(with_taint({"gpu", "yes", no_schedule}).passes(kTaintToleration, tolerating({})), "10");
  EXPECT_EQ(with_taint({"gpu", "yes", no_execute}).passes(kTaintToleration, tolerating({})), "10");
  EXPECT_EQ(with_taint({"gpu", "yes", prefer_no_schedule}).passes(kTaintToleration, tolerating({})), "11");
}

TEST(TaintTolerationFilter, NeedsEveryTaintTolerated) {
  TestCluster cluster(1);
  Node node = test_node(0);
  node.taints = {{"a", "", no_schedule}, {"b", "", no_schedule}};
  cluster.state.set_node(node);
  EXPECT_EQ(cluster.passes(kTaintToleration, tolerating({{"a", Operator::exists, "", {}, {}}})), "0");
  EXPECT_EQ(cluster.passes(kTaintToleration, tolerating({{"a", Operator::exists, "", {}, {}},
                                                         {"b", Operator::exists, "", {}, {}}})),
            "1");
}

TEST(TaintTolerationFilter, ObjectsWithTheTaint) {
  EXPECT_EQ(with_taint({"gpu", "yes", no_schedule}).objections_of(kTaintToleration, tolerating({}), {1}),
            std::vector<std::string>{"node(s) had untolerated taint(s)"});
}

TEST(Tolerates, ByKeyValueAndEffect) {
  const Taint taint{"gpu", "yes", no_schedule};
  const auto by = [&](const Toleration& toleration) { return tolerates({&toleration, 1}, taint); };
  EXPECT_TRUE(by({"gpu", Operator::equal, "yes", no_schedule, {}}));
  EXPECT_TRUE(by({"gpu", Operator::equal, "yes", {}, {}}));  // no effect: every effect
  EXPECT_FALSE(by({"gpu", Operator::equal, "no", no_schedule, {}}));
  EXPECT_FALSE(by({"gpu", Operator::equal, "yes", no_execute, {}}));
  EXPECT_FALSE(by({"cpu", Operator::equal, "yes", no_schedule, {}}));
  EXPECT_TRUE(by({"gpu", Operator::exists, "", no_schedule, {}}));
  EXPECT_TRUE(by({"", Operator::exists, "", {}, {}}));  // no key: every key
  EXPECT_FALSE(by({"", Operator::exists, "", no_execute, {}}));
  EXPECT_FALSE(tolerates({}, taint));
}

}  // namespace
}  // namespace evenkeel::scheduling
