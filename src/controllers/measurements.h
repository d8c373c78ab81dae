#pragma once
#include <map>
#include <string>
#include <vector>

#include "controllers/network_book.h"

namespace evenkeel::controllers {

// How long a small question takes from one node to another and back.
struct Measurement {
  std::string origin, destination;  // nodes
  double milliseconds = 0;
};

struct Measurements {
  std::vector<Measurement> all;
  std::size_t unknown_nodes = 0;        // about nodes that are not there
  std::vector<std::string> unreadable;  // keys whose value is no latency
  bool has_other_percentiles = false;
};

// Out of the data of a ConfigMap, in both of upstream's spellings:
//   netperf.p90.latency.milliseconds.origin.A.destination.B   60
//   netperf_p90_latency_microseconds.origin.A.destination.B   60312.5
// with points or underscores, either unit, and p50, p90 or p99, of which one is taken. Of a pair that is
// there in both units the finer one counts. Names of nodes have points in them, and may even contain
// ".destination.": a key is cut where both sides are nodes that exist. Whatever else there is in the
// ConfigMap is left alone.
Measurements read_measurements(const std::map<std::string, std::string>& data, const Places& nodes,
                               int percentile);

}  // namespace evenkeel::controllers
