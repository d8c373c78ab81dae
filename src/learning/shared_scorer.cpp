#include "learning/shared_scorer.h"

#include <utility>

#include "base/check.h"

namespace evenkeel::learning {
namespace {

NetworkShape network_shape(const ScorerShape& shape) {
  return {shape.item + shape.node + shape.summary, shape.hidden, 1, Activation::relu};
}

}  // namespace

SharedScorer::SharedScorer(ScorerShape shape) : shape_(std::move(shape)), network_(network_shape(shape_)) {
  EVENKEEL_CHECK(!shape_.hidden.empty());
}

SharedScorer::SharedScorer(ScorerShape shape, Random& random)
    : shape_(std::move(shape)), network_(network_shape(shape_), InitialWeights::he, random) {
  EVENKEEL_CHECK(!shape_.hidden.empty());
}

Matrix SharedScorer::stacked(std::span<const Real> item, const Matrix& nodes,
                             std::span<const Real> summary) const {
  EVENKEEL_CHECK(static_cast<int>(item.size()) == shape_.item && nodes.rows() == shape_.node);
  EVENKEEL_CHECK(static_cast<int>(summary.size()) == shape_.summary);
  Matrix inputs(network_.shape().inputs, nodes.cols());
  inputs.topRows(shape_.item).colwise() = as_vector(item);
  inputs.middleRows(shape_.item, shape_.node) = nodes;
  inputs.bottomRows(shape_.summary).colwise() = as_vector(summary);
  return inputs;
}

Vector SharedScorer::forward(std::span<const Real> item, const Matrix& nodes,
                             std::span<const Real> summary) const {
  return network_.forward(stacked(item, nodes, summary)).transpose();
}

Vector SharedScorer::forward(std::span<const Real> item, const Matrix& nodes, std::span<const Real> summary,
                             Network::Trace& trace) const {
  network_.forward(stacked(item, nodes, summary), trace);
  return trace.outputs().transpose();
}

void SharedScorer::backward(const Network::Trace& trace, const Vector& score_gradient,
                            std::span<Real> gradient) const {
  network_.backward(trace, score_gradient.transpose(), gradient);
}

}  // namespace evenkeel::learning
