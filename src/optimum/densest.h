// How much talk there can be among so many pods: what makes a bound worth having. Without it, the relaxation
// spreads every pod over all nodes and finds them all together.
#pragma once
#include <cstdint>
#include <vector>

#include "optimum/pod_classes.h"

namespace evenkeel::optimum {

struct DensestQuestion {
  std::vector<std::uint32_t> most;  // by class: how many of it may be there; 0 for the fixed
  // Classes of which only so many may be there together.
  struct Limit {
    std::vector<std::uint32_t> classes;
    std::uint32_t most = 1;
    bool operator<(const Limit& other) const {
      return most != other.most ? most < other.most : classes < other.classes;
    }
  };
  std::vector<Limit> limits;
  std::uint32_t pods = 0;  // the most of all classes together
  bool operator<(const DensestQuestion& other) const {
    if (most != other.most) return most < other.most;
    if (pods != other.pods) return pods < other.pods;
    return limits < other.limits;
  }
};

// answer[k]: the most weight that any k pods have among themselves, k from 0 to question.pods at most. Every
// set is looked at, so it is empty where there would be too many.
std::vector<double> densest(const PodClasses& classes, const DensestQuestion& question);

}  // namespace evenkeel::optimum
