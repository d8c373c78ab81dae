#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/yaml_reader.h"
#include "simulator/world_plan.h"

namespace evenkeel::simulator {

// A number that may differ from pod to pod.
struct Range {
  double low = 0, high = 0;
  double draw(Random& random) const { return high > low ? random.between(low, high) : low; }
};

struct AppPhase {
  Range seconds;
  Usage demand;  // at App::reference_cpu
};

// A kind of pod: what it asks for and what it does.
struct App {
  std::string name;
  int weight = 1;
  Behaviour::Kind kind = Behaviour::Kind::fixed_work;
  std::vector<AppPhase> phases;
  double noise = 0;  // spread of a log-normal factor of mean 1 on its seconds
  // Where given, demand grows and fixed work shrinks in time with the CPU a pod is allowed.
  std::optional<double> reference_cpu;
  std::optional<Range> cpu_request, cpu_limit;  // cores; one drawn value serves both where both are ranges
  Bytes memory_request, memory_limit;
  std::string image, owner;  // owner: name of a ReplicaSet
  Bytes image_size;
  std::int32_t priority = 0;
  Labels labels, node_selector;
  std::vector<Toleration> tolerations;
  std::vector<ExtendedResource> extended;
};

struct Arrivals {
  enum class Pattern { regular, normal, poisson, at_once, within };
  Pattern pattern = Pattern::regular;
  std::int64_t pods = 0;
  Duration every{}, deviation{}, within{};
};

enum class Mix { blocks, random, each };  // each: pods / apps of every app, shuffled

struct NodeGroup {
  std::string name;  // with %d where count > 1
  std::int64_t count = 1;
  Node node;
  Usage base;
  Duration joins{};
};

struct RandomFaults {
  double crashes_per_hour = 0;  // of the whole cluster
  double leaves_per_hour = 0;
  Duration back_after{std::chrono::minutes{5}};
};

class UsageSource;
class PodTraceSource;
class ApplicationSource;

// A world as a file says it, before a seed makes it one.
struct Scenario {
  std::string name, description;
  std::vector<NodeGroup> nodes;
  std::int64_t nodes_count = 0;  // for a usage source, which makes its nodes itself
  std::vector<App> apps;
  double seconds_scale = 1;
  Mix mix = Mix::blocks;
  Arrivals arrivals;
  MetricsModel metrics;
  BindingModel binding;
  KubeletModel kubelet;
  RandomFaults faults;
  std::vector<NodeFault> planned_faults;
  std::optional<Duration> measure_from;  // none: the start, or where a usage source's arrivals end
  std::optional<Duration> measure_to;
  bool measure_to_last_arrival = false;
  std::optional<Duration> end;
  std::string source;                                     // what the workload was made from
  std::shared_ptr<const UsageSource> usage;               // machines whose use is a trace
  std::shared_ptr<const PodTraceSource> pods;             // pods (and nodes) from a trace
  std::shared_ptr<const ApplicationSource> applications;  // groups of pods that talk to each other
};

// Reads what concerns the world; errors stay with the reader until its finish().
Scenario read_scenario(YamlReader& root);

// The world this seed makes of it.
WorldPlan expand(const Scenario& scenario, std::uint64_t seed);

}  // namespace evenkeel::simulator
