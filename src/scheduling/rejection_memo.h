#pragma once
#include <memory>
#include <string>
#include <vector>

#include "scheduling/preemption_parts.h"
#include "scheduling/queueing_hints.h"

namespace evenkeel::scheduling {

// What filters and preemption say of every node for one kind of pods, remembered until the node changes
// (ClusterState::version). Pods that nothing fits come in numbers and are asked about again and again, while
// few nodes change in between; judging five thousand nodes anew each time is what a full cluster cannot
// afford.
//
// Holds only where filters look at one node at a time: not for pods with rules about others, spread
// constraints or volumes, nor where expected use counts.
class RejectionMemo {
 public:
  static bool applies(const FilterInput& input);

  struct Rejection {
    std::string why;  // unschedulable_message's words
    FilterSet by = 0;
    bool failed = false;  // a filter could not tell
  };
  Rejection rejection(const FilterInput& input, ClusterState& cluster, const Nominations& nominations,
                      std::size_t profile);
  // As preempt(), which see. Right after rejection().
  PreemptionOutcome preempt(const FilterInput& input, ClusterState& cluster, const Nominations& nominations,
                            Time now);

 private:
  static constexpr std::size_t kKinds = 8;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  struct Saying {
    std::vector<Objection> objections;
    bool unresolvable = false;
    FilterSet by = 0;
  };
  struct Tried {
    std::uint64_t at = kNever;  // the node's version
    std::uint32_t reasons = 0;  // why nobody, if there is nobody
    Victims victims;
    VictimCost cost;
  };
  struct Kind {
    std::shared_ptr<const PodTemplate> shape;
    std::size_t profile = 0;
    std::uint64_t used = 0, budgets = 0;
    std::vector<std::uint64_t> judged;  // by NodeId::slot: the node's version
    std::vector<std::uint32_t> said;    // index into sayings
    std::vector<Saying> sayings;
    std::vector<Tried> tried;
    std::vector<std::vector<std::string>> reasons;
  };
  Kind& kind_of(const FilterInput& input, std::size_t profile);
  static std::uint32_t saying_of(Kind& kind, NodeVerdict verdict);
  static void try_on(Kind& kind, const FilterInput& input, ClusterState& cluster, NodeId node,
                     const Nominations& nominations, Time now);

  std::vector<Kind> kinds_;
  std::size_t current_ = 0;
  std::uint64_t clock_ = 0;  // of uses
};

}  // namespace evenkeel::scheduling
