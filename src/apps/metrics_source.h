#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/node_report.h"

namespace evenkeel::apps {

// What a source was told in one go.
struct MetricsReading {
  std::vector<NodeReport> nodes;
  // Pods by name of which the source does not say where they run; their nodes' reports take them in.
  std::vector<NodeReport::PodPart> pods;
};

struct SourceCounts {
  std::uint64_t reports = 0;                     // of a node, each
  std::uint64_t failures = 0;                    // to get any
  std::map<std::string, std::uint64_t> refused;  // by what was wrong with them
};

// Where it is known what nodes use. Has a thread of its own and hands values over; nobody waits for it.
class MetricsSource {
 public:
  virtual ~MetricsSource() = default;
  virtual std::string_view name() const = 0;
  virtual std::vector<MetricsReading> take() = 0;  // what came since the last call
  virtual SourceCounts counts() const = 0;
};

}  // namespace evenkeel::apps
