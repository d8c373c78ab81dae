#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "learning/saved_state.h"

namespace evenkeel::autoscaling {

// A workload under load: so many pods, each able to serve so many requests a second, so busy.
struct ServiceLoad {
  double busy = 0;     // requests that arrive, as a share of what its pods can serve
  double pods = 1;     // that are ready
  double per_pod = 1;  // requests/s one serves at most
};

// How long requests take at a load, at the service level's percentile. Before anything was measured it is the
// queue of one server a pod (M/M/1: the p-quantile of response is -ln(1-p) / (service rate (1 - busy))). What
// is measured is kept as the logarithm of its ratio to that, by how busy pods were and, where enough was
// seen, by how many there were: one queue for all pods, several threads in a pod or an uneven balancer all
// show there. Busier than was ever seen, the ratio of the busiest that was is taken, with growing doubt.
class ResponseCurve {
 public:
  explicit ResponseCurve(double percentile) : percentile_(percentile) {}

  void observe(const ServiceLoad& load, double response_s);

  double expected_s(const ServiceLoad& load) const;                    // 50 % chance
  double chance_above(const ServiceLoad& load, double bound_s) const;  // that an interval's percentile is
  // The same of a load that is known and not guessed at: how responses are measured adds no violations.
  double share_above(const ServiceLoad& load, double bound_s) const;
  double samples() const;

  void save(learning::SavedState& state, const std::string& name) const;
  void restore(learning::SavedState& state, const std::string& name);

  static constexpr std::size_t kBusyBins = 20;  // twentieths
  static constexpr std::size_t kPodBins = 8;

 private:
  struct Bin {
    float weight = 0, mean = 0;
    void add(double value, double remember);
  };
  struct Guess {
    double log_ratio, deviation;
  };
  static std::size_t pod_bin(double pods);
  double queue_log_s(const ServiceLoad& load) const;
  Guess guess(const ServiceLoad& load) const;
  double bin_mean(std::size_t busy, std::size_t pods) const;

  double percentile_;
  std::array<Bin, kBusyBins> pooled_{};
  std::array<std::array<Bin, kBusyBins>, kPodBins> by_pods_{};
  std::array<float, kBusyBins> square_{};  // mean square of what is off, per pooled bin
};

}  // namespace evenkeel::autoscaling
