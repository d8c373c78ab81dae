#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learning/actions.h"
#include "learning/network.h"
#include "scheduling/policies/exploration.h"

namespace evenkeel::scheduling {

// Learning while placing on a live cluster, seen from the side that decides: weights are looked at, lessons
// are handed over, and somebody else, elsewhere, makes new weights of them (training/online_learner.h).
// Everything here is a value or a call that does not wait.

// One decision and what came of it.
struct Lesson {
  std::vector<learning::Real> state;
  learning::Mask allowed;  // what was drawn from: a single action where nothing was left to chance
  int action = 0;
  learning::Real log_probability = 0;  // of the action among the allowed; PPO's
  learning::Real reward = 0;
  std::vector<learning::Real> next_state{};
  learning::Mask next_allowed{};
  // Where the one before it in the same course of events is known, one more than that one's; a gap says that
  // something between them was lost.
  std::uint64_t sequence = 0;
};

// Weights as they were published. They never change, so whoever decides may look at them as long as it likes.
struct LearntWeights {
  std::vector<std::string> nodes;  // by the network's places
  learning::Network network;       // values or logits of actions; a dueling one has the state's value behind
  std::uint64_t updates = 0;       // that went into them
  bool decides = false;            // enough for their opinion to count; else a rule goes on deciding
};

// How the other side is getting on; every count only grows.
struct LearnerProgress {
  std::uint64_t lessons = 0;  // learnt from
  std::uint64_t updates = 0;
  std::uint64_t dropped = 0;      // the queue was full: the oldest went
  std::uint64_t refused = 0;      // not a number, or for a network that is gone
  std::uint64_t rolled_back = 0;  // updates that came out as no numbers, and were undone
  std::uint64_t restarts = 0;     // from nothing but kept experience, since the nodes were others
  std::uint64_t checkpoints = 0, checkpoint_failures = 0;
  double loss = 0;  // a running mean
  double weights_age_s = 0;
};

class LearnerLink {
 public:
  virtual ~LearnerLink() = default;
  // The newest there are; none: nothing was laid out yet.
  virtual std::shared_ptr<const LearntWeights> weights() = 0;
  virtual void teach(Lesson lesson) = 0;
  // From now on lessons are about these nodes, in this order. As many as before: names change, the network
  // stays. Else another network begins, from what earlier lessons say about nodes that are still there.
  virtual void lay_out(const std::vector<std::string>& nodes) = 0;
  virtual LearnerProgress progress() = 0;
};

// A policy that looks back on decisions others took in its stead, a guard's rule say, as on its own.
class LearnsFromOthers {
 public:
  virtual ~LearnsFromOthers() = default;
  virtual void placed(const PlacementRequest& request, NodeId node) = 0;
};

struct LiveLearningOptions {
  ExplorationLimits explore{};
  Duration reward_after{std::chrono::seconds{5}};    // T_i: from the binding to the look at what came of it
  Duration reward_within{std::chrono::seconds{60}};  // samples newer than the binding must have come by then
};

// Who took a decision. Of the explored ones, those that took the rule's own best are as good as the rule's,
// and keep its figure from ageing.
enum class Decider { learned, explored, rule };

// Why a decision was never rewarded, and so teaches nothing.
enum class Lost : std::uint8_t {
  stale,       // no sample newer than its binding came in time
  gone,        // its binding failed, it was decided about again, or its pod was gone too soon
  crowded,     // too many were waiting for their rewards
  nodes,       // other nodes: what its state says has no place in the network any more
  unmeasured,  // it was taken without fresh samples, or among too many nodes, so there is no state
  not_finite,  // a metric or the reward was no number
};
inline constexpr std::size_t kLostReasons = 6;
inline constexpr std::array<std::string_view, kLostReasons> kLostNames = {
    "dropped_stale", "dropped_gone",       "dropped_crowded",
    "dropped_nodes", "dropped_unmeasured", "dropped_not_finite"};

// Whether samples show what came of a binding: of the nodes concerned there is one newer than that, and of
// every other node too unless it is not heard of any more, in which case it counts by its pods' pasts as it
// did in the decision itself. One silent node stops nobody from learning about the others.
bool samples_show(const Retrospect& seen, Time bound, std::span<const NodeId> concerned);

// Rewards as they come jump by more than learning moves them: means of the last fifty or so, by who decided.
// Every decision counts, and ends as a reward, as lost or still waiting.
class RewardFigures {
 public:
  void decided() { ++decisions_; }
  void add(Decider decider, double reward);
  void explored() { ++explored_; }
  void lost(Lost why, std::size_t count = 1) { lost_[static_cast<std::size_t>(why)] += count; }
  std::uint64_t rewards(Decider decider) const { return mean_[static_cast<std::size_t>(decider)].count; }
  double reward(Decider decider) const { return mean_[static_cast<std::size_t>(decider)].value; }
  std::uint64_t lost_to(Lost why) const { return lost_[static_cast<std::size_t>(why)]; }
  std::uint64_t explorations() const { return explored_; }
  // reward, loss, epsilon, …; a mean of nothing is left out.
  std::vector<LearningFigure> figures(const LearnerProgress& progress, double share, bool decides,
                                      std::size_t waiting) const;

 private:
  struct Mean {
    double value = 0;
    std::uint64_t count = 0;
  };
  Mean mean_[3];
  std::uint64_t decisions_ = 0, explored_ = 0;
  std::array<std::uint64_t, kLostReasons> lost_{};
};

// Which node has which place in a network, kept by name: handles are another process's after a restart.
// A node that leaves keeps its place, masked; one that joins takes the place of one that left. Where there
// is none to take, or the caller has no use for masked places, all begin anew.
class NodePlaces {
 public:
  struct Change {
    bool any = false;   // something is to be told to the learner
    bool anew = false;  // another number of places
  };
  void adopt(const std::vector<std::string>& nodes) { names_ = nodes; }
  // Follows who is there now.
  Change follow(const ClusterState& cluster);
  // All those there now, in the order of their slots.
  void begin_anew(const ClusterState& cluster);
  // Whether nothing would change if it followed.
  bool is_current(const ClusterState& cluster) const;

  const std::vector<std::string>& names() const { return names_; }
  std::size_t size() const { return names_.size(); }
  // By place; where the node is gone kNobody, which no cluster has.
  const std::vector<std::uint32_t>& slots() const { return slots_; }
  std::optional<std::size_t> place_of(NodeId node) const;
  std::size_t absent() const;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

 private:
  void find_slots(const ClusterState& cluster);
  std::vector<std::string> names_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace evenkeel::scheduling
