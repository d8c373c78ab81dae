#include "kubernetes/pod_status_writer.h"

#include <utility>

namespace evenkeel::kubernetes {

void PodStatusWriter::say_unscheduled(PodId pod, UnscheduledCondition why,
                                      std::optional<std::string> nominated_node, Done done) {
  write({pod, std::move(why), std::move(nominated_node), std::move(done)});
}

void PodStatusWriter::clear_nomination(PodId pod) { write({pod, std::nullopt, "", {}}); }

void PodStatusWriter::write(Wish wish) {
  const auto finish = [&](bool ok) {
    if (wish.done) wish.done(ok);
  };
  const ClusterFeed::KnownPod* known = feed_.pod(wish.pod);
  if (!known || !known->node.empty()) return finish(false);  // it waits no longer
  if (const auto busy = under_way_.find(wish.pod); busy != under_way_.end()) {
    if (busy->second && busy->second->done) busy->second->done(false);
    busy->second = std::move(wish);
    return;
  }
  PodStatusChange change;
  change.is_transition = known->unscheduled.reason.empty();
  if (wish.why && *wish.why != known->unscheduled)
    change.condition = PodCondition{"PodScheduled", "False", wish.why->reason, wish.why->message};
  // What was written last may differ from what is known.
  if (wish.nominated_node && (known->promise_written || *wish.nominated_node != known->pod.nominated_node))
    change.nominated_node = wish.nominated_node;
  if (!change.condition && !change.nominated_node) return finish(true);

  under_way_.emplace(wish.pod, std::nullopt);
  if (change.nominated_node) feed_.promise_written(wish.pod, *change.nominated_node);
  const PodReference reference{known->pod.shape->name_space, known->pod.name, known->pod.uid};
  ApiRequest request = pod_status_request(reference, change, connection_.now());
  request.is_wanted = [self = std::weak_ptr(alive_)] {
    const auto alive = self.lock();
    return alive && (*alive)->may_write_();
  };
  connection_.call(std::move(request),
                   [wish = std::move(wish), self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     const auto alive = self.lock();
                     if (!alive) return;
                     PodStatusWriter& here = **alive;
                     auto next = std::move(here.under_way_.extract(wish.pod).mapped());
                     if (answer.ok() && wish.why) here.feed_.said(wish.pod, *wish.why);
                     if (wish.done) wish.done(answer.ok());
                     if (next) here.write(*std::move(next));
                   });
}

}  // namespace evenkeel::kubernetes
