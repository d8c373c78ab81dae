#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/world.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/binder.h"
#include "kubernetes/cluster_feed.h"
#include "kubernetes/disruptor.h"
#include "kubernetes/event_recorder.h"
#include "kubernetes/list_watch.h"
#include "kubernetes/pod_status_writer.h"

namespace evenkeel::kubernetes {

// A cluster behind an API server: followed by LIST and WATCH of everything scheduling looks at, changed by
// bindings, evictions, conditions and Events. Nothing is told before every kind was listed once, so that
// nobody decides about half a cluster.
class KubernetesWorld : public World {
 public:
  struct Options {
    ClusterFeed::Options feed;
    bool writes = true;  // false: decisions are taken note of and forgotten after a while, nothing is sent
    EventRecorder::Options events;
    WireFormat bodies = WireFormat::json;  // of bindings
    Duration volumes_within = std::chrono::minutes(10);
    std::uint64_t seed = 0;
    std::size_t most_events = 1000;   // of one turn: more come in the next
    std::size_t most_bindings = 128;  // that wait for the server's answer
  };
  using Log = std::function<void(const std::string&)>;

  KubernetesWorld(ApiConnection& connection, Options options, Log log);
  ~KubernetesWorld() override;
  KubernetesWorld(const KubernetesWorld&) = delete;
  KubernetesWorld& operator=(const KubernetesWorld&) = delete;

  void start();  // lists everything, and watches from there
  bool started() const { return started_; }
  bool synced() const { return started_ && synced_ == follows_.size(); }
  // Makes sure that every pod is known as it is at this moment at least; `done` in a later turn.
  void refresh_pods(std::function<void()> done);
  // Ends a wait for events that is under way, or the next.
  void interrupt() { interrupted_ = true; }
  // Ends with the next wait_for_events, which then says so.
  void stop() { stopped_ = true; }
  // Asked before every write that begins something: a leader's right to act ends by itself.
  void write_while(std::function<bool()> may_write) { may_write_ = std::move(may_write); }
  // An Event for people about the scheduler itself, where it may write.
  void announce(EventRecord event) {
    if (options_.writes && may_write_()) events_.record_repeating(std::move(event));
  }
  // Asked for every binding: goes onto the pod with it.
  void annotate_bindings(std::function<std::optional<Annotation>()> annotation) {
    always_ = std::move(annotation);
  }
  // Goes onto the pod with its binding, should that be next.
  void annotate(PodId pod, Annotation annotation) { annotation_ = {pod, std::move(annotation)}; }

  // What a source of metrics told of a node: UsageReported of the next wait_for_events. Before every kind was
  // listed nobody knows whom it means, and it is dropped.
  void report(const NodeReport& report, Time now) {
    if (synced()) feed_.report(report, now);
  }
  // The names that workloads are kept by beyond our life.
  PodTemplates& workloads() { return feed_.workloads(); }

  // Writes that are under way, but for Events.
  std::size_t outstanding() const {
    return binder_.outstanding() + statuses_.outstanding() + disruptor_.outstanding();
  }
  std::size_t bindings() const { return binder_.outstanding(); }
  const ClusterFeed& feed() const { return feed_; }
  const EventRecorder& events() const { return events_; }
  const std::vector<std::unique_ptr<ListWatch>>& follows() const { return follows_; }

  Time now() const override { return connection_.now(); }
  std::optional<std::span<const ClusterEvent>> wait_for_events(Time deadline) override;
  void execute(const Action& action) override;
  bool is_full() const override { return binder_.posted() >= options_.most_bindings; }
  // Whether wait_for_events() would return at once.
  bool has_events() const { return interrupted_ || stopped_ || (synced() && !events_waiting().empty()); }

 private:
  const std::vector<ClusterEvent>& events_waiting() const { return const_cast<ClusterFeed&>(feed_).events(); }
  void follow(const ResourceType& type);
  void bind(const BindPod& action);
  void mark(const MarkUnschedulable& action);
  void evict(const EvictPod& action, bool may_write);
  void record_failure(const Pod& pod, const std::string& why);
  void record_failure(PodReference pod, std::string reporter, std::string why);
  void tell_of_unreadable_pods();
  void bound(const Binder::Binding& binding);
  void not_bound(const Binder::Binding& binding, const std::string& why);

  ApiConnection& connection_;
  Options options_;
  Log log_;
  ClusterFeed feed_;
  std::function<bool()> may_write_ = [] { return true; };
  EventRecorder events_;
  PodStatusWriter statuses_;
  Disruptor disruptor_;
  Binder binder_;
  std::optional<std::pair<PodId, Annotation>> annotation_;
  std::function<std::optional<Annotation>()> always_ = [] { return std::nullopt; };
  std::vector<std::unique_ptr<ListWatch>> follows_;
  std::size_t synced_ = 0;
  bool started_ = false, stopped_ = false, interrupted_ = false;
  std::vector<ClusterEvent> lent_;
  ClusterFeed::Samples lent_samples_;  // what they refer to
  std::shared_ptr<KubernetesWorld*> alive_ = std::make_shared<KubernetesWorld*>(this);
};

}  // namespace evenkeel::kubernetes
