#include "scheduling/rejection_memo.h"

#include <algorithm>

#include "scheduling/filters/prepared.h"

namespace evenkeel::scheduling {
namespace {

bool same_words(const std::vector<Objection>& a, const std::vector<Objection>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Objection& x, const Objection& y) {
    return x.plugin == y.plugin && x.reason == y.reason;
  });
}

// Whether all that might be ended there have started. Those who have not count as starting now, whenever that
// is.
bool have_started(const ClusterState& cluster, NodeId node, std::int32_t below) {
  const auto pods = cluster.pods_on(node);
  return std::all_of(pods.begin(), pods.end(), [&](PodId id) {
    const PodRecord& record = *cluster.pod(id);
    return record.pod.spec().priority >= below || record.pod.started || record.started;
  });
}

}  // namespace

bool RejectionMemo::applies(const FilterInput& input) {
  if (input.options.by_use.on || input.cluster.node_count() == 0) return false;
  for (const Filter& filter : all_filters()) {
    if (hint_of(filter_bit(filter.plugin)).anywhere == 0 || !counts(filter, input)) continue;
    if (filter.plugin != kInterPodAffinity.plugin || !prepared(input).affinity(input).says_nothing())
      return false;
  }
  return !refusal(input);
}

RejectionMemo::Kind& RejectionMemo::kind_of(const FilterInput& input, std::size_t profile) {
  ++clock_;
  const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return kind.shape == input.pod.shape && kind.profile == profile;
  });
  auto at = known;
  if (known == kinds_.end()) {
    if (kinds_.size() < kKinds) {
      at = kinds_.insert(kinds_.end(), Kind{});
    } else {
      at = std::min_element(kinds_.begin(), kinds_.end(),
                            [](const Kind& a, const Kind& b) { return a.used < b.used; });
      *at = {};
    }
    at->shape = input.pod.shape;
    at->profile = profile;
  }
  at->used = clock_;
  const std::size_t slots = input.cluster.columns().size();
  if (at->judged.size() < slots) {
    at->judged.resize(slots, kNever);
    at->said.resize(slots);
    at->tried.resize(slots);
  }
  if (!input.cluster.objects().budgets().empty() && at->budgets != input.cluster.objects().version()) {
    at->budgets = input.cluster.objects().version();
    for (Tried& tried : at->tried) tried.at = kNever;
  }
  current_ = static_cast<std::size_t>(at - kinds_.begin());
  return *at;
}

std::uint32_t RejectionMemo::saying_of(Kind& kind, NodeVerdict verdict) {
  for (std::uint32_t i = 0; i < kind.sayings.size(); ++i)
    if (kind.sayings[i].unresolvable == verdict.unresolvable &&
        same_words(kind.sayings[i].objections, verdict.objections))
      return i;
  Saying saying{std::move(verdict.objections), verdict.unresolvable, 0};
  for (const Objection& objection : saying.objections) saying.by |= filter_bit(objection.plugin);
  kind.sayings.push_back(std::move(saying));
  return static_cast<std::uint32_t>(kind.sayings.size() - 1);
}

RejectionMemo::Rejection RejectionMemo::rejection(const FilterInput& input, ClusterState& cluster,
                                                  const Nominations& nominations, std::size_t profile) {
  Kind& kind = kind_of(input, profile);
  const auto& present = cluster.columns().present;
  const std::optional<NodeId> own = nominations.of(input.pod.id);
  std::vector<std::uint32_t> nodes(kind.sayings.size());
  for (std::uint32_t slot = 0; slot < present.size(); ++slot) {
    if (!present[slot]) continue;
    // What was promised to this very pod is not in its own way.
    const bool is_own = own && own->slot == slot;
    if (is_own || kind.judged[slot] != cluster.version({slot})) {
      kind.said[slot] = saying_of(kind, judge_with_nominated(input, cluster, {slot}, nominations.on({slot})));
      kind.judged[slot] = is_own ? kNever : cluster.version({slot});
      nodes.resize(kind.sayings.size());
    }
    ++nodes[kind.said[slot]];
  }
  Rejection rejection;
  std::map<std::string, std::size_t> reasons;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] == 0) continue;
    rejection.by |= kind.sayings[i].by;
    for (const Objection& objection : kind.sayings[i].objections) reasons[objection.reason] += nodes[i];
  }
  std::vector<std::string> phrases;
  for (const auto& [reason, count] : reasons) phrases.push_back(std::to_string(count) + " " + reason);
  std::sort(phrases.begin(), phrases.end());
  rejection.why = "0/" + std::to_string(cluster.node_count()) + " nodes are available:";
  for (std::size_t i = 0; i < phrases.size(); ++i) rejection.why += (i == 0 ? " " : ", ") + phrases[i];
  if (!phrases.empty()) rejection.why += ".";
  return rejection;
}

