#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/yaml_reader.h"
#include "simulator/pod_trace.h"
#include "simulator/world_plan.h"

namespace evenkeel::simulator {

// Pods that came and went, with what they requested, on nodes of a trace: from CSV files, or made by
// a generator of the same shape.
//
//   nodes:
//     trace: FILE           # sn,cpu_milli,memory_mib,gpu,model; absent: generated, or `list`
//     count: 64             # so many of them: a sample of a trace, another for each seed
//   workload:
//     kind: pod-trace
//     trace: FILE           # name,cpu_milli,memory_mib,num_gpu,gpu_milli,…; absent: generated
//     from: 10326485, to: … # window of creation times, in seconds; those who came before are not there
//     scale: 10             # they come ten times as fast, and stay as long
//     lifetimes: recorded   # or none: who has come stays
//     load: 0.7             # of the generator: see PodStream
//     length: 6h
//   Both may have `columns`, where a file's have other names.
//
// GPUs are the extended resource evenkeel.io/gpu-milli; which GPU of a node a share comes from is not
// modelled. A workload is a shape: the same CPU, memory and GPU requested. What pods use is not in
// such traces. Here a pod uses a share of its request that its shape has in common, drawn by the
// seed: 15 to 75 % of CPU, 30 to 95 % of memory, a few MB/s of network and disk per core.
// The world ends ten minutes after the last arrival, unless the scenario says when.
class PodTraceSource {
 public:
  // Null after an error, which stays with the readers.
  static std::shared_ptr<const PodTraceSource> read(YamlReader& workload, YamlReader& root);

  std::string description() const;
  void add_to(WorldPlan& plan, std::uint64_t seed) const;

 private:
  PodTraceSource() = default;
  bool read_pods(YamlReader& workload);
  bool read_nodes(YamlReader& root);
  void cut_window(YamlReader& workload);
  std::vector<TraceNode> nodes_for(std::uint64_t seed) const;

  std::string pods_path_, nodes_path_;  // empty: the generator
  std::vector<TracePod> pods_;          // of the trace, in the time of the world
  std::vector<TraceNode> nodes_;
  std::optional<std::size_t> nodes_count_;
  bool nodes_listed_ = false;  // in the scenario itself
  bool stay_ = false;
  double scale_ = 1, load_ = 0.7;
  Duration length_{};
};

}  // namespace evenkeel::simulator
