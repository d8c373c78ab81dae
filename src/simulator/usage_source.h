#pragma once
#include <memory>
#include <string>

#include "base/random.h"
#include "base/yaml_reader.h"
#include "simulator/world_plan.h"

namespace evenkeel::simulator {

// Machines that run for days and whose use in the six dimensions is a trace: from a CSV
// file, or made by a generator of the same shape. Each becomes an endless pod.
//
//   usage:
//     trace: FILE            # vm,slot,cpu_mhz,…; absent: the generator
//     machines: FILE | 428   # capacities; a number: so many of them
//   nodes: {count: 40}
class UsageSource {
 public:
  virtual ~UsageSource() = default;
  // Null after an error, which stays with the reader.
  static std::shared_ptr<const UsageSource> read(YamlReader& usage);
  virtual std::string description() const = 0;
  // Adds nodes, pods and what is known of them beforehand.
  virtual void add_to(WorldPlan& plan, std::int64_t nodes, std::uint64_t seed) const = 0;
};

}  // namespace evenkeel::simulator
