#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/usage.h"

namespace evenkeel {

// What one node was seen to use, in names instead of handles: as a monitor, Prometheus or the metrics API
// tells it, before anybody has looked up whom it means.
struct NodeReport {
  struct PodPart {
    std::string uid;               // of the pod; where that is not known
    std::string name_space, name;  // these two
    Usage usage;
    bool operator==(const PodPart&) const = default;
  };
  // Which of the six were measured at all: the metrics API knows CPU and memory alone.
  using Known = KnownDimensions;
  static constexpr Known kAll = kAllKnown;
  static constexpr Known kCpuAndMemory = {true, true, false, false, false, false};

  std::string node;
  Time measured{};  // by the clock of whoever reads it: the sender says how old its sample is, not what time
                    // it is
  Usage total;      // averages over the sender's window
  Usage capacity;   // 0: not known there
  Known known = kAll;
  std::vector<PodPart> pods;
  // Which dimensions are told pod by pod. In the others `total` holds whatever the pods do, undivided.
  Known pods_known = kAll;
  Duration over{};  // how much of the past the averages hold: what began within it shows in part only
  bool operator==(const NodeReport&) const = default;
};

}  // namespace evenkeel
