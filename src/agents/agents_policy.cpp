#include "agents/agents_policy.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduling/pod_network.h"

namespace evenkeel::agents {

using scheduling::PlacementRequest;
using scheduling::ScoreSheet;

std::vector<float> delays_of(const PlacementRequest& request) {
  if (request.pod.shape->app_group.empty()) return {};
  const scheduling::NetworkArguments& arguments = request.options.profile.network;
  const scheduling::PodNetwork network(request.pod, request.cluster, arguments);
  if (!network.has_peers()) return {};
  const std::size_t pairs = scheduling::edges_of(request.pod, request.cluster, arguments).size();
  if (pairs == 0) return {};
  std::vector<std::int64_t> costs(request.feasible.size());
  network.costs(costs);
  std::vector<float> delays(costs.size());
  for (std::size_t slot = 0; slot < costs.size(); ++slot)
    delays[slot] = static_cast<float>(static_cast<double>(costs[slot]) / static_cast<double>(pairs));
  return delays;
}

AgentsPolicy::AgentsPolicy(BidDesk& desk, std::unique_ptr<scheduling::PlacementPolicy> rule)
    : desk_(desk), rule_(std::move(rule)) {
  EVENKEEL_CHECK(rule_ != nullptr);
}

std::optional<NodeId> AgentsPolicy::choose(const PlacementRequest& request, Random& random) {
  last_ = {request.pod.id, request.now, Decider::plan, "its group planned it there"};
  if (request.planned) return request.planned;
  std::vector<float> delays;
  if (!desk_.is_open(request.pod)) delays = delays_of(request);
  BidDesk::Outcome outcome = desk_.consult(request, delays);
  last_.why = std::move(outcome.why);
  switch (outcome.answer) {
    case BidDesk::Answer::waits:
      last_.decider = Decider::nobody_yet;
      return std::nullopt;
    case BidDesk::Answer::chosen:
      last_.decider = Decider::agents;
      return outcome.node;
    case BidDesk::Answer::nobody:
      break;
  }
  last_.decider = Decider::rule;
  return rule_->choose(request, random);
}

ScoreSheet AgentsPolicy::agents_sheet(const PlacementRequest& request) const {
  ScoreSheet sheet{{"accepts", "score"}, {}};
  std::vector<bool> spoken(request.feasible.size(), false);
  for (const BidDesk::Word& word : desk_.words(request)) {
    const bool accepts = word.bid && !word.out_of_date && word.bid->verdict == BidVerdict::accept;
    const double score = word.bid ? word.bid->score : 0;
    sheet.rows.push_back({word.node, {accepts ? 1.0 : 0.0, score}, score});
    spoken[word.node.slot] = true;
  }
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot] && !spoken[slot]) sheet.rows.push_back({{slot}, {0, 0}, 0});
  // Who accepts comes before who does not, whatever it scores.
  std::sort(sheet.rows.begin(), sheet.rows.end(), [](const ScoreSheet::Row& a, const ScoreSheet::Row& b) {
    if (a.parts[0] != b.parts[0]) return a.parts[0] > b.parts[0];
    return a.total != b.total ? a.total > b.total : a.node < b.node;
  });
  return sheet;
}

ScoreSheet AgentsPolicy::explain(const PlacementRequest& request) {
  const bool decided = last_.pod == request.pod.id && last_.at == request.now;
  const Decider decider = decided ? last_.decider : Decider::nobody_yet;
  if (decider == Decider::rule) {
    ScoreSheet sheet = rule_->explain(request);
    sheet.note = "decided by the rule: " + last_.why;
    return sheet;
  }
  ScoreSheet sheet = agents_sheet(request);
  if (decider == Decider::agents) sheet.note = "decided by agents: " + last_.why;
  if (decider == Decider::plan) sheet.note = "decided by the plan of its group";
  if (decider == Decider::nobody_yet) {
    const std::vector<BidDesk::Word> words = desk_.words(request);
    const auto silent = std::count_if(words.begin(), words.end(), [](const auto& word) { return !word.bid; });
    sheet.note = words.empty() ? "agents are not asked yet"
                               : "agents are being asked: " + std::to_string(words.size()) + ", of which " +
                                     std::to_string(silent) + " have not answered";
  }
  return sheet;
}

scheduling::SelfCheck AgentsPolicy::self_check() const {
  scheduling::SelfCheck check;
  if (last_.decider == Decider::rule) check = rule_->self_check();
  if (last_.decider == Decider::nobody_yet) check.waits = true;
  return check;
}

Time AgentsPolicy::review_at() const { return std::min(desk_.wake_at(), rule_->review_at()); }

std::vector<EvictPod> AgentsPolicy::review(const scheduling::Retrospect& seen, Random& random) {
  if (rule_->review_at() <= seen.now || !seen.ended.empty()) return rule_->review(seen, random);
  return {};
}

}  // namespace evenkeel::agents
