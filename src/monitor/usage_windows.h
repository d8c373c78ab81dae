#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "cluster/node_report.h"
#include "cluster/usage.h"
#include "monitor/kernel_text.h"
#include "monitor/windows.h"

namespace evenkeel::monitor {

// The six figures of a node or a pod, each over its window. Not every figure is looked at with every sample;
// samples are numbered, one after the other, so that it is known how many were left out.
class UsageWindows {
 public:
  explicit UsageWindows(const WindowLengths& lengths)
      : cpu_(lengths.cpu),
        memory_(lengths.memory),
        receive_(lengths.network),
        transmit_(lengths.network),
        read_(lengths.disk),
        write_(lengths.disk) {}

  struct Sample {
    std::uint64_t number = 0;
    Duration at{};
  };
  void add_cpu(double seconds, const Sample& sample) {
    cpu_.add(seconds, sample.at, skipped(cpu_seen_, sample));
  }
  void add_memory(double bytes, const Sample& sample) { memory_.add(bytes, skipped(memory_seen_, sample)); }
  void add_network(const Transfers& bytes, const Sample& sample) {
    const std::size_t left_out = skipped(network_seen_, sample);
    receive_.add(static_cast<double>(bytes.in), sample.at, left_out);
    transmit_.add(static_cast<double>(bytes.out), sample.at, left_out);
  }
  void add_disk(const Transfers& bytes, const Sample& sample) {
    const std::size_t left_out = skipped(disk_seen_, sample);
    read_.add(static_cast<double>(bytes.in), sample.at, left_out);
    write_.add(static_cast<double>(bytes.out), sample.at, left_out);
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
  static std::size_t skipped(std::uint64_t& seen, const Sample& sample) {
    const std::uint64_t before = std::exchange(seen, sample.number);
    return before == 0 || sample.number <= before ? 0 : sample.number - before - 1;
  }

  RateWindow cpu_;
  GaugeWindow memory_;
  RateWindow receive_, transmit_, read_, write_;
  std::uint64_t cpu_seen_ = 0, memory_seen_ = 0, network_seen_ = 0, disk_seen_ = 0;
};

}  // namespace evenkeel::monitor
