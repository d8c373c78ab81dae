#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/live_usage.h"
#include "kubernetes/kubernetes_world.h"
#include "scheduling/rebalancer.h"
#include "scheduling/scheduler.h"

namespace evenkeel::apps {

// Moves the few pods that help most, from outside the scheduler. Nobody can reserve room in another process's
// memory: one pod is moved at a time, where its successor went is looked at before the next, and a workload
// whose successor went somewhere worse cools down like any other.
//
// Loads are what nodes and pods are measured to use, where anybody says so in time: then a node that nobody
// measures any more is neither left nor gone to, and nothing is moved while all are silent. Else what pods
// ask for stands in for what they use, and the report says so.
class Rebalance {
 public:
  struct Options {
    scheduling::MoveBudget moves;
    std::string scheduler_name;  // only pods that name it; empty: everybody's
    bool once = true;            // ends when no move is worth it any more
    Duration longest{std::chrono::minutes{10}};
    Duration patience{std::chrono::seconds{60}};     // for one pod to go, and its successor to come
    LiveUsage* usage = nullptr;                      // what nodes use; none: nobody says
    Duration first_usage{std::chrono::seconds{20}};  // how long to wait for that to begin with
  };
  struct Made {
    std::string pod, from, to, why;
    double gain = 0;      // of imbalance, over the time ahead
    std::string outcome;  // proposed, moved, refused, lost
    std::string landed;   // the successor's node
  };
  struct Report {
    std::string usage;  // what loads were told by
    double imbalance_before = 0, imbalance_after = 0;
    std::vector<Made> moves;
    std::string json(bool dry_run) const;
  };

  Rebalance(kubernetes::ApiConnection& connection, Options options,
            std::function<void(const std::string&)> log);
  ~Rebalance();
  Rebalance(const Rebalance&) = delete;
  Rebalance& operator=(const Rebalance&) = delete;

  // Done when the work or the time is over, or `stopped` says so. An error: the cluster could not be
  // followed.
  Result<Report> run(const std::function<bool()>& stopped);

 private:
  bool follow(Time deadline);  // one turn; false: stopped
  std::string find_loads(const std::function<bool()>& stopped);
  std::size_t measured_nodes() const;
  void tell_requests_as_usage();
  void observe(const ClusterEvent& event);
  Made make(const scheduling::Move& move, const std::function<bool()>& stopped);
  std::optional<scheduling::Move> next_move();
  void imagine(const scheduling::Move& move);
  const ClusterState& cluster() const { return imagined_ ? *imagined_ : scheduler_.cluster(); }

  kubernetes::ApiConnection& connection_;
  Options options_;
  kubernetes::KubernetesWorld world_;
  scheduling::SchedulingOptions deciding_;
  scheduling::Scheduler scheduler_;
  scheduling::Rebalancer rebalancer_;
  std::optional<ClusterState> imagined_;  // of a dry run: with the moves so far
  bool by_requests_ = false;
  Time told_usage_ = Time::min();
  std::function<void(const std::string&)> log_;

  // Of the move under way.
  std::optional<scheduling::Move> under_way_;
  WorkloadId workload_{};
  bool gone_ = false, refused_ = false;
  std::optional<NodeId> landed_;
  std::string refusal_;
};

}  // namespace evenkeel::apps
