#pragma once
#include <array>
#include <optional>
#include <vector>

#include "autoscaling/scaling_request.h"
#include "learning/model_file.h"
#include "learning/real.h"

namespace evenkeel::autoscaling {

// What policies go by, out of a report. Pods that leave, failed or are done do not count.
struct ServiceFacts {
  std::int32_t ready = 0, starting = 0;
  // Of ready pods whose CPU is known: their mean use and request in cores, and how many they are.
  double cores = 0, request = 0;
  std::int32_t measured = 0;
  std::optional<double> requests_per_s, response_s, in_flight;
  Time rate_measured{}, cpu_measured{};  // the latest
  Duration cpu_window{};                 // the longest

  bool cpu_known() const { return measured > 0 && request > 0; }
  double utilisation() const { return cores / request; }  // only where cpu_known()
};
ServiceFacts facts_of(const ScalingRequest& request);

// Which of a replica's samples is its CPU; none where nobody asks for it. Without metrics the first is: HPA's
// default.
std::optional<std::size_t> cpu_sample(const ScalerSpec& spec);
// The utilisation of CPU that HPA would keep: the spec's, or HPA's default.
double cpu_target(const ScalerSpec& spec);
// How long what was once recommended holds against a fall.
Duration down_window(const ScalerSpec& spec);

// DScaler's state (U, N, W), each mapped to 0..1.
struct DScalerRanges {
  double replicas = 10;          // N
  double requests_per_s = 1000;  // W
};
using DScalerState = std::array<learning::Real, 3>;
DScalerState dscaler_state(const ServiceFacts& facts, const DScalerRanges& ranges);
std::vector<learning::FeatureRange> dscaler_normalisation(const DScalerRanges& ranges);

}  // namespace evenkeel::autoscaling
