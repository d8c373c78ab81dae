#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubernetes/api_objects.h"
#include "scheduling/decision.h"

namespace evenkeel::apps {

// A cluster that stands still, made of the objects of a manifest: what `place` and `explain` ask about.
class OfflineCluster {
 public:
  static Result<OfflineCluster> build(std::vector<kubernetes::ApiObject> objects, const std::string& file);

  const std::vector<PodId>& waiting() const { return waiting_; }  // in the order of the file
  const std::vector<PodId>& bound() const { return bound_; }
  const Pod& pod(PodId id) const { return state_.pod(id)->pod; }
  const PodId* find(std::string_view full_name) const;  // "namespace/name"
  const ClusterState& state() const { return state_; }
  const prediction::WorkloadHistory& history() const { return history_; }
  const std::vector<scheduling::Nomination>& nominations() const { return nominations_; }

  scheduling::DecisionInput question(PodId pod, const scheduling::SchedulingOptions& options) {
    return {this->pod(pod), state_, history_, runs_, options, nominations_, now_};
  }
  void place(PodId pod, NodeId node);
  // Makes a bound pod one that waits; returns the node it was on, or nothing.
  std::string take_off(PodId pod);

 private:
  Status add_nodes(const std::vector<kubernetes::ApiObject>& objects);
  Status add_pods(std::vector<kubernetes::ApiObject>& objects);
  Status resolve_priority(kubernetes::PodObject& pod) const;
  WorkloadId workload_of(const kubernetes::PodObject& pod);
  void add_usage(const std::vector<kubernetes::ApiObject>& objects);

  ClusterState state_;
  prediction::WorkloadHistory history_;
  scheduling::RunEstimates runs_;
  Time now_{};
  std::vector<PodId> waiting_, bound_;
  std::vector<scheduling::Nomination> nominations_;  // of pods that wait
  std::map<std::string, NodeId, std::less<>> nodes_;
  std::map<std::string, PodId, std::less<>> pods_;
  std::map<std::string, WorkloadId, std::less<>> workloads_;
};

}  // namespace evenkeel::apps
