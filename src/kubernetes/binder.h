#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubernetes/api_connection.h"
#include "kubernetes/cluster_feed.h"
#include "kubernetes/volume_binder.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {

// Brings pods to their nodes, each at most once at a time. Whatever the server answers, or does not, every
// binding ends: confirmed (the feed tells PodBound), forgotten (BindFailed) or pointless (PodGone).
//
//   POST binding ── 2xx ─────────────────────────────────────────▶ bound
//        │ 4xx but 404 and 409: surely not done ─────────────────▶ failed
//        │ 404, 409, 5xx, no answer                    ┌─ ours ──▶ bound
//        └──────────────▶ look at the pod (GET) ───────┼─ other ─▶ bound, elsewhere
//                          ▲      │ no answer           ├─ none ──▶ failed; after silence only when looked
//                          twice └──────┘ later again         └─ gone ──▶ gone
class Binder {
 public:
  struct Binding {
    PodId pod;
    PodReference reference;
    std::string node;
    std::vector<VolumeBinding> volumes{};   // to be bound, or asked for, first
    std::vector<Annotation> annotations{};  // which the pod gets
    Duration volumes_within = std::chrono::minutes(10);
    // Asked whenever may_write is: what it was decided under still holds.
    std::function<bool()> holds = [] { return true; };
  };
  struct Handlers {
    std::function<void(const Binding&)> bound;  // by us
    std::function<void(const Binding&, const std::string& why)> failed;
    // Asked once more after waiting for volumes; no: the binding fails.
    std::function<bool()> may_write = [] { return true; };
  };

  Binder(ApiConnection& connection, ClusterFeed& feed, WireFormat bodies, Handlers handlers)
      : connection_(connection),
        feed_(feed),
        bodies_(bodies),
        handlers_(std::move(handlers)),
        volumes_(connection, feed, handlers_.may_write) {}

  void bind(Binding binding);

  std::size_t outstanding() const { return outstanding_; }
  std::size_t posted() const { return posted_; }  // of those, the ones the server has to answer

 private:
  struct Attempt;
  using Shared = std::shared_ptr<Attempt>;

  void post(const Shared& attempt);
  void answered(const Shared& attempt, const ApiAnswer& answer);
  void look_after(const Shared& attempt, Duration pause);
  void look(const Shared& attempt);
  void looked(const Shared& attempt, const ApiAnswer& answer);
  void succeed(const Shared& attempt);
  void fail(const Shared& attempt);
  void end() { --outstanding_; }

  ApiConnection& connection_;
  ClusterFeed& feed_;
  WireFormat bodies_;
  Handlers handlers_;
  VolumeBinder volumes_;
  std::size_t outstanding_ = 0, posted_ = 0;
  // Answers that come after the end find it expired.
  std::shared_ptr<Binder*> alive_ = std::make_shared<Binder*>(this);
};

}  // namespace evenkeel::kubernetes
