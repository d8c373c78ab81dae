#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace evenkeel {

// One replica, as far as it was seen.
struct ReplicaReport {
  enum class Phase { pending, running, succeeded, failed };
  // One resource or metric of it, in the order of ScalerSpec::metrics.
  struct Sample {
    double value = 0;    // cores, bytes or whatever the metric counts
    double request = 0;  // of a resource: what utilisation is a share of; 0: none is set
    Time measured{};
    Duration window{};  // what it was averaged over
    bool operator==(const Sample&) const = default;
  };
  std::string name;
  Phase phase = Phase::running;
  bool leaves = false;  // a deletion has begun
  bool ready = false;
  std::optional<Time> started{};                 // by its kubelet
  std::optional<Time> ready_changed{};           // when its readiness last changed
  std::vector<std::optional<Sample>> samples{};  // by metric; none: not known
  // By metric, also of what was not measured; empty: as the sample says, else as its siblings'.
  std::vector<double> requests{};
  bool operator==(const ReplicaReport&) const = default;
};

// A workload as one look found it. What is not known is absent, never zero.
struct ServiceReport {
  // Of a metric that is the workload's as a whole (object, external).
  struct Amount {
    double value = 0;
    Time measured{};
    bool operator==(const Amount&) const = default;
  };
  Time measured{};
  std::int32_t wanted = 0;  // spec.replicas of its scale subresource
  std::int32_t there = 0;   // status.replicas
  std::vector<ReplicaReport> replicas{};
  std::vector<std::optional<Amount>> amounts{};  // by metric, where it is of the whole
  std::optional<Amount> requests_per_s{};        // that arrive
  std::optional<Amount> response_s{};            // at the service level's percentile
  std::optional<Amount> in_flight{};             // requests that wait or are being served
  bool operator==(const ServiceReport&) const = default;
};

}  // namespace evenkeel
