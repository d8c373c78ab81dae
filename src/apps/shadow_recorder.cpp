#include "apps/shadow_recorder.h"

#include <algorithm>

#include "apps/live_stage.h"
#include "scheduling/expected_after.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using reporting::ShadowComparison;
constexpr Duration kPublishEvery = 1s;

// "Deployment web" is what people know; the ReplicaSet's own hash is not.
std::string workload_of(const Pod& pod) {
  const auto& owners = pod.shape->owners;
  const auto controller = std::find_if(owners.begin(), owners.end(),
                                       [](const OwnerReference& owner) { return owner.controller; });
  return controller == owners.end() ? "(no owner)" : controller->kind + " " + controller->name;
}

ShadowComparison comparison_of(const Pod& pod, const std::string& profile, Time now) {
  ShadowComparison comparison;
  comparison.time = now;
  comparison.profile = profile;
  comparison.name_space = pod.shape->name_space;
  comparison.workload = workload_of(pod);
  comparison.pod = pod.name;
  return comparison;
}

}  // namespace

std::string ShadowRecorder::json() const {
  const std::lock_guard lock(mutex_);
  return published_json_;
}

void ShadowRecorder::serves(std::span<const LiveProfile> profiles) {
  profiles_.assign(profiles.begin(), profiles.end());
}

void ShadowRecorder::began(const scheduling::Scheduler& scheduler, Time) { scheduler_ = &scheduler; }

void ShadowRecorder::decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node,
                             Duration) {
  compare_sides(request);
  if (!shadow_ || !node || (open_.size() >= kMostOpen && !open_.contains(request.pod.id))) return;
  const NodeColumns& columns = request.cluster.columns();
  const scheduling::Imbalance before =
      scheduling::imbalance_of(scheduling::utilization_field(columns), request.cluster.node_count());
  open_[request.pod.id] = {*node, request.profile, before, request.demand.mean,
                           scheduling::expected_after(columns, before, request.demand.mean, *node)};
}

void ShadowRecorder::compare_sides(const scheduling::PlacementRequest& request) {
  const LiveProfile* profile = request.profile < profiles_.size() ? &profiles_[request.profile] : nullptr;
  const scheduling::Guarded* guard = profile && profile->policy ? guard_of(*profile->policy) : nullptr;
  if (!guard || !guard->stage() || guard->stage()->stage == scheduling::Stage::full) return;
  const scheduling::GuardVerdict& verdict = guard->last();
  if (verdict.pod != request.pod.id || !verdict.compared()) return;
  ShadowComparison comparison = comparison_of(request.pod, profile->scheduler_name, request.now);
  comparison.ours = request.cluster.node(*verdict.learned_choice).name;
  comparison.other = request.cluster.node(*verdict.rule_choice).name;
  comparison.our_imbalance = verdict.learned_imbalance;
  comparison.other_imbalance = verdict.rule_imbalance;
  comparison.our_fullest = verdict.learned_fullest;
  comparison.other_fullest = verdict.rule_fullest;
  report_.learned_against_rule(comparison);
  has_news_ = true;
}

// Ours was worked out when we chose, theirs is now: by the cluster as it was before the pod, and by what
// their node holds at this moment.
void ShadowRecorder::went(PodId pod, NodeId node, Time now) {
  const PodRecord* record = scheduler_ ? scheduler_->cluster().pod(pod) : nullptr;
  if (!record || !scheduler_->profile_of(record->pod.spec())) return;
  const auto at = open_.find(pod);
  if (at == open_.end()) return report_.undecided();
  const Open open = at->second;
  open_.erase(at);
  const ClusterState& cluster = scheduler_->cluster();
  if (!cluster.has_node(open.node) || !cluster.has_node(node)) return;
  ShadowComparison comparison = comparison_of(
      record->pod, open.profile < profiles_.size() ? profiles_[open.profile].scheduler_name : "", now);
  const scheduling::ExpectedState theirs =
      open.node == node ? open.expected
                        : scheduling::expected_after(cluster.columns(), open.before, open.demand, node);
  comparison.ours = cluster.node(open.node).name;
  comparison.other = cluster.node(node).name;
  comparison.our_imbalance = open.expected.imbalance;
  comparison.our_fullest = open.expected.fullest;
  comparison.other_imbalance = theirs.imbalance;
  comparison.other_fullest = theirs.fullest;
  report_.ours_against_actual(comparison);
  has_news_ = true;
}

void ShadowRecorder::observed(const ClusterEvent& event, Time now) {
  if (const auto* gone = std::get_if<PodGone>(&event)) open_.erase(gone->pod);
  if (!shadow_) return;
  if (const auto* bound = std::get_if<PodBound>(&event)) went(bound->pod, bound->node, now);
}

void ShadowRecorder::turned(const scheduling::Scheduler&, Time now) {
  if (!has_news_ || (published_ != Time::min() && now - published_ < kPublishEvery)) return;
  published_ = now;
  publish();
}

// Not while somebody reads: the scheduler waits for nobody.
void ShadowRecorder::publish() {
  std::string json = report_.json();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  published_json_ = std::move(json);
  has_news_ = false;
}

void ShadowRecorder::ended() {
  scheduler_ = nullptr;
  profiles_.clear();
  const std::lock_guard lock(mutex_);
  published_json_ = report_.json();
}

}  // namespace evenkeel::apps
