#include "agents/succession.h"

#include <algorithm>
#include <utility>

namespace evenkeel::agents {
namespace {

constexpr double kMembersTurns = 10;  // over which all who are no deputies spread

}  // namespace

Succession::Succession(std::string node, SuccessionOptions options, Random random)
    : node_(std::move(node)), options_(options), random_(random) {}

void Succession::heard_beat(const LeaderBeat& beat, Time now) {
  seen_ = std::max(seen_, now);
  if (beat.term < term_ || (beat.term == term_ && beat_ && beat.beat <= *beat_))
    return;  // overtaken by a later one
  term_ = beat.term;
  beat_ = beat.beat;
  leader_ = beat.leader;
  deputies_ = beat.deputies;
  heard_ = now;
  forget_proof();
}

void Succession::leader_gone(const HolderIdentity& leader, Time now) {
  seen_ = std::max(seen_, now);
  if (gone_ == leader) return;
  if (leader.node != leader_ && !in_trouble(now)) return;  // somebody else leads by now, and is well
  gone_ = leader;
  claim_at_ = turn_after(now);
  claim_told_ = false;
}

void Succession::line_lost(Time now) {
  seen_ = std::max(seen_, now);
  heard_.reset();
}

void Succession::line_open(Time now) {
  seen_ = std::max(seen_, now);
  heard_ = now;
  beat_.reset();
  term_ = 0;  // whom the line leads to is the Lease's word, and so is its term
}

void Succession::saw_holder(const std::string& holder, Time now) {
  seen_ = std::max(seen_, now);
  if (gone_ && holder != to_text(*gone_)) forget_proof();  // somebody was quicker, or it let go in time
}

void Succession::forget_proof() { gone_.reset(); }

std::optional<std::size_t> Succession::rank() const {
  const auto own = std::find(deputies_.begin(), deputies_.end(), node_);
  if (own == deputies_.end()) return std::nullopt;
  return static_cast<std::size_t>(own - deputies_.begin());
}

bool Succession::is_deputy() const { return rank().has_value(); }

bool Succession::in_trouble(Time now) const { return !heard_ || now >= *heard_ + options_.silence; }

// The first deputy at once, the next a turn later; the others when all of them have had theirs.
Time Succession::turn_after(Time proven) {
  const auto turns = [&](double count) { return from_seconds(count * to_seconds(options_.turn)); };
  if (const auto own = rank()) return proven + turns(static_cast<double>(*own));
  const auto deputies = static_cast<double>(std::max(deputies_.size(), options_.deputies));
  return proven + turns(deputies + random_.between(0, kMembersTurns));
}

Duration Succession::look_after(Time now) {
  seen_ = std::max(seen_, now);
  if (gone_ && now >= claim_at_ && !std::exchange(claim_told_, true)) return Duration::zero();
  const bool often = looks_often(now);
  const auto draw = [&] { return now + spread(often ? options_.look_often : options_.look_seldom); };
  if (next_look_ <= now) {
    next_look_ = draw();
  } else if (often && !drawn_often_) {
    next_look_ = std::min(next_look_, draw());
  }
  drawn_often_ = often;
  const bool turn_to_come = gone_ && claim_at_ > now;
  return (turn_to_come ? std::min(next_look_, claim_at_) : next_look_) - now;
}

std::optional<HolderIdentity> Succession::may_claim_from(Time now) const {
  return gone_ && now >= claim_at_ ? gone_ : std::nullopt;
}

Time Succession::wake_at() const {
  Time at = Time::max();
  if (gone_ && !claim_told_) at = claim_at_;
  if (heard_ && !in_trouble(seen_)) at = std::min(at, *heard_ + options_.silence);
  return at;
}

}  // namespace evenkeel::agents
