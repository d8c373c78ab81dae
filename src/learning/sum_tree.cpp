#include "learning/sum_tree.h"

#include <bit>

namespace evenkeel::learning {

SumTree::SumTree(std::size_t leaves) : leaves_(std::bit_ceil(leaves)), nodes_(2 * leaves_) {}

void SumTree::set(std::size_t leaf, double weight) {
  std::size_t i = leaves_ + leaf;
  nodes_[i] = weight;
  while (i /= 2) nodes_[i] = nodes_[2 * i] + nodes_[2 * i + 1];
}

std::size_t SumTree::find(double mark) const {
  std::size_t i = 1;
  while (i < leaves_) {
    i *= 2;
    // Rounding may leave a mark at the very end, where there may be nothing.
    if (mark >= nodes_[i] && nodes_[i + 1] > 0) mark -= nodes_[i++];
  }
  return i - leaves_;
}

}  // namespace evenkeel::learning
