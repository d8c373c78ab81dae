// What every policy of the registry must do, whatever it is made of.
#include "scheduling/policies/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "scheduling/policies/guarded.h"
#include "scheduling/policies/horizon.h"
#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

enum class Kind { usual, without_rates, with_zero_capacity, equal, one_feasible };

constexpr std::uint32_t kSizes[] = {1, 4, 100, 5000};

// A cluster in the middle of its day: pods run, some have ended before, nodes differ.
TestCluster busy_cluster(std::uint32_t nodes, Kind kind, const SchedulingOptions& options) {
  Random random(nodes);
  TestCluster cluster;
  cluster.options = options;
  for (std::uint32_t slot = 0; slot < nodes; ++slot) {
    const bool same = kind == Kind::equal;
    Node node = test_node(slot, same ? 4000 : 1000 * static_cast<std::int64_t>(2 + random.below(15)));
    if (kind == Kind::without_rates)
      for (std::size_t d = 2; d < kDimensions; ++d) node.capacity.of[d] = 0;
    if (kind == Kind::with_zero_capacity && slot % 3 == 1) {
      node.allocatable.cpu = {0};
      node.capacity = {};
    }
    if (!same && slot % 7 == 3) node.labels.set("topology.kubernetes.io/zone", "b");
    if (!same && slot % 5 == 2) node.taints = {{"spot", "", TaintEffect::prefer_no_schedule}};
    node.unschedulable = kind == Kind::one_feasible && slot != nodes / 2;
    cluster.state.set_node(node);
  }
  for (int i = 0; i < 20; ++i) cluster.history.observe_end(pod_with(spec_asking(100, 1), {1}), 60s);
  if (kind != Kind::equal)
    for (std::uint32_t slot = 0; slot < nodes; slot += 2)
      cluster.add_running({slot}, shape_asking(100, 1 << 20, {slot % 3}),
                          Usage{{random.between(0.1, 0.9), 1e8, 1e6, 1e6, 1e6, 1e6}}, random.between(0, 50));
  cluster.measure(Usage{{0.05, 1e8, 0, 0, 0, 0}});
  return cluster;
}

Pod pod_to_place() {
  PodSpec spec = spec_asking(200, 100 << 20);
  spec.node_affinity.preferred = {{5, {{{"topology.kubernetes.io/zone", SelectorOperator::exists, {}}}, {}}}};
  return test_pod({1, 1}, test_shape(spec, {1}, {{"ReplicaSet", "web", "", true}}));
}

class EveryPolicy : public testing::TestWithParam<std::string_view> {
 protected:
  // "guarded NAME": as a live profile has it, with `horizon` as its rule.
  PolicySetup setup() const {
    constexpr std::string_view kGuarded = "guarded ";
    if (!GetParam().starts_with(kGuarded)) return *set_up_policy(GetParam(), {});
    const std::string_view name = GetParam().substr(kGuarded.size());
    PolicySetup learned = *set_up_policy(name, {});
    learned.policy = std::make_unique<Guarded>(Guarded::Parts{
        std::string(name), "horizon", std::move(learned.policy), std::make_unique<Horizon>(), ""});
    return learned;
  }
  // The choices for so many pods in a row, each placed where the policy says.
  std::vector<std::uint32_t> choices(std::uint32_t nodes, Kind kind, int pods, std::uint64_t seed) const {
    PolicySetup policy = setup();
    TestCluster cluster = busy_cluster(nodes, kind, policy.options);
    const Pod pod = pod_to_place();
    Random random(seed);
    std::vector<std::uint32_t> taken;
    for (int i = 0; i < pods; ++i) {
      const PlacementRequest question = cluster.question(pod);
      if (question.feasible_count == 0) break;
      const auto chosen = policy.policy->choose(question, random);
      if (!chosen) {  // it had better wait, which is an answer for policies that hold back
        EXPECT_TRUE(policy.options.hold_back.on);
        break;
      }
      EXPECT_LT(chosen->slot, question.feasible.size());
      EXPECT_TRUE(question.feasible[chosen->slot]) << "an infeasible node";
      taken.push_back(chosen->slot);
      cluster.add_running(*chosen, pod.shape, question.demand.mean);
    }
    return taken;
  }
};

