#pragma once
#include <vector>

#include "base/random.h"
#include "simulator/pod_trace.h"

namespace evenkeel::simulator {

// A cluster for machine learning of our own: mostly nodes of eight and of two GPUs, some old ones,
// some without; the same proportions at every size.
std::vector<TraceNode> generate_nodes(std::size_t count);

struct PodStream {
  double load = 0.7;  // of the resource requested most, on average over time
  double length_s = 6 * 3600;
  double fill_s = 600;  // in which the pods of the stationary state come
};

// Pods that keep such nodes at a load: a dozen shapes, most with one GPU or a part of one, Poisson
// arrivals, lives log-normal with a median of nine minutes and a mean of about fifty, a day at most.
// The stream begins stationary: those that would be there at time 0 come first, with what is left
// of their lives.
std::vector<TracePod> generate_pods(const std::vector<TraceNode>& nodes, const PodStream& stream,
                                    Random random);

}  // namespace evenkeel::simulator
