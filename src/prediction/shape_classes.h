#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "cluster/pod.h"
#include "cluster/usage.h"

namespace evenkeel::prediction {

// What workloads of the same limits have in common. A machine that was idle so far, but is
// built like ten others that all burst, will burst: its shape is the only thing that tells.
class ShapeClasses {
 public:
  // The same CPU limit (within 4 %), and memory limits as near as can be (up to 20 %). Without
  // both limits a pod has no class.
  using Key = std::pair<std::int64_t, std::int64_t>;
  static bool has_class(const PodTemplate& shape);
  static Key key_of(const PodTemplate& shape);

  void clear() { classes_.clear(); }
  void add(Key key, const Usage& mean, const Usage& peak);

  struct Typical {
    Usage mean, peak;  // of a workload of this shape
    double workloads = 0;
  };
  Typical of(Key key) const;

 private:
  std::map<Key, Typical> classes_;  // sums
};

}  // namespace evenkeel::prediction
