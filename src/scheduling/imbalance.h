#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/usage.h"

namespace evenkeel::scheduling {

// One array per dimension, indexed by node: shares of capacity.
using UtilizationField = std::array<std::span<const float>, kDimensions>;

// DRS eq. 13: the standard deviation over nodes, averaged over the six dimensions.
struct Imbalance {
  std::array<double, kDimensions> mean{}, variance{};
  double nodes = 0;

  double value() const;
};
// `nodes`: how many are present; the others hold 0.
Imbalance imbalance_of(const UtilizationField& field, std::size_t nodes);

// For every node, the sum of the standard deviations if it took on `added` (in units of
// capacity times `per_unit`), times `weight`, added to costs. Dimensions in which nothing
// is added are left out: they are the same for every node.
void add_imbalance_after(const UtilizationField& field, const UtilizationField& per_unit,
                         const Imbalance& before, const Usage& added, float weight, std::span<float> costs);

}  // namespace evenkeel::scheduling
