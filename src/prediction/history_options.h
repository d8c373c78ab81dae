#pragma once
#include "base/time.h"

namespace evenkeel::prediction {

// How what is seen becomes what is expected. The defaults are for worlds whose pods do from their first
// second what they do ever after; on real nodes see live_history().
struct HistoryOptions {
  // What a pod uses while it starts says little of what it will use: samples count the less the younger it
  // is, and in full from this age on.
  Duration warm_up{};
  // So many samples' worth the requests count beside what was seen of CPU and memory.
  double request_weight = 0;
  bool operator==(const HistoryOptions&) const = default;
};

inline HistoryOptions live_history() { return {std::chrono::seconds(30), 5}; }

}  // namespace evenkeel::prediction
