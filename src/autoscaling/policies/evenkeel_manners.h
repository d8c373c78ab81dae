#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "autoscaling/policies/evenkeel_need.h"
#include "autoscaling/policies/evenkeel_shadow.h"

namespace evenkeel::autoscaling {

// A way of going by the same facts: how much risk is taken, and how far a fall is planned ahead.
struct Manner {
  enum class Falls { when_unneeded, when_quartile_says, when_median_says };
  std::size_t risk = 0;  // in kRisks
  std::size_t band = 0;  // in kBands
  Falls falls = Falls::when_unneeded;
};

// Where a workload stands when it is asked how many it is to have.
struct Standing {
  std::int32_t wanted = 1;
  const RecommendedLately& recommended;
  Time now{};
  Duration window{};  // of stabilisation
};

// What a manner recommends. A fall that stabilisation is going to hold up anyhow may be announced while the pods
// are still needed, so that it takes effect when they no longer are; what is needed until then stays held by
// what was recommended before, and an announcement that proves wrong is taken back before anything happened.
std::int32_t recommended_by(const Manner& manner, const Needs& needs, const Standing& standing);

// HPA's rule for CPU on the same facts.
std::int32_t recommended_by_hpa(double utilisation, double target, double tolerance, std::int32_t ready,
                                std::int32_t wanted);

// Which manner to have: all of them are followed in shadow, beside HPA's rule, and the one that would have
// needed the fewest replicas among those with no more violations and no more scalings than HPA is taken.
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
    Time now{};
    Duration elapsed{}, window{}, start_up{};
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
  void choose(Time now);

  std::vector<Followed> all_;
  ShadowScaling hpa_;
  std::size_t chosen_ = 0;
  Time choose_after_{};
};

}  // namespace evenkeel::autoscaling
