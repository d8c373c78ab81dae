#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/world.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/binder.h"
#include "kubernetes/cluster_feed.h"
#include "kubernetes/list_watch.h"

namespace evenkeel::kubernetes {

// A cluster behind an API server: followed by LIST and WATCH of everything scheduling looks at, changed by
// bindings, evictions, conditions and Events. Nothing is told before every kind was listed once, so that
// nobody decides about half a cluster.
class KubernetesWorld : public World {
 public:
  struct Options {
    ClusterFeed::Options feed;
    bool writes = true;  // false: decisions are taken note of and forgotten after a while, nothing is sent
    std::uint64_t seed = 0;
    std::size_t most_events = 1000;  // of one turn: more come in the next
  };
  using Log = std::function<void(const std::string&)>;

  KubernetesWorld(ApiConnection& connection, Options options, Log log);
  ~KubernetesWorld() override;
  KubernetesWorld(const KubernetesWorld&) = delete;
  KubernetesWorld& operator=(const KubernetesWorld&) = delete;

  bool synced() const { return synced_ == follows_.size(); }
  // Ends with the next wait_for_events, which then says so.
  void stop() { stopped_ = true; }
  // Writes that are under way.
  std::size_t outstanding() const { return binder_.outstanding(); }
  const ClusterFeed& feed() const { return feed_; }

  Time now() const override { return connection_.now(); }
  std::optional<std::span<const ClusterEvent>> wait_for_events(Time deadline) override;
  void execute(const Action& action) override;

 private:
  void follow(const ResourceType& type);
  void bind(const BindPod& action);

  ApiConnection& connection_;
  Options options_;
  Log log_;
  ClusterFeed feed_;
  Binder binder_;
  std::vector<std::unique_ptr<ListWatch>> follows_;
  std::size_t synced_ = 0;
  bool stopped_ = false;
  std::vector<ClusterEvent> lent_;
  std::shared_ptr<KubernetesWorld*> alive_ = std::make_shared<KubernetesWorld*>(this);
};

}  // namespace evenkeel::kubernetes
