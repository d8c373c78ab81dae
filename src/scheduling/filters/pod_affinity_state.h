#pragma once
#include <vector>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

// Where the pods are that a pod's required (anti-)affinity means, and where those are whose
// required anti-affinity means the pod.
class PodAffinityState {
 public:
  explicit PodAffinityState(const FilterInput& input);

  Verdict judge(NodeId node) const;
  void clear_unfit(std::span<std::uint8_t> feasible) const;
  bool says_nothing() const { return wanted_.empty() && unwanted_.empty() && refused_by_.empty(); }
  // A pod is imagined onto the node (times 1) or away from it (-1).
  void add(const FilterInput& input, const Pod& other, NodeId node, int times);

 private:
  struct Domains {
    const Topology* topology = nullptr;
    std::vector<std::int64_t> pods;  // by the topology's numbers; nodes without the label are not counted
    std::optional<PodMatch> match;   // of a term of the pod's own
    std::int64_t& in(std::uint32_t value) {
      if (value >= pods.size()) pods.resize(value + std::size_t{1});
      return pods[value];
    }
  };
  Domains domains_of(const FilterInput& input, const std::string& key) const;
  Domains& refusing(const FilterInput& input, const std::string& key);
  bool satisfies_affinity(std::uint32_t slot) const;
  static bool any_in(const std::vector<Domains>& all, std::uint32_t slot);

  std::vector<Domains> wanted_, unwanted_, refused_by_;
  std::vector<std::string> refused_keys_;
  std::int64_t wanted_total_ = 0;  // pods that all the wanted terms mean, once for each labelled node's term
  bool means_itself_ = false;      // all its wanted terms mean the pod itself
  // Nothing to say of the cluster as it is. kube-scheduler then leaves the plugin out for good, rules of pods
  // that are only imagined included.
  bool skipped_ = false;
};

}  // namespace evenkeel::scheduling
