#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autoscaling/policies/evenkeel_need.h"
#include "autoscaling/policies/evenkeel_shadow.h"

namespace evenkeel::autoscaling {

// How long a fall is held back, in seconds.
inline constexpr std::array<int, 3> kWindows{60, 120, 300};

// A way of going by the same facts: how much is asked for beyond the present rate, how sure a fall must be,
// how long it is held back. In kMargins, kReserves, kBands and kWindows.
struct Manner {
  std::size_t margin = 0, reserve = 0, band = 0, window = 0;
};

// How long it holds falls back: longer where rates jump from report to report, or it would follow every one.
Duration window_of(const Manner& manner, double bursts);

// What a manner recommends for a workload that has `wanted`. By leaps: what is ordered is to last for a
// while, for the sake of fewer scalings.
std::int32_t recommended_by(const Manner& manner, const Needs& needs, std::int32_t wanted, bool by_leaps);

// HPA's rule for CPU on the same facts.
std::int32_t recommended_by_hpa(double utilisation, double target, double tolerance, std::int32_t ready,
                                std::int32_t wanted);

// Which manner to have: all of them are followed in shadow, beside HPA's rule, and the one that would have
// needed the fewest replicas is taken of those with clearly fewer violations than HPA (or no more than the
// first one, which is known to do well with workloads of many kinds) and no more scalings. Where the
// workload's owner has said how changes are to be held back, that window is everybody's.
class Manners {
 public:
  struct Followed {
    Manner manner;
    ShadowScaling shadow;
  };

  explicit Manners(Manner first);

  struct Turn {
    const Needs& needs;
    ShadowScaling::Service service;
    double cores_per_request_share;  // utilisation of one pod per request/s, and
    double idle_share;               // of an idle one
    double target = 0.7, tolerance = 0.1;
    std::int32_t wanted = 1, least = 1, most = 1;
    Time now{}, measured{};  // when it is asked, and when what it is asked by was so
    Duration elapsed{}, hpa_window{}, start_up{};
    double bursts = 0;
    std::optional<Duration> window{};  // of falls, where the spec says one
    bool adapts = true;
  };
  void follow(const Turn& turn);

  const std::vector<Followed>& all() const { return all_; }
  const Manner& chosen() const { return all_[chosen_].manner; }
  const ShadowScaling::Tally& chosen_tally() const { return all_[chosen_].shadow.tally(); }
  const ShadowScaling::Tally& hpa_tally() const { return hpa_.tally(); }

  void save(learning::SavedState& state, const std::string& name) const;
  void restore(learning::SavedState& state, const std::string& name);

 private:
  void choose(const Turn& turn);

  std::vector<Followed> all_;
  ShadowScaling hpa_;
  std::size_t first_ = 0, chosen_ = 0;
  Time choose_after_{};
};

}  // namespace evenkeel::autoscaling
