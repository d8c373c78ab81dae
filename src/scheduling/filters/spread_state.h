#pragma once
#include <vector>

#include "scheduling/filters/filter.h"
#include "scheduling/spread_constraints.h"

namespace evenkeel::scheduling {

// How the pods that a pod's hard spread constraints mean are spread, per constraint and domain.
class SpreadState {
 public:
  explicit SpreadState(const FilterInput& input);

  Verdict judge(const FilterInput& input, NodeId node) const;
  void clear_unfit(const FilterInput& input, std::span<std::uint8_t> feasible) const;
  // A pod is imagined onto the node (times 1) or away from it (-1).
  void add(const FilterInput& input, const Pod& other, NodeId node, int times);

 private:
  struct Domains {
    SpreadConstraint constraint;
    const Topology* topology = nullptr;
    bool means_itself = false;
    std::vector<std::int32_t> pods;    // by the topology's numbers
    std::vector<std::uint8_t> exists;  // likewise: some node that counts is in it
    std::int32_t existing = 0;

    std::int32_t fewest() const;  // of any domain; 0 when there are fewer than min_domains
  };
  bool has_all_keys(std::size_t slot) const;
  std::vector<Domains> constraints_;
};

}  // namespace evenkeel::scheduling
