#pragma once
#include <memory>
#include <string>

#include "base/random.h"
#include "base/yaml_reader.h"
#include "simulator/machine_fleet.h"

namespace evenkeel::simulator {

// Machines that run for days and whose use in the six dimensions is a trace: from a CSV file, or made
// by a generator of the same shape. Each becomes an endless pod and a workload of its own.
//
//   usage:
//     trace: FILE            # vm,slot,cpu_mhz,…, plain or zstd; absent: the generator
//     machines: FILE | 428   # capacities, vm,cpu_cap_mhz,mem_cap_mib; or a number, as `count`
//     count: 428             # so many of them: the first by id of a trace
//     columns: {cpu: …}      # where a file's columns have other names
//     step: 5m               # a slot of the trace
//     length: 7d             # of what the generator makes
//     history: 1d            # known before the world begins, which is time 0
//     arrivals: 1d           # then machines come, at random times in random order; the rest is measured
//     requests: equal        # or scaled; limits are the machines' capacities
//   nodes: {count: 40}       # all equal; see node_capacity
//
// The seed of a world draws the arrivals and, without a trace, the machines.
class UsageSource {
 public:
  // Null after an error, which stays with the reader.
  static std::shared_ptr<const UsageSource> read(YamlReader& usage);

  std::string description() const;
  Duration arrivals() const { return arrivals_; }
  // Adds nodes, pods and what is known of them beforehand.
  void add_to(WorldPlan& plan, std::int64_t nodes, std::uint64_t seed) const;

 private:
  UsageSource() = default;
  std::shared_ptr<const Fleet> read_fleet(YamlReader& usage);
  void add_nodes(WorldPlan& plan, const Usage& capacity, std::int64_t nodes) const;
  void add_pods(WorldPlan& plan, const Fleet& fleet, const Usage& capacity, std::int64_t nodes,
                Random random) const;

  std::string trace_;                   // empty: the generator
  std::shared_ptr<const Fleet> fleet_;  // of the trace
  std::size_t count_ = 0;
  Duration step_{}, length_{}, history_{}, arrivals_{};
  MachineRequests requests_ = MachineRequests::equal;
};

}  // namespace evenkeel::simulator
