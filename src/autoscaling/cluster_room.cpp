#include "autoscaling/cluster_room.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autoscaling/encoding.h"
#include "autoscaling/leavers.h"
#include "base/check.h"
#include "base/match.h"
#include "base/sort_stably.h"
#include "scheduling/filters/filter.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::autoscaling {
namespace {

using namespace std::chrono_literals;
constexpr Duration kPromisedFor = 60s;     // by then whoever makes pods has made them, or will not
constexpr std::size_t kMostWaiting = 500;  // that are placed first: a question stays quick
constexpr const char* kPolicy = "kube-default";

const OwnerReference* controller_of(const Pod& pod) {
  const auto at = std::ranges::find_if(pod.shape->owners, &OwnerReference::controller);
  return at == pod.shape->owners.end() ? nullptr : &*at;
}

// Its next replica asks for what it asks for, but for the claims that are this very pod's: each gets its own.
std::shared_ptr<const PodTemplate> next_of(const Pod& pod) {
  PodSpec spec = pod.spec();
  const std::size_t before = spec.volumes.size();
  std::erase_if(spec.volumes, [&](const PodVolume& volume) {
    return volume.kind == VolumeKind::ephemeral ||
           (volume.kind == VolumeKind::claim && volume.source.ends_with("-" + pod.name));
  });
  if (spec.volumes.size() == before && spec.node_name.empty()) return pod.shape;
  spec.node_name.clear();
  return std::make_shared<const PodTemplate>(pod.shape->name_space, pod.shape->labels, pod.shape->owners,
                                             pod.shape->workload, std::move(spec));
}

bool is_over(const ReplicaReport& replica) {
  return replica.leaves || replica.phase == ReplicaReport::Phase::failed ||
         replica.phase == ReplicaReport::Phase::succeeded;
}

std::string percent(double share) { return std::to_string(std::llround(100 * share)) + " %"; }

}  // namespace

ClusterRoom::ClusterRoom(Options options) : options_(options) {
  auto made = scheduling::set_up_policy(kPolicy, scheduling_);
  EVENKEEL_CHECK(made);
  policy_ = std::move(made->policy);
  scheduling_ = made->options;
}

ClusterRoom::~ClusterRoom() = default;

void ClusterRoom::observe(const ClusterEvent& event, Time now) {
  std::visit(
      Match{[&](const NodeAdded& e) { state_.set_node(e.node); },
            [&](const NodeUpdated& e) { state_.set_node(e.node); },
            [&](const NodeRemoved& e) { state_.remove_node(e.node); },
            [&](const PodAdded& e) {
              appeared(e.pod);
              state_.add_pending(e.pod);
              waiting_.insert(e.pod.id);
            },
            [&](const PodFound& e) {
              appeared(e.pod);
              state_.found(e.pod, e.node, history_.demand(e.pod), now);
              waiting_.erase(e.pod.id);
            },
            [&](const PodBound& e) {
              const PodRecord* record = state_.pod(e.pod);
              if (!record) return;
              state_.set_expected(e.pod, history_.demand(record->pod));
              state_.confirm(e.pod, e.node, now);
              waiting_.erase(e.pod);
            },
            [&](const PodStarted& e) { state_.mark_started(e.pod, std::min(e.at.value_or(now), now)); },
            [&](const PodGone& e) { forget(e.pod); }, [&](const PodUpdated& e) { state_.update_pod(e.pod); },
            [&](const ObjectSet& e) { state_.set_object(e.object); },
            [&](const ObjectGone& e) { state_.remove_object(e.object); },
            // Of binding, moving and measuring nothing is told here.
            [](const auto&) {}},
      event);
}

void ClusterRoom::appeared(const Pod& pod) {
  slots_ = std::max(slots_, pod.id.slot + 1);
  if (state_.pod(pod.id)) return;  // delivered twice
  history_.observe_pod(pod);
  by_name_.insert_or_assign(pod.full_name(), pod.id);
  for (auto& [scaler, promise] : promises_)
    if (promise.missing > 0 && promise.shape->workload == pod.shape->workload) --promise.missing;
}

void ClusterRoom::forget(PodId pod) {
  if (const PodRecord* record = state_.pod(pod)) {
    const auto at = by_name_.find(record->pod.full_name());
    if (at != by_name_.end() && at->second == pod) by_name_.erase(at);
  }
  state_.remove_pod(pod);
  waiting_.erase(pod);
}

const PodRecord* ClusterRoom::find(const std::string& name_space, const std::string& name) const {
  const auto at = by_name_.find(name_space + "/" + name);
  return at == by_name_.end() ? nullptr : state_.pod(at->second);
}

