#include "learning/cached_scorer.h"

#include <gtest/gtest.h>

#include <vector>

namespace evenkeel::learning {
namespace {

std::vector<float> random_floats(int count, Random& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::vector<Real> reals(const std::vector<float>& values) { return {values.begin(), values.end()}; }

struct Cluster {
  ScorerShape shape;
  SharedScorer scorer;
  CachedScorer cached;
  Matrix nodes;

  Cluster(ScorerShape of, int count, Random& random)
      : shape(std::move(of)), scorer(shape, random), cached(scorer), nodes(shape.node, count) {
    cached.resize(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) change(i, random);
  }
  void change(int node, Random& random) {
    const std::vector<float> features = random_floats(shape.node, random);
    nodes.col(node) = as_vector(reals(features));
    cached.set_node(static_cast<std::size_t>(node), features);
  }
  void expect_the_scorers_scores(Random& random) const {
    const auto item = random_floats(shape.item, random), summary = random_floats(shape.summary, random);
    std::vector<float> scores(cached.size());
    cached.score(item, summary, scores);
    const Vector exact = scorer.forward(reals(item), nodes, reals(summary));
    for (std::size_t i = 0; i < scores.size(); ++i)
      ASSERT_NEAR(scores[i], exact[static_cast<Eigen::Index>(i)], 1e-4)
          << "node " << i << " of " << scores.size();
  }
};

TEST(CachedScorer, AgreesWithTheScorerItWasMadeFromAtEverySize) {
  for (const std::vector<int>& hidden : {std::vector<int>{32}, {16, 8}, {5}}) {
    for (const int count : {1, 15, 16, 17, 100}) {
      Random random(1);
      Cluster({6, 6, 4, hidden}, count, random).expect_the_scorers_scores(random);
    }
  }
}

TEST(CachedScorer, AgreesAfterSomeNodesChanged) {
  Random random(2);
  Cluster cluster({3, 4, 2, {8}}, 50, random);
  for (int i = 0; i < 20; ++i) {
    cluster.change(static_cast<int>(random.below(50)), random);
    cluster.expect_the_scorers_scores(random);
  }
}

TEST(CachedScorer, ForgetsANodeThatLeft) {
  Random random(3);
  Cluster cluster({3, 4, 2, {8}}, 20, random);
  cluster.cached.resize(18);
  cluster.cached.resize(20);
  cluster.nodes.rightCols(2).setZero();
  cluster.expect_the_scorers_scores(random);
}

TEST(CachedScorer, RatesANodeTheSameBitForBitWhereverItStands) {
  Random random(4);
  Cluster cluster({3, 4, 2, {8}}, 40, random);
  const std::vector<float> features = random_floats(4, random), item = random_floats(3, random),
                           summary(2, 0.5F);
  std::vector<float> scores(40);
  for (const std::size_t node : {0U, 7U, 31U, 32U, 39U}) cluster.cached.set_node(node, features);
  cluster.cached.score(item, summary, scores);
  for (const std::size_t node : {7U, 31U, 32U, 39U}) EXPECT_EQ(scores[node], scores[0]);
}

}  // namespace
}  // namespace evenkeel::learning
