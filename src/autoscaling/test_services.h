#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cluster/scaler.h"
#include "cluster/service_report.h"

namespace evenkeel::autoscaling {

// Small workloads for tests: so many pods, long since ready, each using and requesting so many cores.
inline constexpr Time kNow{std::chrono::hours{1000}};

inline ReplicaReport test_replica(double cores, double request = 1, Time now = kNow) {
  ReplicaReport replica{.name = "pod",
                        .ready = true,
                        .started = now - std::chrono::hours{2},
                        .ready_changed = now - std::chrono::hours{2} + std::chrono::minutes{1}};
  replica.samples.push_back(ReplicaReport::Sample{cores, request, now, std::chrono::seconds{15}});
  return replica;
}

inline ServiceReport test_report(const std::vector<double>& cores, Time now = kNow) {
  ServiceReport report{.measured = now,
                       .wanted = static_cast<std::int32_t>(cores.size()),
                       .there = static_cast<std::int32_t>(cores.size())};
  for (const double used : cores) report.replicas.push_back(test_replica(used, 1, now));
  return report;
}

// CPU at half of the request, acted upon.
inline ScalerSpec test_spec(std::string policy = "hpa") {
  ScalerSpec spec;
  spec.name_space = "shop";
  spec.name = "web";
  spec.target = {"apps/v1", "Deployment", "web"};
  spec.min_replicas = 1;
  spec.max_replicas = 20;
  spec.mode = ScalerSpec::Mode::automatic;
  spec.policy = std::move(policy);
  spec.metrics = {MetricTarget{.target = 0.5}};
  return spec;
}

}  // namespace evenkeel::autoscaling