void ClusterRoom::note_usage(const ServiceReport& report, const ScalerSpec& spec) {
  const std::optional<std::size_t> cpu = cpu_sample(spec);
  if (!cpu) return;
  for (const ReplicaReport& replica : report.replicas) {
    if (*cpu >= replica.samples.size() || !replica.samples[*cpu]) continue;
    const PodRecord* record = find(spec.name_space, replica.name);
    if (!record || record->place == PodPlace::pending) continue;
    Demand expected = record->expected;
    expected.mean[Dimension::cpu] = replica.samples[*cpu]->value;
    state_.set_expected(record->pod.id, expected);
  }
}

// The youngest shows best what the next will be like.
std::shared_ptr<const PodTemplate> ClusterRoom::shape_of(const ScalingRequest& request) const {
  const PodRecord* youngest = nullptr;
  for (const ReplicaReport& replica : request.report.replicas) {
    const PodRecord* record = find(request.spec.name_space, replica.name);
    if (record && (!youngest || record->pod.created > youngest->pod.created)) youngest = record;
  }
  return youngest ? next_of(youngest->pod) : nullptr;
}

std::string ClusterRoom::unknown_for(const ScalingRequest& request, const PodTemplate* shape) const {
  if (!blind_.empty()) return blind_;
  if (!shape) return "no pod of " + request.spec.target.name + " shows what its replicas ask for";
  const std::string_view feature = scheduling::unsupported_feature(shape->spec);
  return feature.empty() ? "" : "its pods use " + std::string(feature) + ", which is not looked at here";
}

void ClusterRoom::place_others(Imagination& imagination, const ScalingRequest& request,
                               std::int32_t priority) {
  std::vector<const PodRecord*> waiting;
  for (const PodId id : waiting_)
    if (const PodRecord* record = state_.pod(id);
        record && record->pod.spec().priority >= priority && record->pod.spec().scheduling_gates.empty())
      waiting.push_back(record);
  sort_stably(waiting, [](const PodRecord* a, const PodRecord* b) {
    if (a->pod.spec().priority != b->pod.spec().priority)
      return a->pod.spec().priority > b->pod.spec().priority;
    return a->pod.created < b->pod.created;
  });
  if (waiting.size() > kMostWaiting) waiting.resize(kMostWaiting);
  std::set<const PodTemplate*> hopeless;
  for (const PodRecord* record : waiting) {
    const PodTemplate* shape = record->pod.shape.get();
    if (!hopeless.contains(shape) && !imagination.place(record->pod)) hopeless.insert(shape);
  }
  for (const auto& [scaler, promise] : promises_) {
    const bool comes_first = scaler != request.scaler && promise.until > request.now && promise.shape &&
                             promise.shape->spec.priority >= priority;
    for (std::int32_t i = 0; comes_first && i < promise.missing; ++i)
      if (!imagination.place(promise.shape)) break;
  }
}

Room ClusterRoom::room_for(const ScalingRequest& request, std::int32_t more) {
  if (!options_.room) return {.replicas = more, .unknown = "it is not asked for"};
  const std::shared_ptr<const PodTemplate> shape = shape_of(request);
  Room room;
  room.unknown = unknown_for(request, shape.get());
  if (!room.unknown.empty()) return room;
  Imagination imagination({state_, history_, runs_, scheduling_, *policy_, random_, request.now, slots_});
  place_others(imagination, request, shape->spec.priority);
  // Those that are wanted already and have no pod yet come before any that are added.
  const auto there = std::ranges::count_if(request.report.replicas,
                                           [](const ReplicaReport& replica) { return !is_over(replica); });
  const std::int32_t missing = std::max(0, request.wanted - static_cast<std::int32_t>(there));
  std::map<std::string, int> taken;
  for (std::int32_t i = -missing; i < more; ++i) {
    const std::optional<NodeId> node = imagination.place(shape);
    if (!node) {
      room.why = imagination.why();
      break;
    }
    if (i < 0) continue;
    ++room.replicas;
    ++taken[state_.node(*node).name];
  }
  constexpr std::size_t kMostNamed = 8;
  std::size_t named = 0;
  for (const auto& [name, count] : taken) {
    if (named++ == kMostNamed) {
      room.where += ", and " + std::to_string(taken.size() - kMostNamed) + " other nodes";
      break;
    }
    room.where += (room.where.empty() ? "" : ", ") + name + " (" + std::to_string(count) + ")";
  }
  if (imagination.victims() > 0)
    room.where +=
        ", after " + std::to_string(imagination.victims()) + " pods of lower priority have to leave";
  return room;
}

