#pragma once
#include <cstddef>
#include <vector>

namespace evenkeel::learning {

// Weights that change and are drawn from, both in log n steps: leaves hold weights, every inner node the sum
// of its two children. Sums are recomputed on the way up, never adjusted, so that rounding does not pile up.
class SumTree {
 public:
  explicit SumTree(std::size_t leaves);

  void set(std::size_t leaf, double weight);
  double weight(std::size_t leaf) const { return nodes_[leaves_ + leaf]; }
  double total() const { return nodes_[1]; }

  // The leaf in whose stretch of [0, total) the mark falls; one of positive weight, if there is any.
  std::size_t find(double mark) const;

 private:
  std::size_t leaves_ = 1;     // rounded up to a power of two
  std::vector<double> nodes_;  // the root at 1, the children of i at 2i and 2i + 1
};

}  // namespace evenkeel::learning
