#pragma once
#include <set>
#include <string>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

// Which of the pod's ReadWriteOncePod claims are in use by others.
class OncePerPodState {
 public:
  explicit OncePerPodState(const FilterInput& input);
  void add(const Pod& other, int times);
  int conflicts() const { return conflicts_; }

 private:
  std::set<std::string> claims_;
  int conflicts_ = 0;
  bool skipped_ =
      false;  // nothing to say of the cluster as it is: kube-scheduler leaves the plugin out for good
};

}  // namespace evenkeel::scheduling