Leavers ClusterRoom::leavers_of(const ScalingRequest& request, std::int32_t fewer) {
  if (!options_.leavers) return {};
  if (!blind_.empty()) return {.why = "who leaves is not named: " + blind_};
  struct Candidate {
    const PodRecord* record;
    bool stays_out = false;  // has no node or is not ready: goes first in any case
  };
  std::vector<Candidate> candidates;
  const OwnerReference* owner = nullptr;
  for (const ReplicaReport& replica : request.report.replicas) {
    if (is_over(replica)) continue;
    const PodRecord* record = find(request.spec.name_space, replica.name);
    if (!record) return {.why = "who leaves is not named: pod " + replica.name + " is not known yet"};
    const OwnerReference* its = controller_of(record->pod);
    // The cost of deletion is a ReplicaSet's: others choose otherwise, and one compares its own pods alone.
    if (!its || its->kind != "ReplicaSet") return {};
    if (owner && owner->uid != its->uid)
      return {.why = "who leaves is not named while a rollout is under way"};
    owner = its;
    candidates.push_back({record, record->place == PodPlace::pending || !replica.ready});
  }
  sort_stably(candidates, [](const Candidate& a, const Candidate& b) {
    return a.record->pod.created > b.record->pod.created;  // of equals the youngest goes
  });
  std::vector<std::size_t> numbers(state_.columns().size());
  std::vector<NodeLoad> nodes;
  const auto& used = state_.columns().utilization;
  const auto load_at = [&](std::size_t slot) {
    return NodeLoad{used[static_cast<std::size_t>(Dimension::cpu)][slot],
                    used[static_cast<std::size_t>(Dimension::memory)][slot]};
  };
  for (std::uint32_t slot = 0; slot < numbers.size(); ++slot) {
    if (!state_.has_node({slot})) continue;
    numbers[slot] = nodes.size();
    nodes.push_back(load_at(slot));
  }
  std::vector<LeavingPod> pods;
  auto named = static_cast<std::size_t>(fewer);
  for (const Candidate& candidate : candidates) {
    const std::uint32_t slot = candidate.record->node.slot;
    const bool is_on_node = candidate.record->place != PodPlace::pending && state_.has_node({slot});
    const auto& per_unit = state_.columns().per_unit;
    NodeLoad load;
    if (is_on_node)
      load = {candidate.record->expected.mean[Dimension::cpu] *
                  per_unit[static_cast<std::size_t>(Dimension::cpu)][slot],
              candidate.record->expected.mean[Dimension::memory] *
                  per_unit[static_cast<std::size_t>(Dimension::memory)][slot]};
    if (candidate.stays_out || !is_on_node) {
      if (named == 0) return {};  // those that are not ready are more than have to go
      --named;
      if (!is_on_node) continue;
      nodes[numbers[slot]].cpu -= load.cpu;
      nodes[numbers[slot]].memory -= load.memory;
      continue;
    }
    pods.push_back({candidate.record->pod.name, numbers[slot], load});
  }
  if (named == 0 || named >= pods.size()) return {};
  const double before = spread_of(nodes);
  Leavers leavers;
  std::string who;
  for (const std::size_t i : choose_leavers(nodes, pods, named)) {
    leavers.pods.push_back(pods[i].name);
    const PodRecord* record = find(request.spec.name_space, pods[i].name);
    if (leavers.pods.size() <= 4)
      who += (who.empty() ? "" : ", ") + pods[i].name + " on " + state_.node(record->node).name + " (" +
             percent(load_at(record->node.slot).cpu) + " of its CPU in use)";
  }
  if (leavers.pods.size() > 4) who += " and " + std::to_string(leavers.pods.size() - 4) + " more";
  leavers.why = who + " had better go: nodes differ by " + percent(spread_of(nodes)) + " then, by " +
                percent(before) + " now";
  return leavers;
}

void ClusterRoom::promised(const ScalingRequest& request, std::int32_t more) {
  std::erase_if(promises_, [&](const auto& entry) {
    return entry.second.until <= request.now || entry.second.missing <= 0;
  });
  Promise& promise = promises_[request.scaler];
  std::shared_ptr<const PodTemplate> shape = shape_of(request);
  if (!shape) return;
  promise.shape = std::move(shape);
  promise.missing = std::max(0, promise.missing) + more;
  promise.until = request.now + kPromisedFor;
}

}  // namespace evenkeel::autoscaling
