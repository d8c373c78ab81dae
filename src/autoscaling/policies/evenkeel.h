#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autoscaling/encoding.h"
#include "autoscaling/policies/evenkeel_curve.h"
#include "autoscaling/policies/evenkeel_level.h"
#include "autoscaling/policies/evenkeel_manners.h"
#include "autoscaling/policies/policy.h"
#include "autoscaling/service_rate.h"
#include "base/result.h"
#include "prediction/forecast.h"

namespace evenkeel::autoscaling {

struct EvenkeelSettings {
  Manner first{2, 1, 0, 0};  // until the workload's own past says more
  bool adapts = true;
};

// The cheapest number of replicas that keeps the service level. Assumes that a workload's requests are alike
// enough for a mean cost, that replicas are alike, and that its rate and CPU use are reported every interval.
//
// It learns what a pod serves (service_rate.h), how long one takes to start, how long requests take at a load
// (evenkeel_curve.h), what rates to expect (prediction/forecast.h) and how much they jump (evenkeel_level.h);
// takes the fewest pods that keep the level for the rates there may be once they could help; and learns how
// much to have in reserve by following every choice, and HPA's rule, in shadow (evenkeel_manners.h). It
// explores nothing downwards: less than before is only ever recommended because the model says so.
// docs/algorithms/scaling.md.
class Evenkeel final : public ScalingPolicy {
 public:
  // What it begins with: `margin`, `reserve`, `band` and `window`, of kMargins, kReserves, kBands and
  // kWindows; `adapt` (true, false).
  static Result<std::unique_ptr<Evenkeel>> make(const std::map<std::string, std::string>& arguments);
  explicit Evenkeel(EvenkeelSettings settings = {});

  Recommendation recommend(const ScalingRequest& request, Random& random) override;
  learning::SavedState save() const override;
  Status restore(learning::SavedState state) override;

  const Manners& manners() const { return manners_; }
  const ServiceRate& service_rate() const { return service_rate_; }
  const ResponseCurve& curve() const { return curve_; }
  const prediction::RateForecast& forecast() const { return forecast_; }

 private:
  // What is new in a report, learnt once.
  void learn(const ScalingRequest& request, const ServiceFacts& facts);
  void learn_service(const ScalingRequest& request, const ServiceFacts& facts);
  // What arrives, as fresh as can be known: CPU use tells of it as well, often sooner than a rate over a
  // window.
  struct Arrivals {
    double per_s = 0;
    Time at{};
  };
  Arrivals arrivals_of(const ServiceFacts& facts) const;
  // How many pods were ready on average in a time, as far as reports have shown; none: not that far back.
  void note_ready(const ServiceReport& report, std::int32_t ready);
  std::optional<double> ready_during(Time from, Time to) const;
  double backlog_of(const ServiceFacts& facts, double per_pod, Duration elapsed);
  double cores_of(const ServiceFacts& facts) const;  // a pod can use

  EvenkeelSettings settings_;
  prediction::RateForecast forecast_;
  RateLevel level_;
  ServiceRate service_rate_;
  StartUpTime start_up_;
  ResponseCurve curve_;
  Manners manners_;
  double most_cores_ = 0;  // that a pod was seen to use lately, as a share of its request
  double backlog_ = 0;
  Arrivals arrivals_;
  struct Look {
    Time at{};
    std::int32_t ready = 0;
    double since = 0;  // mean of ready pods since the look before
  };
  std::vector<Look> ready_;  // the last few, oldest first
  std::optional<ServiceFacts> last_;
  Time last_turn_{};
};

}  // namespace evenkeel::autoscaling
