#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "cluster/usage.h"

namespace evenkeel {

// What a line y = a + b x, and the spread around it, are found from; nothing else of the pairs is kept.
struct LineSums {
  double weight = 0;  // of all y
  double shaped = 0;  // of those whose x is known
  double mean_x = 0, mean_y = 0;
  double sum_xx = 0, sum_yy = 0, sum_xy = 0;  // of deviations from the means
  bool operator==(const LineSums&) const = default;
};

// Everything that is remembered of a workload's pods, in numbers that a store can keep: whoever is given them
// back predicts what he would have predicted.
struct WorkloadPast {
  std::array<LineSums, kDimensions> use;  // over the CPU that a pod is allowed
  Usage peak;
  LineSums life;  // logarithm of seconds over the logarithm of that
  std::uint64_t ends = 0;
  std::optional<std::pair<std::int64_t, std::int64_t>> shape_class;
  bool operator==(const WorkloadPast&) const = default;
};

}  // namespace evenkeel
