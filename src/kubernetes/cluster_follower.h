#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubernetes/api_connection.h"
#include "kubernetes/cluster_feed.h"
#include "kubernetes/list_watch.h"

namespace evenkeel::kubernetes {

// A cluster's nodes, pods and whatever else decides where pods fit, followed by one who only looks. Whoever
// follows pods already hands them on. Nothing is told before every kind was listed once: half a cluster would
// look like a full one.
class ClusterFollower {
 public:
  using Log = std::function<void(const std::string&)>;

  ClusterFollower(ApiConnection& connection, std::uint64_t seed, const Log& log);

  void start();
  void pod_changed(const ObjectChange& change) { feed_.apply(types::pods(), change); }
  void pods_synced() { pods_synced_ = true; }
  bool synced() const;
  // Kinds that were not listed yet, and what the server said where it refused: for people.
  std::string missing() const;
  // What happened since the last call; before everything was listed, nothing.
  std::vector<ClusterEvent> take_events();
  const ClusterFeed& feed() const { return feed_; }

 private:
  struct Kind {
    std::unique_ptr<ListWatch> watch;
    std::string trouble;
  };
  void follow(const ResourceType& type);

  ApiConnection& connection_;
  std::uint64_t seed_;
  ClusterFeed feed_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  bool pods_synced_ = false;
};

}  // namespace evenkeel::kubernetes
