// How long network-aware decisions take, on this machine.
#pragma once
#include <cstddef>
#include <string>

#include "base/result.h"

namespace evenkeel::apps {

struct DecisionTime {
  double p50_ms = 0, p99_ms = 0;
  std::size_t decisions = 0;
};

// One pod of an Online Boutique whose other ten pods are placed: filters, scores and choice over all nodes,
// in five regions of ten zones each (fewer where there are fewer nodes).
Result<DecisionTime> time_decisions(const std::string& policy, std::size_t nodes, std::size_t decisions);

// How long a pod takes to find its place among so many of the same group that wait, and how long the first of
// them takes to come out, in nanoseconds.
struct QueueTime {
  double push_ns = 0, first_ns = 0;
};
Result<QueueTime> time_queue(const std::string& policy, std::size_t pods);

}  // namespace evenkeel::apps
