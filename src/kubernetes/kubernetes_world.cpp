#include "kubernetes/kubernetes_world.h"

#include <algorithm>
#include <utility>

#include "base/match.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr Duration kLongestWait = 1h;        // a wait without an end is one of these after the other
constexpr std::size_t kPieces = 64;          // of work that is ready, taken along with the first
constexpr Duration kShadowAssumption = 30s;  // by then whoever really binds has done so

PodReference reference_to(const Pod& pod) { return {pod.shape->name_space, pod.name, pod.uid}; }

}  // namespace

KubernetesWorld::KubernetesWorld(ApiConnection& connection, Options options, Log log)
    : connection_(connection),
      options_(std::move(options)),
      log_(std::move(log)),
      feed_(options_.feed, log_),
      events_(connection_, options_.events),
      statuses_(connection_, feed_, [this] { return may_write_(); }),
      disruptor_(
          connection_, feed_, statuses_, events_, [this] { return may_write_(); }, log_),
      binder_(connection_, feed_, options_.bodies,
              {[this](const Binder::Binding& binding) { bound(binding); },
               [this](const Binder::Binding& binding, const std::string& why) { not_bound(binding, why); },
               [this] { return may_write_(); }}) {
  for (const ResourceType& type :
       {types::nodes(), types::namespaces(), types::priority_classes(), types::storage_classes(),
        types::persistent_volumes(), types::persistent_volume_claims(), types::csi_nodes(),
        types::csi_drivers(), types::csi_storage_capacities(), types::volume_attachments(), types::services(),
        types::replication_controllers(), types::replica_sets(), types::stateful_sets(),
        types::pod_disruption_budgets(), types::app_groups(), types::network_topologies(),
        types::pods()})  // pods last: see refresh_pods
    follow(type);
}

void KubernetesWorld::start() {
  started_ = true;
  for (const auto& kind : follows_) kind->start();
}

void KubernetesWorld::refresh_pods(std::function<void()> done) { follows_.back()->refresh(std::move(done)); }

KubernetesWorld::~KubernetesWorld() = default;

void KubernetesWorld::follow(const ResourceType& type) {
  ListWatch::Options options;
  options.seed = options_.seed;
  options.may_be_absent = type.kind == "AppGroup" || type.kind == "NetworkTopology";
  ListWatch::Handlers handlers;
  handlers.changed = [this, type](const ObjectChange& change) { feed_.apply(type, change); };
  handlers.synced = [this] { ++synced_; };
  handlers.trouble = log_;
  follows_.push_back(std::make_unique<ListWatch>(connection_, type, options, std::move(handlers)));
}

std::optional<std::span<const ClusterEvent>> KubernetesWorld::wait_for_events(Time deadline) {
  lent_.clear();
  lent_samples_.clear();
  const bool was_full = is_full();
  const auto is_over = [&] {
    return stopped_ || interrupted_ || (synced() && !feed_.events().empty()) || (was_full && !is_full());
  };
  const Duration wait = std::clamp(deadline - now(), Duration::zero(), kLongestWait);
  if (connection_.run_for(wait, is_over) && !stopped_) {
    // What else is there already comes along, so that a burst is decided about as a whole; but not all of
    // what never ends, such as answers to what is written all the time.
    std::size_t pieces = kPieces;
    connection_.run_for(Duration::zero(), [&] {
      return stopped_ || feed_.events().size() >= options_.most_events || pieces-- == 0;
    });
  }
  if (stopped_) return std::nullopt;
  interrupted_ = false;
  tell_of_unreadable_pods();
  if (synced()) {
    std::swap(lent_, feed_.events());
    std::swap(lent_samples_, feed_.samples());
  }
  return std::span<const ClusterEvent>(lent_);
}

void KubernetesWorld::execute(const Action& action) {
  const bool may_write = options_.writes && may_write_();
  std::visit(Match{
                 [&](const BindPod& bind_pod) { bind(bind_pod); },
                 [&](const MarkUnschedulable& unschedulable) {
                   if (may_write) mark(unschedulable);
                 },
                 [&](const EvictPod& eviction) { evict(eviction, may_write); },
                 [&](const PreemptPods& preemption) {
                   if (!may_write) return;
                   if (const auto* known = feed_.pod(preemption.pod))
                     record_failure(known->pod, preemption.why);
                   disruptor_.preempt(preemption);
                 },
             },
             action);
}

