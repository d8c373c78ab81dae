#include "scheduling/preemption.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/sort_stably.h"
#include "scheduling/filters/prepared.h"
#include "scheduling/preemption_parts.h"

namespace evenkeel::scheduling {
namespace {

// A pod taken off its node in thought, and back.
void remove(const FilterInput& input, ClusterState& cluster, PodId id) {
  const PodRecord& record = *cluster.pod(id);
  cluster.hide(id);
  prepared(input).add(input, record.pod, record.node, -1);
}

void put_back(const FilterInput& input, ClusterState& cluster, PodId id) {
  const PodRecord& record = *cluster.pod(id);
  cluster.show(id);
  prepared(input).add(input, record.pod, record.node, 1);
}

Time start_of(const PodRecord& record, Time now) {
  if (record.pod.started) return *record.pod.started;
  return record.started ? record.since : now;
}

class Importance {
 public:
  Importance(const ClusterState& cluster, Time now) : cluster_(cluster), now_(now) {}
  bool operator()(PodId a, PodId b) const {
    const PodRecord &left = *cluster_.pod(a), &right = *cluster_.pod(b);
    const std::int32_t p = left.pod.spec().priority, q = right.pod.spec().priority;
    return p != q ? p > q : start_of(left, now_) < start_of(right, now_);
  }

 private:
  const ClusterState& cluster_;
  Time now_;
};

// Those whose end would break a budget, given that the others in front of them end too.
std::vector<std::uint8_t> budget_breakers(const ClusterState& cluster, const std::vector<PodId>& pods) {
  std::vector<std::uint8_t> breaks(pods.size());
  std::map<std::string_view, std::int64_t> allowed;
  const auto& budgets = cluster.objects().budgets();
  for (const auto& [name, budget] : budgets) allowed[name] = budget.disruptions_allowed;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const Pod& pod = cluster.pod(pods[i])->pod;
    if (pod.shape->labels.all().empty()) continue;
    for (const auto& [name, budget] : budgets) {
      if (budget.name_space != pod.shape->name_space || !budget.selector ||
          budget.selector->requirements.empty() || !matches(*budget.selector, pod.shape->labels))
        continue;
      if (std::find(budget.disrupted_pods.begin(), budget.disrupted_pods.end(), pod.name) !=
          budget.disrupted_pods.end())
        continue;  // being ended already, and counted
      if (--allowed[name] < 0) breaks[i] = 1;
    }
  }
  return breaks;
}

}  // namespace

Trial try_node(const FilterInput& input, ClusterState& cluster, NodeId node, const Nominations& nominations,
               Time now) {
  std::vector<PodId> potential;
  for (const PodId id : cluster.pods_on(node))
    if (cluster.pod(id)->pod.spec().priority < input.pod.spec().priority) potential.push_back(id);
  if (potential.empty()) return {{}, {std::string(kNoVictims)}};

  const auto fits = [&] { return judge_with_nominated(input, cluster, node, nominations.on(node)); };
  for (const PodId id : potential) remove(input, cluster, id);
  Trial trial;
  if (NodeVerdict still = fits(); !still.objections.empty()) {
    for (Objection& objection : still.objections) trial.reasons.push_back(std::move(objection.reason));
    for (const PodId id : potential) put_back(input, cluster, id);
    return trial;
  }

  const Importance more_important(cluster, now);
  sort_stably(potential, more_important);
  const std::vector<std::uint8_t> breaks = budget_breakers(cluster, potential);
  Victims victims{node, {}, 0};
  for (const bool breakers : {true, false}) {
    for (std::size_t i = 0; i < potential.size(); ++i) {
      if ((breaks[i] != 0) != breakers) continue;
      put_back(input, cluster, potential[i]);
      if (fits().objections.empty()) continue;  // spared
      remove(input, cluster, potential[i]);
      victims.pods.push_back(potential[i]);
      victims.budget_violations += breakers ? 1 : 0;
    }
  }
  for (const PodId id : victims.pods) put_back(input, cluster, id);
  sort_stably(victims.pods, more_important);
  if (!victims.pods.empty()) trial.victims = std::move(victims);
  return trial;
}

VictimCost cost_of(const ClusterState& cluster, const Victims& victims, Time now) {
  std::int64_t sum = 0;
  const std::int32_t highest = cluster.pod(victims.pods.front())->pod.spec().priority;
  Time earliest = Time::max();  // of the most important ones
  for (const PodId id : victims.pods) {
    const PodRecord& record = *cluster.pod(id);
    const std::int32_t priority = record.pod.spec().priority;
    sum += std::int64_t{priority} + std::numeric_limits<std::int32_t>::max() + 1;
    if (priority == highest) earliest = std::min(earliest, start_of(record, now));
  }
  return {victims.budget_violations, highest, sum, victims.pods.size(), -earliest.time_since_epoch()};
}

