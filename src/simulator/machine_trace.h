#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/usage.h"

namespace evenkeel::simulator {

// Traces of virtual machines count CPU in MHz: a core here is 1 GHz, whatever the processor's clock.
inline constexpr double kCoresPerMhz = 1e-3, kBytesPerMib = 1024.0 * 1024, kBytesPerKb = 1000;

// A machine and what it used, slot by slot.
struct MachineTrace {
  std::string id;
  double cpu = 0;     // cores, at most; 0: unlimited
  double memory = 0;  // bytes, at most; 0: unlimited
  std::vector<Usage> use;
};

// What the two files call their columns.
struct MachineColumns {
  std::string machine = "vm", slot = "slot";
  // MHz, MiB and kB/s, in the order of Dimension.
  std::array<std::string, kDimensions> use{"cpu_mhz",     "mem_mib",     "net_rx_kBps",
                                           "net_tx_kBps", "disk_r_kBps", "disk_w_kBps"};
  std::string cpu_capacity = "cpu_cap_mhz", memory_capacity = "mem_cap_mib";  // of the machines' file
};

// All machines of a trace, by id (numbers as numbers), each with a value for every slot up to the
// trace's last: what is missing stays as it was last, and before the first is what it was first.
// Without a file of machines their capacities are their own peaks; with one, a machine of the trace
// that it does not list is an error, and one without samples is left out.
Result<std::vector<MachineTrace>> read_machine_trace(const std::string& trace_path,
                                                     const std::optional<std::string>& machines_path,
                                                     const MachineColumns& columns);

}  // namespace evenkeel::simulator
