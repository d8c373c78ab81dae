#include "kubernetes/disruptor.h"

#include <utility>

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr int kNotFound = 404, kConflict = 409, kTooMany = 429;
constexpr Duration kThinkAgain = 2s;    // after a preemption that could not be carried out
constexpr Duration kEndingShows = 30s;  // in the watch, at the latest

PodReference reference_to(const Pod& pod) { return {pod.shape->name_space, pod.name, pod.uid}; }
std::string name_of(const PodReference& pod) { return pod.name_space + "/" + pod.name; }

}  // namespace

Disruptor::Disruptor(ApiConnection& connection, ClusterFeed& feed, PodStatusWriter& statuses,
                     EventRecorder& events, std::function<bool()> may_write,
                     std::function<void(const std::string&)> log)
    : connection_(connection),
      feed_(feed),
      statuses_(statuses),
      events_(events),
      may_write_(std::move(may_write)),
      log_(std::move(log)) {}

void Disruptor::call(ApiRequest request, std::function<void(const ApiAnswer&)> handle) {
  ++outstanding_;
  request.is_wanted = [self = std::weak_ptr(alive_)] {
    const auto alive = self.lock();
    return alive && (*alive)->may_write_();
  };
  connection_.call(std::move(request),
                   [handle = std::move(handle), self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     const auto alive = self.lock();
                     if (!alive) return;
                     --(*alive)->outstanding_;
                     handle(answer);
                   });
}

void Disruptor::preempt(const PreemptPods& action) {
  const ClusterFeed::KnownPod* known = feed_.pod(action.pod);
  const std::string* node = feed_.node_name(action.node);
  if (!known) return;
  if (!node) return think_again(action.pod);
  const Time now = connection_.now();
  std::erase_if(ending_, [&](const auto& entry) { return now - entry.second > kEndingShows; });
  std::vector<Victim> victims;
  for (const PodId id : action.victims) {
    const ClusterFeed::KnownPod* victim = feed_.pod(id);
    if (!victim || victim->pod.terminating) continue;  // on its way out already
    if (!ending_.emplace(victim->pod.uid, now).second) continue;
    victims.push_back({reference_to(victim->pod), reference_to(known->pod), action.pod,
                       known->pod.spec().scheduler_name, *node});
  }
  // The less important ones that were promised this node had better look elsewhere.
  const std::int32_t priority = known->pod.spec().priority;
  std::vector<PodId> displaced;
  feed_.each_waiting([&](const ClusterFeed::KnownPod& other) {
    if (other.pod.nominated_node == *node && other.pod.spec().priority < priority &&
        other.pod.id != action.pod)
      displaced.push_back(other.pod.id);
  });
  for (const PodId other : displaced) statuses_.clear_nomination(other);

  statuses_.say_unscheduled(action.pod, {"Unschedulable", action.why}, *node,
                            [this, preemptor = action.pod, victims = std::move(victims)](bool ok) {
                              if (ok && may_write_()) {
                                for (const Victim& victim : victims) end(victim);
                                return;
                              }
                              for (const Victim& victim : victims) ending_.erase(victim.reference.uid);
                              think_again(preemptor);
                            });
}

void Disruptor::end(const Victim& victim) {
  PodStatusChange change;
  change.condition = PodCondition{"DisruptionTarget", "True", "PreemptionByScheduler",
                                  victim.scheduler + ": preempting to accommodate a higher priority pod"};
  call(pod_status_request(victim.reference, change, connection_.now()),
       [this, victim](const ApiAnswer& answer) {
         if (answer.code == kNotFound || answer.code == kConflict) return;  // gone, or another by now
         if (answer.ok()) return remove(victim);
         log_(name_of(victim.reference) + ": cannot be marked as preempted: " + answer.status.message);
         ending_.erase(victim.reference.uid);
         think_again(victim.preemptor_id);
       });
}

void Disruptor::remove(const Victim& victim) {
  call(
      delete_request(types::pods(), victim.reference.name_space, victim.reference.name, victim.reference.uid),
      [this, victim](const ApiAnswer& answer) {
        if (answer.code == kNotFound || answer.code == kConflict) return;
        if (!answer.ok()) {
          log_(name_of(victim.reference) + ": cannot be preempted: " + answer.status.message);
          ending_.erase(victim.reference.uid);
          return think_again(victim.preemptor_id);
        }
        log_(name_of(victim.reference) + ": preempted by " + name_of(victim.preemptor) + " on " +
             victim.node);
        EventRecord event;
        event.about = victim.reference;
        event.related = victim.preemptor;
        event.reason = "Preempted";
        event.action = "Preempting";
        event.reporter = victim.scheduler;
        event.message = "Preempted by pod " + victim.preemptor.uid + " on node " + victim.node;
        events_.record(std::move(event));
      });
}

// Not at once: what went wrong may do so again.
void Disruptor::think_again(PodId preemptor) {
  connection_.call_after(kThinkAgain, [preemptor, self = std::weak_ptr(alive_)] {
    if (const auto alive = self.lock()) (*alive)->feed_.tell_again(preemptor);
  });
}

void Disruptor::evict(const EvictPod& action) {
  const ClusterFeed::KnownPod* known = feed_.pod(action.pod);
  if (!known) return;
  if (known->pod.terminating) return feed_.evict_failed(action.pod, "on its way out already");
  const PodReference reference = reference_to(known->pod);
  EventRecord event;
  event.about = reference;
  event.reason = "Evicted";
  event.action = "Evicting";
  event.reporter = known->pod.spec().scheduler_name;
  event.message = action.why;
  call(evict_request(reference), [this, id = action.pod, event = std::move(event)](const ApiAnswer& answer) {
    if (answer.ok()) {
      log_(name_of(event.about) + ": evicted: " + event.message);
      return events_.record(event);
    }
    // Not told by whom it was kept, the next look would pick it again.
    const std::string why =
        (answer.code == kTooMany ? "a disruption budget forbids it: " : "") + answer.status.message;
    if (answer.code != kNotFound && answer.code != kConflict)
      log_(name_of(event.about) + ": not evicted: " + why);
    feed_.evict_failed(id, why);
  });
}

}  // namespace evenkeel::kubernetes
