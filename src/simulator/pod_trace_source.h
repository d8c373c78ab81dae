#pragma once
#include <memory>
#include <string>

#include "base/random.h"
#include "base/yaml_reader.h"
#include "simulator/world_plan.h"

namespace evenkeel::simulator {

struct Scenario;

// Pods that came and went, with what they requested, on nodes of a trace: from CSV files,
// or made by a generator of the same shape.
class PodTraceSource {
 public:
  virtual ~PodTraceSource() = default;
  // Null after an error, which stays with the readers.
  static std::shared_ptr<const PodTraceSource> read(YamlReader& workload, YamlReader& root);
  virtual std::string description() const = 0;
  virtual void add_to(WorldPlan& plan, std::uint64_t seed) const = 0;
};

// Gives the scenario's apps the run times of a table (columns kernel, t_large_s; the median
// of each kernel's rows), and says so in its source.
Status read_run_times(const std::string& path, Scenario& scenario);

}  // namespace evenkeel::simulator
