#pragma once
#include <optional>

#include "cluster/node_report.h"
#include "cluster/usage.h"
#include "monitor/kernel_text.h"
#include "monitor/windows.h"

namespace evenkeel::monitor {

// The six figures of a node or a pod, each over its window.
class UsageWindows {
 public:
  explicit UsageWindows(const WindowLengths& lengths)
      : cpu_(lengths.cpu),
        memory_(lengths.memory),
        receive_(lengths.network),
        transmit_(lengths.network),
        read_(lengths.disk),
        write_(lengths.disk) {}

  void add_cpu(double seconds, Duration at) { cpu_.add(seconds, at); }
  void add_memory(double bytes) { memory_.add(bytes); }
  void add_network(const Transfers& bytes, Duration at) {
    receive_.add(static_cast<double>(bytes.in), at);
    transmit_.add(static_cast<double>(bytes.out), at);
  }
  void add_disk(const Transfers& bytes, Duration at) {
    read_.add(static_cast<double>(bytes.in), at);
    write_.add(static_cast<double>(bytes.out), at);
  }
  void restart_network() {
    receive_.restart();
    transmit_.restart();
  }

  // 0 where nothing is known yet; `known` says which.
  Usage usage(NodeReport::Known& known) const {
    const std::optional<double> all[kDimensions] = {cpu_.per_second(),     memory_.mean(),
                                                    receive_.per_second(), transmit_.per_second(),
                                                    read_.per_second(),    write_.per_second()};
    Usage usage;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      known[d] = all[d].has_value();
      usage.of[d] = all[d].value_or(0);
    }
    return usage;
  }

 private:
  RateWindow cpu_;
  GaugeWindow memory_;
  RateWindow receive_, transmit_, read_, write_;
};

}  // namespace evenkeel::monitor
