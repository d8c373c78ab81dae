#include "scheduling/policies/evenkeel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

constexpr WorkloadId kBatch{1};

Demand uses(const Usage& mean) {
  Demand demand;
  demand.mean = mean;
  return demand;
}

// Runs of the batch workload last a minute, and history has shown it.
void teach(TestCluster& cluster) {
  for (int i = 0; i < 50; ++i) cluster.history.observe_end(pod_with(spec_asking(100, 1), kBatch), 60s);
}

Pod batch_pod() { return pod_with(spec_asking(100, 1), kBatch); }

// A scorer that adds `per_unit` times the node's first feature, and nothing else.
learning::SharedScorer leaning(double per_unit) {
  learning::SharedScorer scorer(EvenkeelEncoding::shape({2}));
  const learning::Network::Layer& first = scorer.network().layers().front();
  const learning::Network::Layer& last = scorer.network().layers().back();
  scorer.parameters()[first.weights + static_cast<std::size_t>(EvenkeelEncoding::kItem) * 2] = 1;
  scorer.parameters()[last.weights] = per_unit;
  return scorer;
}

learning::Model model_of(const learning::SharedScorer& scorer) {
  learning::Model model;
  model.encoding = EvenkeelEncoding::kName;
  model.networks.push_back(
      {"scorer", scorer.network().shape(), {scorer.parameters().begin(), scorer.parameters().end()}});
  return model;
}

TestCluster two_nodes() {
  TestCluster cluster(2);
  teach(cluster);
  cluster.add_running({0}, shape_asking(100, 1, kBatch), Usage{{0.4, 1e8, 0, 0, 0, 0}}, 5);
  cluster.add_running({1}, shape_asking(100, 1, kBatch), Usage{{0.3, 1e8, 0, 0, 0, 0}}, 5);
  cluster.measure();
  return cluster;
}

NodeId choice(PlacementPolicy& policy, TestCluster& cluster, const Pod& pod, const Demand& demand) {
  Random random(1);
  return *policy.choose(cluster.question(pod, demand), random);
}

TEST(Evenkeel, ChoosesAsHorizonDoesWhereNothingWasLearnt) {
  TestCluster cluster = two_nodes();
  const Demand demand = uses(Usage{{0.2, 1e8, 0, 0, 0, 0}});
  Evenkeel nothing_learnt{learning::SharedScorer(EvenkeelEncoding::shape({4}))};
  Horizon horizon;
  const Pod pod = batch_pod();
  EXPECT_EQ(choice(nothing_learnt, cluster, pod, demand), choice(horizon, cluster, pod, demand));
}

TEST(Evenkeel, AddsWhatItLearntToHorizonsScore) {
  TestCluster cluster = two_nodes();
  const Demand demand = uses(Usage{{0.02, 1e7, 0, 0, 0, 0}});
  const Pod pod = batch_pod();
  Horizon horizon;
  EXPECT_EQ(choice(horizon, cluster, pod, demand), NodeId{1});  // the emptier one
  Evenkeel fond_of_load(leaning(50));
  EXPECT_EQ(choice(fond_of_load, cluster, pod, demand), NodeId{0});
  const ScoreSheet sheet = fond_of_load.explain(cluster.question(pod, demand));
  ASSERT_EQ(sheet.terms, (std::vector<std::string>{"horizon", "learned"}));
  for (const ScoreSheet::Row& row : sheet.rows)
    EXPECT_NEAR(row.parts[0] + row.parts[1], row.total, 1e-4 * std::abs(row.total));
}

TEST(Evenkeel, LeavesANodeBehindThatHorizonFindsFarWorse) {
  TestCluster cluster(2);
  teach(cluster);
  cluster.add_running({0}, shape_asking(100, 1, kBatch), Usage{{3.5, 1e8, 0, 0, 0, 0}}, 5);
  cluster.measure();
  Evenkeel fond_of_load(leaning(1000));
  const Pod pod = batch_pod();
  EXPECT_EQ(choice(fond_of_load, cluster, pod, uses(Usage{{1, 1e8, 0, 0, 0, 0}})), NodeId{1});
}

TEST(Evenkeel, LeavesWhatRunsForEverToHorizon) {
  TestCluster cluster = two_nodes();
  const Demand demand = uses(Usage{{0.02, 1e7, 0, 0, 0, 0}});
  const Pod endless = pod_with(spec_asking(100, 1), WorkloadId{7});  // nobody has seen one end
  Evenkeel fond_of_load(leaning(50));
  Horizon horizon;
  EXPECT_EQ(choice(fond_of_load, cluster, endless, demand), choice(horizon, cluster, endless, demand));
}

