#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "cluster/scaler.h"
#include "cluster/service_report.h"

namespace evenkeel::autoscaling {

// The horizontal pod autoscaler's flags, with its defaults.
struct CalculatorOptions {
  double tolerance = 0.1;  // where the spec's behaviour says none
  Duration cpu_initialisation{
      std::chrono::minutes{5}};  // of a pod's start: samples while unready are startup
  Duration initial_readiness{
      std::chrono::seconds{30}};  // unready ever since so soon after its start: never ready
};

// What a metric, or all of them, come to.
struct ReplicaProposal {
  std::optional<std::int32_t> replicas;  // none: not to be told, and `problem` says why
  std::string text{};                    // what it was gone by
  std::string problem{};                 // also where some metrics could be told and others not
};

// What the replica calculator of Kubernetes 1.36 says. `wanted` is what the workload is set to now.
// Assumes: samples of the report lie in the order of the spec's metrics.
ReplicaProposal propose_by_metric(const ScalerSpec& spec, std::size_t metric, const ServiceReport& report,
                                  std::int32_t wanted, Time now, const CalculatorOptions& options);

// The most that any metric asks for. Where one cannot be told the others may ask for more, never for less.
ReplicaProposal propose_replicas(const ScalerSpec& spec, const ServiceReport& report, std::int32_t wanted,
                                 Time now, const CalculatorOptions& options);

// The spec's metrics, or CPU at 80 % where it names none.
std::size_t metric_count(const ScalerSpec& spec);
const MetricTarget& metric_of(const ScalerSpec& spec, std::size_t metric);

}  // namespace evenkeel::autoscaling
