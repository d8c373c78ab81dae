#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/world.h"

namespace evenkeel::simulator {

// A stretch of a pod's life: how long at full speed, and what it wants meanwhile.
struct DemandPhase {
  double seconds = 0;
  Usage demand;
};

// What a pod does once it runs.
struct Behaviour {
  enum class Kind {
    fixed_work,      // slowed down it takes longer
    fixed_duration,  // slowed down it delivers less
    endless,         // a service: its demand follows `series`, or stays at its phase's
  };
  Kind kind = Kind::fixed_work;
  std::vector<DemandPhase> phases;
  std::vector<Usage> series;  // one per WorldPlan::trace_step from the start of the world

  double ideal_seconds() const {
    double total = 0;
    for (const DemandPhase& phase : phases) total += phase.seconds;
    return total;
  }
};

struct PodPlan {
  Time arrival{};
  std::string name;
  std::shared_ptr<const PodTemplate> shape;
  std::shared_ptr<const Behaviour> behaviour;
  Bytes image_size;  // 0: already everywhere
};

struct NodePlan {
  Node node;
  Usage base;  // what the system itself uses; pods share what it leaves
  Time joins{};
};

struct NodeFault {
  enum class Kind { leaves, crashes, rejoins };
  Time at{};
  NodeId node;
  Kind kind = Kind::crashes;
};

struct MetricsModel {
  Duration every{std::chrono::seconds{5}};
  Duration delay{};
  double noise = 0;    // standard deviation of a relative error
  double missing = 0;  // chance that a node's sample never arrives
};

struct BindingModel {
  Duration delay{};
  Duration jitter{};
  double fail = 0;  // chance
};

struct KubeletModel {
  Duration start_delay{};
  double pull_bytes_per_s = 0;  // 0: images appear at once
  bool swap = false;            // nobody is killed where memory runs out; it costs nothing either
  Duration oom_back_off{std::chrono::seconds{10}}, longest_oom_back_off{std::chrono::minutes{5}};
};

// A world, fully spelt out: everything that will happen to it from outside. Only the
// simulator and the references that see the future read this.
struct WorldPlan {
  std::string name;
  std::string source;  // which trace or generator, for the output
  std::vector<NodePlan> nodes;
  std::vector<PodPlan> pods;  // by arrival
  std::vector<NodeFault> faults;
  std::vector<ClusterObject> objects;   // there from the start: groups, topologies
  double cost_unit_ms = 1;              // what a unit of a topology's cost stands for
  std::vector<WorkloadSample> history;  // what is known of workloads before the start
  std::vector<std::string> workloads;   // by WorkloadId::slot
  Duration trace_step{};
  MetricsModel metrics;
  BindingModel binding;
  KubeletModel kubelet;
  Time measure_from{}, measure_to = Time::max();
  bool measure_to_last_arrival = false;
  Time end = Time::max();  // max: when the last pod has ended
};

}  // namespace evenkeel::simulator
