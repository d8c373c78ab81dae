#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "autoscaling/encoding.h"
#include "autoscaling/policies/policy.h"
#include "base/result.h"
#include "prediction/arima.h"

namespace evenkeel::autoscaling {

struct ASarsaSettings {
  double learning_rate = 0.1, discount = 0.9;
  double epsilon_start = 0.3, epsilon_end = 0.05;
  std::uint64_t epsilon_steps = 500;
  double penalty = -2;  // as DScaler's, so that both learn for the same
};

// A-SARSA (Zhang et al., ICWS 2020), as DScaler's paper describes and measures it: an ARIMA model forecasts
// the request rate, a table over discretised states is learnt by SARSA, one replica more, fewer or none. The
// paper itself was not to be had; what is assumed is in docs/algorithms/dscaler.md.
class ASarsa final : public ScalingPolicy {
 public:
  static constexpr int kActions = 3;  // -1, 0, +1
  static constexpr std::size_t kUtilisations = 6, kGrowths = 5, kResponses = 4;

  static Result<std::unique_ptr<ASarsa>> make(const std::map<std::string, std::string>& arguments);
  explicit ASarsa(ASarsaSettings settings = {});

  Recommendation recommend(const ScalingRequest& request, Random& random) override;
  learning::SavedState save() const override;
  Status restore(learning::SavedState state) override;

 private:
  using Values = std::array<double, kActions>;
  struct Step {
    std::size_t state = 0;
    int action = 0;
  };
  static std::size_t state_of(double utilisation, double growth, double response_share);
  double epsilon() const;
  int choose(std::size_t state, const ScalingRequest& request, Random& random);

  ASarsaSettings settings_;
  prediction::Arima forecast_;
  std::array<Values, kUtilisations * kGrowths * kResponses> table_{};
  std::optional<Step> last_;
  std::uint64_t choices_ = 0;
};

}  // namespace evenkeel::autoscaling
