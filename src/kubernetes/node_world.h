#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/world.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/cluster_feed.h"
#include "kubernetes/list_watch.h"

namespace evenkeel::kubernetes {

// A cluster as the agent of one node follows it: that node, the pods bound to it and, unless somebody tells
// of them, the pods that wait. The server picks them out by field selectors, as it does for kubelets, so that
// a hundred agents cost it little more than one: a pod's life is told to the agent of its node alone. Only
// follows: nothing here is written.
class NodeWorld {
 public:
  struct Options {
    std::string node;
    std::vector<std::string> scheduler_names;  // whose waiting pods are looked at
    std::vector<std::string> namespaces;       // only what waits there; none: everywhere
    std::uint64_t seed = 0;
  };
  using Log = std::function<void(const std::string&)>;

  NodeWorld(ApiConnection& connection, Options options, Log log);
  ~NodeWorld();
  NodeWorld(const NodeWorld&) = delete;
  NodeWorld& operator=(const NodeWorld&) = delete;

  void start();
  // Whether to follow the pods that wait. Not: those that were told of are gone.
  void watch_waiting(bool watches);
  bool watches_waiting() const { return !waiting_.empty(); }

  bool synced() const { return node_->synced() && pods_->synced(); }  // its node and what is bound there
  bool knows_node() const { return feed_.node_named(options_.node).has_value(); }
  bool has_events() const { return synced() && !feed().events().empty(); }
  // What happened since the last call; stays valid until the next.
  std::span<const ClusterEvent> take_events();
  // What its node was seen to use becomes UsageReported.
  void report(const NodeReport& report, Time now) {
    if (synced()) feed_.report(report, now);
  }

  struct Counts {
    std::uint64_t events = 0, watches = 0, lists = 0;
  };
  Counts counts() const;

 private:
  ClusterFeed& feed() const { return const_cast<ClusterFeed&>(feed_); }
  std::unique_ptr<ListWatch> follow(const ResourceType& type, const std::string& fields,
                                    std::function<void(const ObjectChange&)> changed);
  void waiting_changed(const ObjectChange& change);

  ApiConnection& connection_;
  Options options_;
  Log log_;
  ClusterFeed feed_;
  std::unique_ptr<ListWatch> node_, pods_;
  std::vector<std::unique_ptr<ListWatch>> waiting_;  // one for each scheduler's name; none: not watched
  Counts past_;                                      // of those that were given up
  bool started_ = false;
  std::vector<ClusterEvent> lent_;
  ClusterFeed::Samples lent_samples_;  // what they refer to
};

}  // namespace evenkeel::kubernetes
