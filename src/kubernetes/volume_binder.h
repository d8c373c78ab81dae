#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/cluster_feed.h"

namespace evenkeel::kubernetes {

// Binds the claims that waited for their first consumer before the pod goes to its node: a volume that is
// there is promised to its claim (spec.claimRef), one that is to be made is asked for on the node
// (annotation volume.kubernetes.io/selected-node). Then it waits for the controllers to do the rest. Should
// one of them fail, or all take too long, what was asked for and not yet done is taken back.
class VolumeBinder {
 public:
  using Done = std::function<void(Status)>;

  VolumeBinder(ApiConnection& connection, const ClusterFeed& feed, std::function<bool()> may_write)
      : connection_(connection), feed_(feed), may_write_(std::move(may_write)) {}

  // `done` in a later turn, once.
  void bind(PodId pod, std::string node, std::vector<VolumeBinding> volumes, Duration at_most, Done done);

 private:
  struct Step {
    VolumeBinding binding;
    std::string written;  // the version our write made; empty: none, or it was done before
  };
  struct Work {
    PodId pod;
    std::string node;
    std::optional<NodeId> handle;  // another that comes back under its name is not the node that was chosen
    std::vector<Step> steps;
    Time deadline{};
    Done done;
    std::size_t next = 0;
  };
  using Shared = std::shared_ptr<Work>;

  void write_next(const Shared& work);
  void wait(const Shared& work);
  void fail(const Shared& work, const std::string& why);
  void take_back(const Step& step);
  void call(const Shared& work, ApiRequest request,
            void (VolumeBinder::*handle)(const Shared&, const ApiAnswer&));
  void wrote(const Shared& work, const ApiAnswer& answer);
  void later(const Shared& work);

  ApiConnection& connection_;
  const ClusterFeed& feed_;
  std::function<bool()> may_write_;
  // Answers that come after the end find it expired.
  std::shared_ptr<VolumeBinder*> alive_ = std::make_shared<VolumeBinder*>(this);
};

}  // namespace evenkeel::kubernetes
