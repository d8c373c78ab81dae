#include "learning/shared_scorer.h"

#include <gtest/gtest.h>

#include <vector>

#include "learning/gradient_check.h"
#include "learning/optimizer.h"

namespace evenkeel::learning {
namespace {

struct Question {
  std::vector<Real> item, summary;
  Matrix nodes;
};

Question random_question(const ScorerShape& shape, int nodes, Random& random) {
  Question question{std::vector<Real>(static_cast<std::size_t>(shape.item)),
                    std::vector<Real>(static_cast<std::size_t>(shape.summary)), Matrix(shape.node, nodes)};
  for (Real& value : question.item) value = random.normal();
  for (Real& value : question.summary) value = random.normal();
  for (Real& value : question.nodes.reshaped()) value = random.normal();
  return question;
}

TEST(SharedScorer, PermutesItsScoresAsTheNodesArePermuted) {
  Random random(1);
  const ScorerShape shape{3, 4, 2, {16, 8}};
  const SharedScorer scorer(shape, random);
  const Question question = random_question(shape, 40, random);
  const Vector scores = scorer.forward(question.item, question.nodes, question.summary);
  std::vector<Eigen::Index> order(40);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Eigen::Index>(i);
  random.shuffle(order);
  const Matrix shuffled = question.nodes(Eigen::all, order);
  EXPECT_TRUE(scorer.forward(question.item, shuffled, question.summary).isApprox(scores(order), 1e-12));
}

TEST(SharedScorer, RatesANodeTheSameAloneAndAmongThousands) {
  Random random(2);
  const ScorerShape shape{3, 4, 2, {16}};
  const SharedScorer scorer(shape, random);
  const Question question = random_question(shape, 3000, random);
  const Vector scores = scorer.forward(question.item, question.nodes, question.summary);
  for (const Eigen::Index i : {0, 1, 1500, 2999})
    EXPECT_NEAR(scorer.forward(question.item, question.nodes.col(i), question.summary)[0], scores[i], 1e-12);
}

TEST(SharedScorer, HasTheGradientOfItsLoss) {
  for (const std::vector<int>& hidden : {std::vector<int>{8}, {8, 6}}) {
    Random random(3);
    const ScorerShape shape{3, 4, 2, hidden};
    SharedScorer scorer(shape, random);
    const Question question = random_question(shape, 7, random);
    const Vector wanted = Vector::LinSpaced(7, -1, 1);
    const auto loss = [&] {
      return (scorer.forward(question.item, question.nodes, question.summary) - wanted).squaredNorm() / 2;
    };
    Network::Trace trace;
    const Vector scores = scorer.forward(question.item, question.nodes, question.summary, trace);
    std::vector<Real> gradient(scorer.parameters().size());
    scorer.backward(trace, scores - wanted, gradient);
    EXPECT_LT(gradient_error(scorer.parameters(), gradient, loss), 1e-6);
  }
}

// Which node leaves the least room once the item is in? Trained on 3 to 10 nodes, asked about 100.
TEST(SharedScorer, AnswersForSizesItWasNeverTrainedOn) {
  Random random(4);
  const ScorerShape shape{1, 1, 1, {16}};
  SharedScorer scorer(shape, random);
  Optimizer optimizer(scorer.parameters().size(), {.learning_rate = 0.01});
  std::vector<Real> gradient(scorer.parameters().size());
  const auto wanted = [](const Question& q) -> Vector {
    return -(q.nodes.row(0).transpose().array() - q.item[0]).abs();
  };
  for (int i = 0; i < 3000; ++i) {
    const Question question = random_question(shape, 3 + static_cast<int>(random.below(8)), random);
    Network::Trace trace;
    const Vector scores = scorer.forward(question.item, question.nodes, question.summary, trace);
    scorer.backward(trace, (scores - wanted(question)) / static_cast<Real>(scores.size()), gradient);
    ASSERT_TRUE(optimizer.step(scorer.parameters(), gradient));
  }
  Real regret = 0;
  for (int i = 0; i < 50; ++i) {
    const Question question = random_question(shape, 100, random);
    Eigen::Index chosen = 0;
    scorer.forward(question.item, question.nodes, question.summary).maxCoeff(&chosen);
    regret += (wanted(question).maxCoeff() - wanted(question)[chosen]) / 50;
  }
  EXPECT_LT(regret, 0.2);  // a node at random: 1.1
}

}  // namespace
}  // namespace evenkeel::learning
