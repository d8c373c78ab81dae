#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "kubernetes/api_connection.h"
#include "kubernetes/cluster_feed.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {

// Keeps the API's view of pods that wait up to date: why, and which node was promised. One write per pod is
// under way at a time; of what was said meanwhile only the last is written, and nothing that is there
// already.
class PodStatusWriter {
 public:
  using Done = std::function<void(bool ok)>;

  PodStatusWriter(
      ApiConnection& connection, ClusterFeed& feed, std::function<bool()> may_write = [] { return true; })
      : connection_(connection), feed_(feed), may_write_(std::move(may_write)) {}

  // PodScheduled=False; `done`, if any, when it is written or was there already. No nomination: as it is.
  void say_unscheduled(PodId pod, UnscheduledCondition why, std::optional<std::string> nominated_node,
                       Done done = {});
  // Takes back a promise made earlier.
  void clear_nomination(PodId pod);

  std::size_t outstanding() const { return under_way_.size(); }

 private:
  struct Wish {
    PodId pod;
    std::optional<UnscheduledCondition> why;
    std::optional<std::string> nominated_node;
    Done done;
  };
  void write(Wish wish);

  ApiConnection& connection_;
  ClusterFeed& feed_;
  std::function<bool()> may_write_;
  std::unordered_map<PodId, std::optional<Wish>> under_way_;  // what to write next, if anything
  // Answers that come after the end find it expired.
  std::shared_ptr<PodStatusWriter*> alive_ = std::make_shared<PodStatusWriter*>(this);
};

}  // namespace evenkeel::kubernetes
