#include "autoscaling/policies/evenkeel_manners.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace evenkeel::autoscaling {
namespace {

constexpr Duration kChooseEvery = std::chrono::minutes{10};
constexpr double kEvidence = 1200;    // seconds that must have been followed
constexpr double kTooMany = 6;        // times HPA's violations: the first manner does not do here
constexpr double kFarFewer = 0.25;    // of them: there is room for a bolder one
constexpr double kViolations = 0.8;   // of them: what another one may have
constexpr double kNone = 1e-3;        // a share of the time that counts as no violations
constexpr double kCalm = 150;         // seconds between scalings, on average, at least
constexpr double kManyBursts = 0.06;  // above, falls are held back for longer
constexpr double kWorthIt = 0.99;     // of the replicas: less is no reason to change

// The lower the better: a class, and within it what counts there.
std::pair<int, double> rank(const Manners::Followed& followed, bool safe, bool calm) {
  const ShadowScaling::Tally& tally = followed.shadow.tally();
  if (safe && calm) return {0, tally.replica_seconds};
  return safe ? std::pair{1, tally.scalings} : std::pair{2, tally.violated_seconds};
}

}  // namespace

Duration window_of(const Manner& manner, double bursts) {
  return from_seconds(kWindows[manner.window] * std::clamp(bursts / kManyBursts, 1.0, 3.0));
}

std::int32_t recommended_by(const Manner& manner, const Needs& needs, std::int32_t wanted, bool by_leaps) {
  EVENKEEL_CHECK(manner.margin < kMargins.size() && manner.reserve < kReserves.size());
  const std::int32_t up = needs.now[manner.margin][manner.reserve];
  const std::int32_t keep = needs.keep[manner.band][manner.margin][manner.reserve];
  if (up > wanted) return by_leaps ? std::max(up, keep) : up;
  return std::min(wanted, keep);
}

std::int32_t recommended_by_hpa(double utilisation, double target, double tolerance, std::int32_t ready,
                                std::int32_t wanted) {
  const double ratio = utilisation / target;
  if (std::abs(ratio - 1) <= tolerance) return wanted;
  if (ratio < 1 || ready >= wanted) return static_cast<std::int32_t>(std::ceil(ratio * ready - 1e-9));
  // Pods that start count as using nothing, which may show that they suffice.
  const double with_starting = ratio * ready / wanted;
  if (with_starting <= 1 + tolerance) return wanted;
  return std::max(wanted, static_cast<std::int32_t>(std::ceil(with_starting * wanted - 1e-9)));
}

Manners::Manners(Manner first) {
  all_.reserve(kWindows.size() * kBands.size() * kReserves.size() * kMargins.size());
  for (std::size_t window = 0; window < kWindows.size(); ++window)
    for (std::size_t band = 0; band < kBands.size(); ++band)
      for (std::size_t reserve = 0; reserve < kReserves.size(); ++reserve)
        for (std::size_t margin = 0; margin < kMargins.size(); ++margin) {
          const bool is_first = window == first.window && band == first.band && reserve == first.reserve &&
                                margin == first.margin;
          if (is_first) first_ = all_.size();
          all_.push_back({{margin, reserve, band, window}, {}});
        }
  chosen_ = first_;
}

void Manners::follow(const Turn& turn) {
  const auto within = [&](std::int32_t replicas) { return std::clamp(replicas, turn.least, turn.most); };
  if (!hpa_.begun()) {
    hpa_.begin(turn.wanted);
    for (Followed& followed : all_) followed.shadow.begin(turn.wanted);
  }
  hpa_.serve(turn.service, turn.elapsed, turn.measured);
  const double utilisation =
      turn.idle_share + turn.cores_per_request_share *
                            std::min(turn.service.requests_per_s / hpa_.ready(), turn.service.per_pod);
  hpa_.scale(
      within(recommended_by_hpa(utilisation, turn.target, turn.tolerance, hpa_.ready(), hpa_.wanted())),
      turn.now, turn.hpa_window, turn.start_up);
  const bool by_leaps = turn.window.has_value();
  for (Followed& followed : all_) {
    if (!turn.adapts && &followed != &all_[chosen_]) continue;  // nobody is going to ask
    ShadowScaling& shadow = followed.shadow;
    const Duration window = turn.window.value_or(window_of(followed.manner, turn.bursts));
    shadow.serve(turn.service, turn.elapsed, turn.measured);
    shadow.scale(within(recommended_by(followed.manner, turn.needs, shadow.wanted(), by_leaps)), turn.now,
                 window, turn.start_up);
  }
  if (turn.adapts) choose(turn);
}

void Manners::choose(const Turn& turn) {
  const ShadowScaling::Tally& hpa = hpa_.tally();
  if (turn.now < choose_after_ || hpa.seconds < kEvidence) return;
  choose_after_ = turn.now + kChooseEvery;
  const ShadowScaling::Tally& first = all_[first_].shadow.tally();
  const double none = kNone * hpa.seconds;
  const double most_scalings = 1 + (turn.window ? hpa.scalings : std::max(hpa.scalings, hpa.seconds / kCalm));
  const auto calm = [&](const Followed& followed) {
    return followed.shadow.tally().scalings <= most_scalings;
  };
  const bool does = first.violated_seconds <= kTooMany * hpa.violated_seconds + none && calm(all_[first_]);
  const bool room = first.violated_seconds + none < kFarFewer * hpa.violated_seconds;
  if (does && !room) {
    chosen_ = first_;
    return;
  }
  const auto safe = [&](const Followed& followed) {
    return followed.shadow.tally().violated_seconds <= kViolations * hpa.violated_seconds + none;
  };
  // Fewest replicas of those that are safe and calm; else the calmest that is safe; else the safest.
  std::size_t best = 0;
  for (std::size_t i = 1; i < all_.size(); ++i)
    if (rank(all_[i], safe(all_[i]), calm(all_[i])) < rank(all_[best], safe(all_[best]), calm(all_[best])))
      best = i;
  const Followed& present = all_[chosen_];
  const bool good = safe(present) && calm(present);
  const double takes = present.shadow.tally().replica_seconds;
  if (!good || all_[best].shadow.tally().replica_seconds < kWorthIt * takes) chosen_ = best;
}

void Manners::save(learning::SavedState& state, const std::string& name) const {
  std::vector<learning::Real> values;
  const auto put = [&](const ShadowScaling::Tally& tally) {
    for (const double value : {tally.seconds, tally.replica_seconds, tally.violated_seconds, tally.scalings})
      values.push_back(value);
  };
  put(hpa_.tally());
  for (const Followed& followed : all_) put(followed.shadow.tally());
  values.push_back(static_cast<double>(chosen_));
  state.put(name, values);
}

void Manners::restore(learning::SavedState& state, const std::string& name) {
  std::vector<learning::Real> values(4 * (all_.size() + 1) + 1);
  state.reals(name, values);
  for (const learning::Real value : values)
    if (!std::isfinite(value) || value < 0) return state.fail(name, "finite numbers that are not negative");
  if (values.back() >= static_cast<double>(all_.size())) return state.fail(name, "a manner that exists");
  const auto tally = [&](std::size_t i) {
    return ShadowScaling::Tally{values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]};
  };
  hpa_.set_tally(tally(0));
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].shadow.set_tally(tally(i + 1));
  chosen_ = static_cast<std::size_t>(values.back());
}

}  // namespace evenkeel::autoscaling
