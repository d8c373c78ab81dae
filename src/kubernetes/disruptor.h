#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/world.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/cluster_feed.h"
#include "kubernetes/event_recorder.h"
#include "kubernetes/pod_status_writer.h"

namespace evenkeel::kubernetes {

// Ends pods so that others can run. The promise of the node is written before anybody is asked to go, so that
// a scheduler that restarts in between knows for whom it was done.
//
//   nominate the preemptor ── written ──▶ each victim: condition DisruptionTarget ──▶ delete ──▶ Event
//            └── not written ──▶ nobody goes, the preemptor is thought about again
class Disruptor {
 public:
  Disruptor(ApiConnection& connection, ClusterFeed& feed, PodStatusWriter& statuses, EventRecorder& events,
            std::function<bool()> may_write, std::function<void(const std::string&)> log);

  void preempt(const PreemptPods& action);
  void evict(const EvictPod& action);

  std::size_t outstanding() const { return outstanding_; }

 private:
  struct Victim {
    PodReference reference, preemptor;
    PodId preemptor_id;
    std::string scheduler, node;
  };
  void end(const Victim& victim);
  void remove(const Victim& victim);
  void think_again(PodId preemptor);
  void call(ApiRequest request, std::function<void(const ApiAnswer&)> handle);

  ApiConnection& connection_;
  ClusterFeed& feed_;
  PodStatusWriter& statuses_;
  EventRecorder& events_;
  std::function<bool()> may_write_;
  std::function<void(const std::string&)> log_;
  std::size_t outstanding_ = 0;
  // Whom we asked to go, and when: until the watch shows it they may be picked again, and are left alone.
  std::unordered_map<std::string, Time> ending_;  // by uid
  // Answers that come after the end find it expired.
  std::shared_ptr<Disruptor*> alive_ = std::make_shared<Disruptor*>(this);
};

}  // namespace evenkeel::kubernetes