void RejectionMemo::try_on(Kind& kind, const FilterInput& input, ClusterState& cluster, NodeId node,
                           const Nominations& nominations, Time now) {
  Tried& tried = kind.tried[node.slot];
  Trial trial = try_node(input, cluster, node, nominations, now);
  const bool lasts = !trial.victims || have_started(cluster, node, input.pod.spec().priority);
  tried.at = lasts ? cluster.version(node) : kNever;
  tried.victims = trial.victims ? std::move(*trial.victims) : Victims{};
  if (trial.victims) {
    tried.cost = cost_of(cluster, tried.victims, now);
  } else {
    const auto known = std::find(kind.reasons.begin(), kind.reasons.end(), trial.reasons);
    tried.reasons = static_cast<std::uint32_t>(known - kind.reasons.begin());
    if (known == kind.reasons.end()) kind.reasons.push_back(std::move(trial.reasons));
  }
}

PreemptionOutcome RejectionMemo::preempt(const FilterInput& input, ClusterState& cluster,
                                         const Nominations& nominations, Time now) {
  if (input.pod.spec().preemption == PreemptionPolicy::never)
    return {{}, "preemption: not eligible due to preemptionPolicy=Never."};
  Kind& kind = kinds_[current_];
  const auto& present = cluster.columns().present;
  const auto unresolvable = [&](std::uint32_t slot) { return kind.sayings[kind.said[slot]].unresolvable; };
  const std::optional<NodeId> own = nominations.of(input.pod.id);
  const auto promised = cluster.node_named(input.pod.nominated_node);
  if (!(promised && unresolvable(promised->slot)) && victims_are_leaving(input, nominations))
    return {{}, "preemption: not eligible due to a terminating pod on the nominated node."};

  std::size_t potential = 0;
  for (std::uint32_t slot = 0; slot < present.size(); ++slot)
    potential += present[slot] && !unresolvable(slot);
  const std::size_t enough = enough_candidates(input.options.profile, potential);
  std::map<std::string, std::size_t> reasons;
  if (!cluster.has_pods_below(input.pod.spec().priority)) {
    if (potential > 0) reasons[std::string(kNoVictims)] = potential;
  } else {
    const Tried* best = nullptr;
    std::size_t candidates = 0;
    bool spotless = false;  // some candidate breaks no budget
    std::vector<std::size_t> because;
    for (std::uint32_t slot = 0; slot < present.size(); ++slot) {
      if (!present[slot] || unresolvable(slot)) continue;
      const bool is_own = own && own->slot == slot;
      Tried& tried = kind.tried[slot];
      if (is_own || tried.at != cluster.version({slot}))
        try_on(kind, input, cluster, {slot}, nominations, now);
      if (is_own) tried.at = kNever;
      if (tried.victims.pods.empty()) {
        because.resize(kind.reasons.size());
        ++because[tried.reasons];
        continue;
      }
      ++candidates;
      spotless = spotless || tried.cost.budget_violations == 0;
      if (!best || tried.cost < best->cost) best = &tried;
      if (spotless && candidates >= enough) break;
    }
    if (best) return {best->victims, {}};
    for (std::size_t i = 0; i < because.size(); ++i)
      for (const std::string& reason : kind.reasons[i])
        if (because[i] > 0) reasons[reason] += because[i];
  }
  if (cluster.node_count() > potential) reasons[std::string(kNotHelpful)] += cluster.node_count() - potential;
  return {{}, preemption_message(cluster, reasons)};
}

}  // namespace evenkeel::scheduling
