// What a guard looks at before it lets a learned policy decide: how old its metrics are, whether its inputs
// are of the kind it was trained on, and what came of its decisions.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

// Whether enough nodes have a fresh sample. Remembers until when that holds should no further sample come, so
// that hardly any question costs a walk over the nodes, and yet none is answered by metrics gone stale.
class MetricsWatch {
 public:
  explicit MetricsWatch(double most_stale) : most_stale_(most_stale) {}

  struct Finding {
    bool fresh = true;
    std::size_t nodes = 0, never = 0, stale = 0;  // stale: those never seen among them; of the last walk
  };
  const Finding& look(const ClusterState& cluster, Duration stale_after, Time now);
  static bool is_fresh(const ClusterState& cluster, NodeId node, Duration stale_after, Time now);

 private:
  void walk(const ClusterState& cluster, Duration stale_after, Time now);

  double most_stale_;
  Finding finding_;
  Time fresh_until_ = Time::min();
  Time newest_ = Time::min();        // sample at the last walk
  std::uint64_t nodes_version_ = 0;  // likewise: one that left and one that came make the same number
  bool walked_ = false;
  std::vector<Time> times_;
};

// The share of a model's inputs beyond what it was trained on, over the last decisions.
class DriftWatch {
 public:
  DriftWatch(double most_outside, std::size_t window) : most_outside_(most_outside), window_(window) {}

  void note(const SelfCheck& check);
  // Not back before half of what was too much.
  bool drifted();
  double share() const {
    return inputs_ == 0 ? 0 : static_cast<double>(outside_) / static_cast<double>(inputs_);
  }

 private:
  double most_outside_;
  std::size_t window_;
  std::deque<SelfCheck> last_;
  std::uint64_t inputs_ = 0, outside_ = 0;
  bool drifted_ = false;
};

// What of a question any encoding is made of, against ranges that hold in any cluster it could have been
// trained on: for models that do not say themselves.
SelfCheck check_inputs(const PlacementRequest& request);

// Whether the learned policy does worse than the rule: by the rewards that a policy which learns reports, or
// by the imbalance (DRS eq. 13) some time after the decisions of either, where both decide side by side.
class RewardWatch {
 public:
  struct Options {
    Duration outcome_after{std::chrono::seconds{10}};
    std::size_t least_samples = 50;  // of either side
    double sure = 3;                 // standard errors of the difference
    int looks = 6;                   // in a row at rewards below the rule's
    double tolerance = 0.02;         // of the rule's reward
  };
  explicit RewardWatch(Options options) : options_(options) {}

  void decided(bool learned, double imbalance, Time now);
  Time due_at() const { return pending_.empty() ? Time::max() : pending_.front().due; }
  void outcome(double imbalance, Time now);  // of every decision that is due
  void reported(std::span<const LearningFigure> figures);
  // Why the learned policy is taken for worse; nothing: it is not.
  std::optional<std::string> worse() const;
  void forget();

  struct Side {
    std::uint64_t samples = 0;
    double mean = 0, squares = 0;  // of the change of imbalance
    void add(double value);
    double error() const;  // of the mean, squared
  };
  const Side& side(bool learned) const { return learned ? learned_ : rule_; }

 private:
  struct Pending {
    Time due{};
    bool learned = false;
    double before = 0;
  };
  Options options_;
  std::deque<Pending> pending_;
  Side learned_, rule_;
  int below_ = 0;
  double reward_ = 0, rule_reward_ = 0;
};

}  // namespace evenkeel::scheduling
