#pragma once
#include <Eigen/Core>
#include <span>

namespace evenkeel::learning {

// What networks are trained in. Double, so that gradients can be checked numerically to six digits; what
// float would save is in docs/algorithms/dqn.md. Scoring a whole cluster is in float: cached_scorer.h.
using Real = double;

// Batches are matrices with a column per sample, so that one sample lies together in memory.
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

inline std::span<const Real> column(const Matrix& matrix, Eigen::Index j) {
  return {matrix.data() + j * matrix.rows(), static_cast<std::size_t>(matrix.rows())};
}
inline std::span<Real> column(Matrix& matrix, Eigen::Index j) {
  return {matrix.data() + j * matrix.rows(), static_cast<std::size_t>(matrix.rows())};
}
inline Eigen::Map<const Vector> as_vector(std::span<const Real> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

// Neither NaN nor infinite, all of them.
inline bool all_finite(std::span<const Real> values) { return as_vector(values).allFinite(); }

}  // namespace evenkeel::learning