// Ended by us already on the node that was promised: the pod has only to wait.
bool victims_are_leaving(const FilterInput& input, const Nominations& nominations) {
  const std::optional<NodeId> own = nominations.of(input.pod.id);
  if (!own || !input.cluster.has_node(*own)) return false;
  const auto pods = input.cluster.pods_on(*own);
  return std::any_of(pods.begin(), pods.end(), [&](PodId id) {
    const Pod& pod = input.cluster.pod(id)->pod;
    return pod.spec().priority < input.pod.spec().priority && pod.terminating && pod.disrupted_by_us;
  });
}

std::string preemption_message(const ClusterState& cluster,
                               const std::map<std::string, std::size_t>& reasons) {
  std::vector<std::string> phrases;
  for (const auto& [reason, nodes] : reasons) phrases.push_back(std::to_string(nodes) + " " + reason);
  std::sort(phrases.begin(), phrases.end());
  std::string text = "preemption: 0/" + std::to_string(cluster.node_count()) + " nodes are available:";
  for (std::size_t i = 0; i < phrases.size(); ++i) text += (i == 0 ? " " : ", ") + phrases[i];
  return text + ".";
}

std::size_t enough_candidates(const Profile& profile, std::size_t potential) {
  const auto count = static_cast<std::int64_t>(potential);
  return static_cast<std::size_t>(
      std::min(count, std::max<std::int64_t>(count * profile.min_candidate_nodes_percentage / 100,
                                             profile.min_candidate_nodes_absolute)));
}

NodeVerdict judge_with_nominated(const FilterInput& input, ClusterState& cluster, NodeId node,
                                 std::span<const Nomination> nominations) {
  std::vector<PodId> imagined;
  for (const auto& [pod, where] : nominations) {
    const PodRecord* record = cluster.pod(pod);
    if (where != node || pod == input.pod.id || !record || record->place != PodPlace::pending ||
        record->pod.spec().priority < input.pod.spec().priority)
      continue;
    cluster.imagine(pod, node);
    prepared(input).add(input, record->pod, node, 1);
    imagined.push_back(pod);
  }
  NodeVerdict verdict = imagined.empty() ? NodeVerdict{} : judge(input, node);
  for (auto pod = imagined.rbegin(); pod != imagined.rend(); ++pod) {
    prepared(input).add(input, cluster.pod(*pod)->pod, node, -1);
    cluster.forget(*pod);
  }
  return verdict.objections.empty() ? judge(input, node) : verdict;
}

PreemptionOutcome preempt(const FilterInput& input, ClusterState& cluster,
                          std::span<const Nomination> nominations, Time now) {
  Nominations promised;
  for (const auto& [pod, node] : nominations) promised.set(pod, node);
  return preempt(input, cluster, promised, now);
}

PreemptionOutcome preempt(const FilterInput& input, ClusterState& cluster, const Nominations& nominations,
                          Time now) {
  if (input.pod.spec().preemption == PreemptionPolicy::never)
    return {{}, "preemption: not eligible due to preemptionPolicy=Never."};
  std::vector<NodeId> potential;
  const std::optional<Refusal> refused = refusal(input);
  bool promise_is_void = refused && refused->unresolvable;
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
    if (!cluster.has_node({slot})) continue;
    const NodeVerdict verdict = refused
                                    ? NodeVerdict{{{refused->plugin, refused->reason}}, refused->unresolvable}
                                    : judge_with_nominated(input, cluster, {slot}, nominations.on({slot}));
    if (verdict.failed) return {};
    if (verdict.objections.empty()) continue;
    if (!verdict.unresolvable) potential.push_back({slot});
    promise_is_void =
        promise_is_void || (verdict.unresolvable && cluster.node({slot}).name == input.pod.nominated_node);
  }
  if (!promise_is_void && victims_are_leaving(input, nominations))
    return {{}, "preemption: not eligible due to a terminating pod on the nominated node."};

  const std::size_t enough = enough_candidates(input.options.profile, potential.size());
  const bool hopeless = !cluster.has_pods_below(input.pod.spec().priority);
  std::map<std::string, std::size_t> reasons;
  std::vector<Victims> candidates;
  bool spotless = false;  // some candidate breaks no budget
  std::size_t looked_at = 0;
  for (const NodeId node : potential) {
    Trial trial =
        hopeless ? Trial{{}, {std::string(kNoVictims)}} : try_node(input, cluster, node, nominations, now);
    ++looked_at;
    for (std::string& reason : trial.reasons) ++reasons[std::move(reason)];
    if (!trial.victims) continue;
    spotless = spotless || trial.victims->budget_violations == 0;
    candidates.push_back(std::move(*trial.victims));
    if (spotless && candidates.size() >= enough) break;
  }
  if (candidates.empty()) {
    if (cluster.node_count() > looked_at)
      reasons[std::string(kNotHelpful)] += cluster.node_count() - looked_at;
    return {{}, preemption_message(cluster, reasons)};
  }
  const auto best =
      std::min_element(candidates.begin(), candidates.end(), [&](const Victims& a, const Victims& b) {
        return cost_of(cluster, a, now) < cost_of(cluster, b, now);
      });
  return {std::move(*best), {}};
}

}  // namespace evenkeel::scheduling