TEST(Evenkeel, LeavesAPodWhoseLifeIsAnyonesGuessToHorizon) {
  TestCluster cluster = two_nodes();
  constexpr WorkloadId kVague{8};
  for (int i = 0; i < 25; ++i) {
    cluster.history.observe_end(pod_with(spec_asking(100, 1), kVague), 30s);
    cluster.history.observe_end(pod_with(spec_asking(100, 1), kVague), 120s);
  }
  const Demand demand = uses(Usage{{0.02, 1e7, 0, 0, 0, 0}});
  const Pod pod = pod_with(spec_asking(100, 1), kVague);
  Evenkeel fond_of_load(leaning(50));
  Horizon horizon;
  EXPECT_EQ(choice(fond_of_load, cluster, pod, demand), choice(horizon, cluster, pod, demand));
}

TEST(Evenkeel, DecidesByKubeDefaultWithoutFreshMetrics) {
  TestCluster cluster(3);
  cluster.add_running({0}, shape_asking(1000, 1, kBatch));
  cluster.add_running({1}, shape_asking(2000, 1, kBatch));
  Evenkeel policy(leaning(50));
  WeightedScores kube_default;
  const Pod pod = batch_pod();
  EXPECT_EQ(choice(policy, cluster, pod, {}), choice(kube_default, cluster, pod, {}));
}

TEST(Evenkeel, IsMadeFromAModelOfItsOwnEncodingAndRefusesOthersByName) {
  const learning::Model good = model_of(leaning(1));
  EXPECT_TRUE(Evenkeel::make(&good));
  EXPECT_TRUE(Evenkeel::make(nullptr));  // horizon
  learning::Model foreign = good;
  foreign.encoding = "drs/4 nodes";
  const auto refused = Evenkeel::make(&foreign);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("drs/4 nodes"), std::string::npos);
  learning::Model narrow = good;
  narrow.networks[0].shape.inputs -= 1;
  const auto too_narrow = Evenkeel::make(&narrow);
  ASSERT_FALSE(too_narrow);
  EXPECT_NE(too_narrow.error().message.find("features"), std::string::npos);
}

TEST(EvenkeelEncoding, NeverLetsANumberOutOfRangeOrNoNumberThrough) {
  TestCluster cluster = two_nodes();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double amount : {nan, 1e30, -1e30}) {
    Horizon horizon;
    EvenkeelEncoding encoding;
    const Pod pod = batch_pod();
    const auto encoded =
        Evenkeel::encode(cluster.question(pod, uses(Usage{{amount, 1e8, 0, 0, 0, 0}})), horizon, encoding);
    for (const auto* features : {&encoded.item, &encoded.summary, &encoded.features})
      for (const float f : *features) {
        EXPECT_FALSE(std::isnan(f));
        EXPECT_LE(std::abs(f), EvenkeelEncoding::kFeatureLimit);
      }
  }
}

TEST(EvenkeelEncoding, NamesEveryFeature) {
  EXPECT_EQ(EvenkeelEncoding::normalisation().size(),
            static_cast<std::size_t>(EvenkeelEncoding::kItem + EvenkeelEncoding::kNode +
                                     EvenkeelEncoding::kSummary));
}

TEST(Evenkeel, ScoresTheSameWhetherNodesAreRememberedOrSeenForTheFirstTime) {
  Random weights(3);
  const learning::SharedScorer scorer(EvenkeelEncoding::shape({8}), weights);
  TestCluster cluster(300);
  teach(cluster);
  Random random(5);
  for (std::uint32_t i = 0; i < 300; ++i)
    cluster.add_running({i}, shape_asking(100, 1, kBatch),
                        Usage{{random.between(0.1, 2), random.between(1e8, 2e9), 0, 0, 0, 0}}, 5);
  cluster.measure();
  Evenkeel warm(scorer);
  const Pod pod = batch_pod();
  const Demand demand = uses(Usage{{0.3, 2e8, 0, 0, 0, 0}});
  for (int i = 0; i < 40; ++i) {
    Evenkeel cold(scorer);
    const ScoreSheet remembered = warm.explain(cluster.question(pod, demand));
    const ScoreSheet fresh = cold.explain(cluster.question(pod, demand));
    ASSERT_EQ(remembered.rows.size(), fresh.rows.size());
    EXPECT_EQ(remembered.rows[0].node, fresh.rows[0].node);
    EXPECT_NEAR(remembered.rows[0].total, fresh.rows[0].total, 1e-2);
    cluster.add_running({static_cast<std::uint32_t>(random.below(300))}, shape_asking(100, 1, kBatch),
                        Usage{{0.2, 1e8, 0, 0, 0, 0}}, 5);
  }
}

}  // namespace
}  // namespace evenkeel::scheduling
