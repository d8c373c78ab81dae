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

// From this many nodes on one pod changes a standard deviation by so little that its slope tells as much.
inline constexpr std::size_t kManyNodes = 256;

struct Outlook {
  UtilizationField field;
  Imbalance before;
  double share = 1;  // of what is added that is there by then
};
// The same to first order for several moments at once, in one walk: for kManyNodes and more.
void add_imbalance_slopes(std::span<const Outlook> moments, const UtilizationField& per_unit,
                          const Usage& added, float weight, std::span<float> costs);

}  // namespace evenkeel::scheduling
