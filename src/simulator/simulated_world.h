#pragma once
#include <deque>
#include <queue>
#include <vector>

#include "base/random.h"
#include "cluster/world.h"
#include "simulator/contention.h"
#include "simulator/measures.h"
#include "simulator/world_plan.h"

namespace evenkeel::simulator {

struct Counts {
  std::size_t placed = 0, finished = 0, moves = 0, oom_kills = 0, bind_failures = 0, node_losses = 0;
  std::size_t marked_unschedulable = 0;
  std::size_t given_up = 0;  // killed for memory once too often
};

// A World made of a clock, an event queue and a seed. Time jumps to the next event, and
// the same plan, seed and actions give the same events to the last bit.
//
// A pod's way:  waiting ─bind─▶ binding ─▶ starting ─▶ running ─▶ ended
//                  ▲              │fails       ▲          │ out of memory: starts again, work lost
//                  └──────────────┘            └──────────┘
// Evicted, or its node lost, it ends there and its controller adds another that starts anew.
class SimulatedWorld final : public World {
 public:
  // The plan must outlive the world.
  SimulatedWorld(const WorldPlan& plan, Random random, bool keep_series);

  Time now() const override { return now_; }
  std::optional<std::span<const ClusterEvent>> wait_for_events(Time deadline) override;
  void execute(const Action& action) override;

  const Measures& measures() const { return measures_; }
  const Counts& counts() const { return counts_; }
  std::size_t waiting() const { return waiting_; }
  std::size_t running() const { return running_; }
  std::array<double, kDimensions> utilization_of(NodeId node) const {
    return measures_.utilization_of(node.slot);
  }
  // Which plan a pod follows: for references that see the future, and for tests.
  const PodPlan* plan_of(PodId pod) const;
  // Who is on which node now.
  std::vector<std::pair<const PodPlan*, NodeId>> placed() const;

 private:
  enum class Stage : std::uint8_t { free, waiting, binding, starting, running };
  enum class Kind : std::uint8_t { node_due, bind_done, pod_starts, report, fault };

  struct PodRun {
    PodId id;
    const PodPlan* plan = nullptr;
    Stage stage = Stage::free;
    std::uint32_t node = 0, position = 0, phase = 0, incarnation = 0, kills = 0, version = 0;
    Time bound{};
  };
  // How far a pod on a node is, kept beside its claim: what every change on the node walks.
  struct Progress {
    double left_s = 0;  // of its phase, at full speed
    bool running = false;
    Behaviour::Kind kind = Behaviour::Kind::endless;
  };
  struct NodeRun {
    std::vector<std::uint32_t> pods;  // slots, in step with claims and progress
    std::vector<Claim> claims;
    std::vector<Progress> progress;
    Usage used;
    Time settled{};
    std::uint32_t version = 0;
    bool up = false;
    std::vector<std::string> images;
  };
  struct Due {
    Time at;
    std::uint64_t sequence;
    Kind kind;
    std::uint32_t subject, version;
    bool operator>(const Due& o) const { return at != o.at ? at > o.at : sequence > o.sequence; }
  };
  struct Report {
    Time deliver;
    UsageReported usage;
    std::vector<PodUsage> pods;
  };

  void schedule(Time at, Kind kind, std::uint32_t subject, std::uint32_t version);
  Time next_moment() const;
  void turn();  // everything that happens now
  void happen(const Due& due);

  void arrive(const PodPlan& plan, std::uint32_t incarnation);
  void bound(std::uint32_t slot);
  void start(std::uint32_t slot);
  void finish(std::uint32_t slot);
  void come_again(std::uint32_t slot, PodEnd how);  // ends here; the controller adds another
  void kill_for_memory(std::uint32_t node);
  void give_up(PodRun& run);
  void enter_phase(const PodRun& run);

  void settle(std::uint32_t node);     // progress up to now
  void rearrange(std::uint32_t node);  // shares, utilisation, next thing due
  void leave_node(PodRun& run);
  void trace_step();
  void node_due(std::uint32_t node);
  void node_fault(const NodeFault& fault);
  void join(std::uint32_t node);
  void sample_metrics();
  void deliver_reports();
  Usage noisy(const Usage& usage);
  bool only_waiting() const;
  bool over() const;

  const WorldPlan& plan_;
  Random random_;
  Measures measures_;
  Counts counts_;
  Time now_{};
  std::vector<ClusterEvent> gathered_, lent_;  // what happened since, and what the caller reads
  std::vector<PodUsage> samples_, delivered_;  // lent with the events
  std::deque<Report> reports_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t sequence_ = 0;
  std::vector<NodeRun> nodes_;
  std::vector<PodRun> pods_;
  std::vector<std::uint32_t> free_slots_;
  std::size_t next_arrival_ = 0, next_history_ = 0;
  Time next_metrics_ = Time::max(), next_trace_ = Time::max();
  std::size_t waiting_ = 0, running_ = 0, in_flight_ = 0;
  Time last_progress_{};
};

}  // namespace evenkeel::simulator
