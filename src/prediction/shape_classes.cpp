#include "prediction/shape_classes.h"

#include <cmath>
#include <cstdlib>

namespace evenkeel::prediction {

bool ShapeClasses::has_class(const PodTemplate& shape) {
  return shape.limit.cpu.count > 0 && shape.limit.memory.count > 0;
}

ShapeClasses::Key ShapeClasses::key_of(const PodTemplate& shape) {
  return {std::llround(25 * std::log2(static_cast<double>(shape.limit.cpu.count))),
          std::llround(10 * std::log2(static_cast<double>(shape.limit.memory.count)))};
}

// Those of a class are so alike in size that plain sums will do.
void ShapeClasses::add(Key key, const Usage& mean, const Usage& peak) {
  Typical& sums = classes_[key];
  sums.mean += mean;
  sums.peak += peak;
  sums.workloads += 1;
}

// Neighbours in memory count the less the further they are.
ShapeClasses::Typical ShapeClasses::of(Key key) const {
  constexpr double kWeights[] = {1, 0.61, 0.14, 0.01};
  Typical typical;
  double total = 0;
  for (std::int64_t away = -3; away <= 3; ++away) {
    const auto found = classes_.find({key.first, key.second + away});
    if (found == classes_.end()) continue;
    const double weight = kWeights[std::abs(away)];
    typical.mean += found->second.mean * weight;
    typical.peak += found->second.peak * weight;
    total += found->second.workloads * weight;
    typical.workloads += found->second.workloads;
  }
  if (total <= 0) return {};
  typical.mean = typical.mean * (1 / total);
  typical.peak = typical.peak * (1 / total);
  return typical;
}

}  // namespace evenkeel::prediction
