#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace evenkeel::simulator {

// A node as a trace of a cluster has it. GPUs are counted in thousandths, since pods share them.
struct TraceNode {
  std::string name;
  MilliCpu cpu;
  Bytes memory;
  std::int64_t gpu_milli = 0;
  std::string gpu_model;
};

// A pod as a trace has it: what it requested, when it came, how long it stayed.
struct TracePod {
  std::string name;
  MilliCpu cpu;
  Bytes memory;
  std::int64_t gpu_milli = 0;
  std::vector<std::string> gpu_models;  // any of them; empty: any at all
  std::string qos;
  double created_s = 0;
  std::optional<double> seconds;  // none: to the end
};

// What the files call their columns. Those of GPUs, qos, scheduling and deletion may be absent.
struct NodeColumns {
  std::string name = "sn", cpu = "cpu_milli", memory = "memory_mib", gpus = "gpu", model = "model";
};
struct PodColumns {
  std::string name = "name", cpu = "cpu_milli", memory = "memory_mib", gpus = "num_gpu",
              gpu_milli = "gpu_milli", gpu_models = "gpu_spec", qos = "qos", created = "creation_time",
              deleted = "deletion_time", scheduled = "scheduled_time";
};

Result<std::vector<TraceNode>> read_trace_nodes(const std::string& path, const NodeColumns& columns);

// By time of creation, then name. A pod stayed from when it was scheduled, or created where that is unknown,
// to its deletion.
Result<std::vector<TracePod>> read_trace_pods(const std::string& path, const PodColumns& columns);

}  // namespace evenkeel::simulator