void KubernetesWorld::bind(const BindPod& action) {
  auto annotation = std::exchange(annotation_, std::nullopt);
  const ClusterFeed::KnownPod* known = feed_.pod(action.pod);
  if (!known) return;  // it went while it was decided about; the scheduler hears of it next
  const std::string* node = feed_.node_name(action.node);
  // Both are told next, if the scheduler does not know yet.
  if (!known->node.empty()) return;
  if (!node) return feed_.bind_failed(action.pod, "the node is gone");
  feed_.assumed(action.pod, action.node);
  if (!options_.writes) {
    connection_.call_after(kShadowAssumption, [pod = action.pod, self = std::weak_ptr(alive_)] {
      if (const auto alive = self.lock()) (*alive)->feed_.bind_failed(pod, "nobody bound it");
    });
    return;
  }
  if (!may_write_()) return feed_.bind_failed(action.pod, "no longer leading");
  Binder::Binding binding{action.pod, reference_to(known->pod), *node, action.volumes,
                          {},         options_.volumes_within};
  if (annotation && annotation->first == action.pod)
    binding.annotations.push_back(std::move(annotation->second));
  if (auto annotation_of_all = always_()) {
    // What is decided under one may not be written under another: by then its sender is somebody else.
    binding.holds = [this, decided = annotation_of_all->value] {
      const auto now = always_();
      return now && now->value == decided;
    };
    binding.annotations.push_back(*std::move(annotation_of_all));
  }
  binder_.bind(std::move(binding));
}

// What is only proposed is said, and what nobody may do counts as refused: its room is free again.
void KubernetesWorld::evict(const EvictPod& action, bool may_write) {
  const ClusterFeed::KnownPod* known = feed_.pod(action.pod);
  if (!known) return;
  if (action.proposed) return log_(known->pod.full_name() + ": would be evicted: " + action.why);
  if (!may_write) return feed_.evict_failed(action.pod, "nothing may be written");
  disruptor_.evict(action);
}

void KubernetesWorld::bound(const Binder::Binding& binding) {
  const ClusterFeed::KnownPod* known = feed_.pod(binding.pod);
  EventRecord event;
  event.about = binding.reference;
  event.reason = "Scheduled";
  event.action = "Binding";
  if (known) event.reporter = known->pod.spec().scheduler_name;
  event.message = "Successfully assigned " + binding.reference.name_space + "/" + binding.reference.name +
                  " to " + binding.node;
  events_.record(std::move(event));
}

void KubernetesWorld::not_bound(const Binder::Binding& binding, const std::string& why) {
  log_(binding.reference.name_space + "/" + binding.reference.name + ": not bound to " + binding.node + ": " +
       why);
  const ClusterFeed::KnownPod* known = feed_.pod(binding.pod);
  if (!known || !may_write_()) return;
  const std::string message = "binding rejected: " + why;
  record_failure(known->pod, message);
  statuses_.say_unscheduled(binding.pod, {"SchedulerError", message}, "");
}

void KubernetesWorld::mark(const MarkUnschedulable& action) {
  const ClusterFeed::KnownPod* known = feed_.pod(action.pod);
  if (!known) return;
  record_failure(known->pod, action.why);
  // One whose victims are still leaving keeps its promise, or it would ask for others.
  statuses_.say_unscheduled(action.pod, {"Unschedulable", action.why},
                            action.drops_nomination ? std::optional<std::string>("") : std::nullopt);
}

void KubernetesWorld::record_failure(const Pod& pod, const std::string& why) {
  record_failure(reference_to(pod), pod.spec().scheduler_name, why);
}

void KubernetesWorld::record_failure(PodReference pod, std::string reporter, std::string why) {
  EventRecord event;
  event.about = std::move(pod);
  event.is_warning = true;
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.reporter = std::move(reporter);
  event.message = std::move(why);
  events_.record_repeating(std::move(event));
}

// Whoever leads says so; a standby keeps it for the day it does.
void KubernetesWorld::tell_of_unreadable_pods() {
  if (feed_.unreadable_pods().empty() || !options_.writes || !synced() || !may_write_()) return;
  for (ClusterFeed::UnreadablePod& pod : feed_.unreadable_pods())
    record_failure({pod.identity.name_space, pod.identity.name, pod.identity.uid},
                   std::move(pod.scheduler_name), "the pod cannot be read: " + pod.why);
  feed_.unreadable_pods().clear();
}

}  // namespace evenkeel::kubernetes
