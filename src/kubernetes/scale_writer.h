#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kubernetes/api_connection.h"
#include "kubernetes/scale_targets.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {

// A ReplicaSet that has to end pods ends those with a lower one first; without it, it counts as 0.
inline constexpr const char* kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
// The cost that the pod at this place in the order of leaving is given. So low that no owner's own is taken
// for ours.
std::string leaving_cost(std::size_t place);
bool is_leaving_cost(const std::string& cost);

// Brings workloads to a number of replicas. A write holds only for the very state it was decided on: it
// carries that state's resourceVersion, so one that was delayed, repeated on the way or sent by somebody who
// leads no more changes nothing once anybody else has written. Whatever is answered, or not, every change
// ends.
//
//   PUT scale ── 2xx ───────────────────────────────────────────────────▶ done
//        │ 4xx but 409: surely not done ────────────────────────────────▶ failed
//        │ 409, 5xx, no answer                  ┌─ at `to` ─────────────▶ done
//        └────────────▶ read it again (GET) ────┼─ neither ─────────────▶ failed: another has scaled it
//                        ▲      │               └─ at `from`, 409 ──────▶ PUT with its new version, a few
//                        times └──────┘ no answer       at `from`, silence ───▶ failed once it was seen twice
class ScaleWriter {
 public:
  struct Change {
    ResourceType type;
    std::string name_space, name;
    std::string resource_version;  // of the look it was decided on
    std::int32_t from = 0, to = 0;
    std::vector<PodReference> leave_first{};  // their deletion cost is lowered before, where that may be done
    std::vector<PodReference> marked{};       // earlier and still there: their cost is taken back
    Time not_after = Time::max();             // is not sent later
  };
  using Done = std::function<void(const Status&)>;

  // `trouble` hears of pods that could not be marked: their number of replicas changes all the same.
  ScaleWriter(
      ApiConnection& connection, std::function<bool()> may_write,
      std::function<void(const std::string&)> trouble = [](const std::string&) {})
      : connection_(connection), may_write_(std::move(may_write)), trouble_(std::move(trouble)) {}

  void scale(Change change, Done done);
  std::size_t outstanding() const { return outstanding_; }

 private:
  struct Attempt;
  using Shared = std::shared_ptr<Attempt>;
  bool may_send(const Attempt& attempt) const;
  void mark(const Shared& attempt);
  void mark(const Shared& attempt, const PodReference& pod, const std::optional<std::string>& cost,
            std::function<void()> then);
  void tidy(const Shared& attempt);
  void put(const Shared& attempt);
  void answered(const Shared& attempt, const ApiAnswer& answer);
  void look(const Shared& attempt, Duration pause);
  void looked(const Shared& attempt, const ApiAnswer& answer);
  void end(const Shared& attempt, const Status& status);
  void call(ApiRequest request, const Shared& attempt,
            void (ScaleWriter::*then)(const Shared&, const ApiAnswer&));

  ApiConnection& connection_;
  std::function<bool()> may_write_;
  std::function<void(const std::string&)> trouble_;
  std::size_t outstanding_ = 0;
  std::shared_ptr<ScaleWriter*> alive_ = std::make_shared<ScaleWriter*>(this);
};

// PUT of the scale subresource; 409 where anything about the object changed since that version.
ApiRequest replace_scale_request(const ScaleWriter::Change& change);

}  // namespace evenkeel::kubernetes
