#include "autoscaling/guard.h"

#include <cmath>

namespace evenkeel::autoscaling {
namespace {

// Clocks of other machines run ahead of ours a little; what is later than that was not measured, but made up.
constexpr Duration kAhead = std::chrono::seconds{30};
// Of an answer. No workload has so many, and casts of what is no number end up beyond it.
constexpr std::int32_t kMostReplicas = 1'000'000;

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

// Whatever has a value and says when it was measured.
template <class Measured, class Keep>
void keep_if(std::optional<Measured>& measured, const Keep& keep) {
  if (measured && !keep(*measured)) measured.reset();
}

template <class Keep>
void keep_in(ServiceReport& report, const Keep& keep) {
  for (ReplicaReport& replica : report.replicas)
    for (auto& sample : replica.samples) keep_if(sample, keep);
  for (auto& amount : report.amounts) keep_if(amount, keep);
  keep_if(report.requests_per_s, keep);
  keep_if(report.response_s, keep);
  keep_if(report.in_flight, keep);
}

}  // namespace

void drop_nonsense(ServiceReport& report, Time now) {
  keep_in(report, [&](const auto& measured) {
    return is_amount(measured.value) && measured.measured <= now + kAhead;
  });
  for (ReplicaReport& replica : report.replicas) {
    for (auto& sample : replica.samples)
      if (sample && !is_amount(sample->request)) sample->request = 0;
    for (double& request : replica.requests)
      if (!is_amount(request)) request = 0;
  }
}

void drop_stale(ServiceReport& report, Duration stale_after, Time now) {
  keep_in(report, [&](const auto& measured) { return measured.measured >= now - stale_after; });
}

std::string why_unusable(const Recommendation& recommendation) {
  if (!recommendation.unable.empty()) return recommendation.unable;
  if (recommendation.replicas < 0 || recommendation.replicas > kMostReplicas)
    return "its answer was " + std::to_string(recommendation.replicas) + " replicas";
  return "";
}

}  // namespace evenkeel::autoscaling
