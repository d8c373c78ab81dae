#include <gtest/gtest.h>

#include "base/random.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

std::string message_for(const TestCluster& cluster, const PodSpec& spec) {
  const Pod pod = pod_with(spec);
  return unschedulable_message({pod, cluster.state, {}, cluster.options});
}

TEST(UnschedulableMessage, SaysWhatKubeSchedulerSays) {
  TestCluster cluster(3);
  Node node = test_node(1);
  node.taints = {{"gpu", "yes", TaintEffect::no_schedule}};
  cluster.state.set_node(node);
  EXPECT_EQ(message_for(cluster, spec_asking(5000, 0)),
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.");
}

TEST(UnschedulableMessage, CountsEveryReasonOfANodeAndSortsThePhrasesAsText) {
  TestCluster cluster(12);
  Node node = test_node(0, 1000);
  node.unschedulable = true;
  cluster.state.set_node(node);
  cluster.state.set_node(test_node(1, 100'000));
  // As text: "1 …" < "10 …" < "11 …".
  EXPECT_EQ(
      message_for(cluster, spec_asking(5000, 9LL << 30)),
      "0/12 nodes are available: 1 node(s) were unschedulable, 10 Insufficient cpu, 11 Insufficient memory.");
}

TEST(UnschedulableMessage, HearsTheFirstFilterThatObjectsOnly) {
  TestCluster cluster(1);
  Node node = test_node(0, 1);
  node.unschedulable = true;
  cluster.state.set_node(node);
  EXPECT_EQ(message_for(cluster, spec_asking(5000, 0)),
            "0/1 nodes are available: 1 node(s) were unschedulable.");
}

TEST(UnschedulableMessage, CountsOnlyNodesThatAreThere) {
  TestCluster cluster(3);
  cluster.state.remove_node({1});
  EXPECT_EQ(message_for(cluster, spec_asking(5000, 0)), "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(message_for(TestCluster(), spec_asking(1, 0)), "no nodes available to schedule pods");
}

TEST(UnsupportedFeature, IsNamedAndNeverGuessed) {
  PodSpec spec;
  EXPECT_EQ(unsupported_feature(spec), "");
  spec.resource_claims = {"gpu"};
  EXPECT_EQ(unsupported_feature(spec), "dynamic resource claims");
}

TEST(Filters, AreInKubeSchedulersOrder) {
  std::string order;
  for (const Filter& filter : all_filters()) order += std::string(filter.plugin) + " ";
  EXPECT_EQ(order,
            "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit UseFit "
            "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity "
            "NodeDeclaredFeatures NetworkOverhead NodeNetworkCostFit NetworkFit ");
}

// --- the whole field at once says what is said node by node -----------------------------------

PodSpec random_spec(Random& random) {
  PodSpec spec = spec_asking(static_cast<std::int64_t>(random.below(3000)),
                             static_cast<std::int64_t>(random.below(4LL << 30)));
  if (random.chance(0.1)) spec.containers.front().requests = {};
  if (random.chance(0.2))
    spec.containers.front().requests.set_extended("gpu", 1 + static_cast<std::int64_t>(random.below(2)));
  if (random.chance(0.2)) spec.containers.front().requests.ephemeral_storage = {50};
  if (random.chance(0.3))
    spec.containers.front().ports = {{static_cast<std::int32_t>(80 + random.below(2)), "TCP", ""}};
  if (random.chance(0.3))
    spec.tolerations = {{"taint", Toleration::Operator::exists, "", TaintEffect::no_schedule, {}}};
  if (random.chance(0.1)) spec.tolerations.push_back({"", Toleration::Operator::exists, "", {}, {}});
  if (random.chance(0.2)) spec.node_selector = {{"zone", random.chance(0.5) ? "a" : "b"}};
  if (random.chance(0.2)) spec.node_affinity.required = {{{{"zone", SelectorOperator::not_in, {"a"}}}, {}}};
  if (random.chance(0.1)) spec.node_name = "node-" + std::to_string(random.below(8));
  return spec;
}

TEST(Filters, AnswerForTheWholeFieldAsTheyDoForEachNode) {
  Random random(11);
  std::size_t rejected = 0, accepted = 0;
  for (int round = 0; round < 300; ++round) {
    TestCluster cluster;
    const auto nodes = static_cast<std::uint32_t>(1 + random.below(40));  // across the width of any vector
    for (std::uint32_t slot = 0; slot < nodes; ++slot) {
      Node node = test_node(slot, static_cast<std::int64_t>(random.below(6000)));
      if (random.chance(0.3)) node.labels = {{"zone", random.chance(0.5) ? "a" : "b"}};
      if (random.chance(0.2)) node.taints = {{"taint", "", static_cast<TaintEffect>(random.below(3))}};
      if (random.chance(0.3)) node.allocatable.set_extended("gpu", 2);
      if (random.chance(0.5)) node.allocatable.ephemeral_storage = {100};
      node.unschedulable = random.chance(0.1);
      node.max_pods = static_cast<std::int64_t>(random.below(6));
      cluster.state.set_node(node);
    }
    for (std::uint32_t i = 0; i < 2 * nodes; ++i)
      cluster.add_running({static_cast<std::uint32_t>(random.below(nodes))}, test_shape(random_spec(random)),
                          Usage{{random.between(0, 2), 0, 0, 0, 1e7, 0}});
    if (random.chance(0.3)) cluster.state.remove_node({0});
    cluster.options.by_use.on = random.chance(0.3);

    const Pod pod = pod_with(random_spec(random));
    Demand demand;
    demand.mean[Dimension::cpu] = random.between(0, 2);
    demand.variance[Dimension::cpu] = random.between(0, 1);
    const PlacementRequest question = cluster.question(pod, demand);
    const FilterInput input{pod, cluster.state, demand, cluster.options};
    for (std::uint32_t slot = 0; slot < nodes; ++slot) {
      const bool fine = cluster.state.has_node({slot}) && objections(input, {slot}).empty();
      ASSERT_EQ(question.feasible[slot] != 0, fine) << "round " << round << " node " << slot;
      ++(fine ? accepted : rejected);
    }
  }
  EXPECT_GT(rejected, 500U);
  EXPECT_GT(accepted, 500U);
}

}  // namespace
}  // namespace evenkeel::scheduling
