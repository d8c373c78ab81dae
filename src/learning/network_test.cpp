#include "learning/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "learning/gradient_check.h"

namespace evenkeel::learning {
namespace {

Matrix random_matrix(int rows, int columns, Random& random) {
  Matrix matrix(rows, columns);
  for (Real& value : matrix.reshaped()) value = random.normal();
  return matrix;
}

TEST(Network, ComputesWhatPencilAndPaperSay) {
  Network network({2, {2}, 1});
  // hidden = relu([1 -1; 2 0] x + [0.5; -1]), output = [3 -2] hidden + 0.25; weights lie column by column.
  const std::vector<Real> parameters{1, 2, -1, 0, 0.5, -1, 3, -2, 0.25};
  ASSERT_EQ(network.parameters().size(), parameters.size());
  std::copy(parameters.begin(), parameters.end(), network.parameters().begin());
  EXPECT_DOUBLE_EQ(network.forward(std::vector<Real>{1, 0.5})[0], 3 * 1.0 - 2 * 1.0 + 0.25);
  EXPECT_DOUBLE_EQ(network.forward(std::vector<Real>{0, 1})[0], 0.25);  // both hidden units are off
}

TEST(Network, CountsItsParameters) {
  EXPECT_EQ(parameter_count({30, {50}, 4}), 30U * 50 + 50 + 50 * 4 + 4);
  EXPECT_EQ(parameter_count({3, {}, 2}), 8U);
}

TEST(Network, AnswersABatchAsItAnswersEachAlone) {
  for (const Activation activation : {Activation::relu, Activation::tanh}) {
    Random random(1);
    const Network network({5, {8, 7}, 3, activation}, fitting(activation), random);
    const Matrix inputs = random_matrix(5, 9, random);
    const Matrix together = network.forward(inputs);
    Network::Trace trace;
    network.forward(inputs, trace);
    EXPECT_TRUE(together.isApprox(trace.outputs(), 1e-12));
    for (Eigen::Index i = 0; i < inputs.cols(); ++i)
      EXPECT_TRUE(together.col(i).isApprox(network.forward(column(inputs, i)), 1e-12));
  }
}

TEST(Network, HasTheGradientOfItsLoss) {
  for (const Activation activation : {Activation::relu, Activation::tanh}) {
    for (const std::vector<int>& hidden : {std::vector<int>{}, {6}, {7, 5}}) {
      Random random(2);
      Network network({4, hidden, 3, activation}, fitting(activation), random);
      for (Real& parameter : network.parameters()) parameter += random.normal(0, 0.1);  // biases too
      const Matrix inputs = random_matrix(4, 6, random), wanted = random_matrix(3, 6, random);
      const auto loss = [&] { return (network.forward(inputs) - wanted).squaredNorm() / 2; };
      Network::Trace trace;
      network.forward(inputs, trace);
      std::vector<Real> gradient(network.parameters().size());
      network.backward(trace, trace.outputs() - wanted, gradient);
      EXPECT_LT(gradient_error(network.parameters(), gradient, loss), 1e-6);
    }
  }
}

TEST(Network, AddsToTheGradientThatIsThere) {
  Random random(3);
  const Network network({2, {3}, 1}, InitialWeights::he, random);
  const Matrix inputs = random_matrix(2, 4, random);
  Network::Trace trace;
  network.forward(inputs, trace);
  std::vector<Real> once(network.parameters().size()), twice = once;
  network.backward(trace, trace.outputs(), once);
  network.backward(trace, trace.outputs(), twice);
  network.backward(trace, trace.outputs(), twice);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_DOUBLE_EQ(twice[i], 2 * once[i]);
}

TEST(Network, BeginsWithTheSpreadItsKindPrescribes) {
  const auto deviation = [](InitialWeights initial) {
    Random random(4);
    const Network network({200, {100}, 1}, initial, random);
    const auto first = network.parameters().first(200 * 100);
    return std::sqrt(as_vector(first).squaredNorm() / static_cast<Real>(first.size()));
  };
  EXPECT_NEAR(deviation(InitialWeights::he), std::sqrt(2.0 / 200), 0.002);
  EXPECT_NEAR(deviation(InitialWeights::xavier), std::sqrt(2.0 / 300), 0.002);
  EXPECT_NEAR(deviation(InitialWeights::narrow), 0.1, 0.002);
}

TEST(Network, BeginsAndRunsTheSameForTheSameSeedBitForBit) {
  const auto outputs = [] {
    Random random(5);
    const Network network({30, {64, 64}, 4}, InitialWeights::he, random);
    return network.forward(random_matrix(30, 32, random));
  };
  EXPECT_EQ(outputs(), outputs());
}

TEST(Network, FollowsAnotherByAShareOrWhole) {
  Random random(6);
  const Network source({2, {3}, 1}, InitialWeights::he, random);
  Network target({2, {3}, 1});
  follow(target, source, 0.25);
  EXPECT_DOUBLE_EQ(target.parameters()[0], 0.25 * source.parameters()[0]);
  follow(target, source, 1);
  EXPECT_TRUE(
      std::equal(target.parameters().begin(), target.parameters().end(), source.parameters().begin()));
}

}  // namespace
}  // namespace evenkeel::learning
