#include "agents/bid_round.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace evenkeel::agents {
namespace {

constexpr std::uint32_t kNotAsked = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kLess = static_cast<std::size_t>(-1);  // added, it takes one away

}  // namespace

void BidRound::count_in(const Candidate& candidate, std::size_t times) {
  counts_[static_cast<std::size_t>(candidate.state)] += times;
  if (candidate.state == State::fresh) verdicts_[static_cast<std::size_t>(candidate.verdict)] += times;
}

void BidRound::replace_candidates(std::vector<Candidate> candidates, std::size_t agents) {
  candidates_ = std::move(candidates);
  position_.assign(agents, kNotAsked);
  counts_ = {};
  verdicts_ = {};
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    position_[candidates_[i].agent] = static_cast<std::uint32_t>(i);
    count_in(candidates_[i], 1);
  }
}

BidRound::Candidate* BidRound::of_agent(std::uint32_t agent) {
  if (agent >= position_.size() || position_[agent] == kNotAsked) return nullptr;
  return &candidates_[position_[agent]];
}

void BidRound::put(Candidate& candidate, State state) {
  if (candidate.state == state) return;
  count_in(candidate, kLess);
  candidate.state = state;
  count_in(candidate, 1);
}

void BidRound::hear(Candidate& candidate, const Said& said, State state) {
  count_in(candidate, kLess);
  // A score that is no number cannot be compared: that is no opinion.
  const bool comparable = std::isfinite(said.score);
  candidate.verdict = comparable ? said.verdict : BidVerdict::abstains;
  candidate.score = comparable ? said.score : 0;
  candidate.awards = said.awards;
  candidate.state = state;
  candidate.spoken = true;
  candidate.to_ask = false;
  count_in(candidate, 1);
}

std::size_t BidRound::needed() const {
  // 0.75 of 4 are 3, whatever is lost in multiplying.
  const double wanted = std::ceil(terms_.quorum * static_cast<double>(asked()) - 1e-9);
  return static_cast<std::size_t>(std::clamp(wanted, 1.0, std::max(1.0, static_cast<double>(asked()))));
}

BidRound::End BidRound::end(Time now) const {
  const std::size_t fresh = count(State::fresh), accepts = answered(BidVerdict::accept);
  if (fresh == asked()) return End::all;
  const bool has_quorum = fresh >= needed() && accepts > 0;
  if (has_quorum && (count(State::silent) == 0 || now >= quorum_at())) return End::quorum;
  // Agents that would only have to look again are better than none: for them the time is doubled.
  const bool hopes = accepts == 0 && count(State::out_of_date) > 0;
  if (now >= opened_ + terms_.gather_within * (hopes ? 2 : 1)) return End::deadline;
  return End::none;
}

Time BidRound::next_moment(Time after) const {
  Time next = Time::max();
  for (const Time moment :
       {patience_at(), quorum_at(), opened_ + terms_.gather_within, opened_ + terms_.gather_within * 2})
    if (moment > after) next = std::min(next, moment);
  return next;
}

}  // namespace evenkeel::agents