TEST_P(EveryPolicy, ReturnsAFeasibleNode) {
  for (const std::uint32_t nodes : kSizes)
    for (const Kind kind : {Kind::usual, Kind::without_rates, Kind::equal, Kind::with_zero_capacity})
      EXPECT_FALSE(choices(nodes, kind, 20, 1).empty()) << nodes << " nodes";
}

TEST_P(EveryPolicy, FindsTheOnlyFeasibleNode) {
  for (const std::uint32_t nodes : kSizes) {
    const auto taken = choices(nodes, Kind::one_feasible, 2, 1);
    ASSERT_FALSE(taken.empty()) << nodes << " nodes";
    for (const std::uint32_t slot : taken) EXPECT_EQ(slot, nodes / 2);
  }
}

TEST_P(EveryPolicy, RepeatsItselfForASeed) {
  for (const std::uint32_t nodes : kSizes)
    for (const Kind kind : {Kind::usual, Kind::equal})
      EXPECT_EQ(choices(nodes, kind, 20, 7), choices(nodes, kind, 20, 7)) << nodes << " nodes";
}

TEST_P(EveryPolicy, ExplainsWhatItThenChooses) {
  for (const std::uint32_t nodes : kSizes)
    for (const Kind kind : {Kind::usual, Kind::without_rates, Kind::equal}) {
      PolicySetup policy = setup();
      TestCluster cluster = busy_cluster(nodes, kind, policy.options);
      const Pod pod = pod_to_place();
      const PlacementRequest question = cluster.question(pod);
      const ScoreSheet sheet = policy.policy->explain(question);
      Random random(3);
      const auto chosen = policy.policy->choose(question, random);
      ASSERT_TRUE(chosen);
      ASSERT_FALSE(sheet.rows.empty());
      std::set<std::uint32_t> best;  // ties are broken by lot
      for (std::size_t i = 0; i < sheet.rows.size(); ++i) {
        const ScoreSheet::Row& row = sheet.rows[i];
        ASSERT_TRUE(question.feasible[row.node.slot]);
        ASSERT_EQ(row.parts.size(), sheet.terms.size());
        ASSERT_TRUE(i == 0 || sheet.rows[i - 1].total >= row.total) << "best first";
        if (row.total == sheet.rows.front().total) best.insert(row.node.slot);
      }
      EXPECT_TRUE(best.contains(chosen->slot)) << nodes << " nodes";
    }
}

TEST_P(EveryPolicy, PlacesWithoutMetrics) {
  for (const std::uint32_t nodes : kSizes) {
    PolicySetup policy = setup();
    TestCluster cluster(nodes);
    cluster.options = policy.options;
    const Pod pod = pod_to_place();
    Random random(1);
    EXPECT_TRUE(policy.policy->choose(cluster.question(pod), random)) << nodes << " nodes";
  }
}

TEST_P(EveryPolicy, TakesNodesComingAndGoing) {
  for (const std::uint32_t nodes : {4U, 100U}) {
    PolicySetup policy = setup();
    TestCluster cluster = busy_cluster(nodes, Kind::usual, policy.options);
    const Pod pod = pod_to_place();
    Random random(1);
    ASSERT_TRUE(policy.policy->choose(cluster.question(pod), random));
    cluster.state.set_node(test_node(nodes + 3));  // leaving a gap
    cluster.state.remove_node({0});
    cluster.now += 1min;
    for (int i = 0; i < 20; ++i) {
      const PlacementRequest question = cluster.question(pod);
      const auto chosen = policy.policy->choose(question, random);
      ASSERT_TRUE(chosen);
      EXPECT_TRUE(question.feasible[chosen->slot]) << nodes << " nodes";
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string_view>& info) {
  std::string name;
  for (const char c : info.param) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicy, testing::ValuesIn(policy_names()), test_name);
INSTANTIATE_TEST_SUITE_P(Live, EveryPolicy,
                         testing::Values("guarded evenkeel", "guarded drs", "guarded drs-means",
                                         "guarded ppo-lrt"),
                         test_name);

}  // namespace
}  // namespace evenkeel::scheduling
