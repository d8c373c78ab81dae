#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/live_scheduler.h"
#include "cluster_load.h"
#include "scheduler_judge.h"

namespace evenkeel::faults {

// What a scheduler believes after a calm is what is true.
void check_beliefs(const apps::LiveScheduler& live, SimulatedApiServer& server, SchedulerJudge& judge);

// One small cluster with our scheduler in it, drawn from a seed: minutes in which everything goes wrong, a
// calm, and then a look whether all ended well.
class LiveWorld {
 public:
  static constexpr const char* kSchedulerName = "evenkeel";

  explicit LiveWorld(std::uint64_t seed);
  ~LiveWorld();
  LiveWorld(const LiveWorld&) = delete;
  LiveWorld& operator=(const LiveWorld&) = delete;

  void run();
  // Prints what becomes of everything whose name holds the text.
  void trace(const std::string& subject);

  std::vector<std::string> violations() const { return judge_.violations(); }
  const SchedulerJudge::Counts& counts() const { return judge_.counts(); }
  const SimulatedNetwork::Counts& network_counts() const { return network_.counts; }
  struct Troubles {
    std::uint64_t kills = 0, pauses = 0, compactions = 0, left_waiting = 0;
  };
  const Troubles& troubles() const { return troubles_; }
  const std::vector<std::string>& log() const { return log_; }

  // For tests that bring troubles of their own.
  SimulatedApiServer& server() { return server_; }
  SimulatedCluster& cluster() { return cluster_; }
  SchedulerJudge& judge() { return judge_; }
  void start_process(bool elects);
  // Applied to every process before it starts; and told of each after its turns.
  void prepare(std::function<void(apps::LiveOptions&)> prepare) { prepare_ = std::move(prepare); }
  void on_turn(std::function<void(apps::LiveScheduler&)> watch) { turned_ = std::move(watch); }
  void run_until(Time end);
  void end_well();
  VirtualTime& clock() { return clock_; }
  bool is_calm() const { return is_calm_; }  // the storm is over
  // Some apps' pods say that they had better stay where they are.
  void have_settled_apps() { load_.have_settled_apps(); }
  std::size_t processes() const { return processes_.size(); }
  const apps::LiveScheduler& scheduler(std::size_t process) const { return *processes_[process]->scheduler; }

 private:
  struct Process {
    std::unique_ptr<SimulatedConnection> connection;
    std::unique_ptr<apps::LiveScheduler> scheduler;
  };

  void trouble();
  void plan_trouble(Time until);
  void kill(std::size_t process);
  void check_with_a_fresh_one();

  std::function<void(apps::LiveOptions&)> prepare_ = [](apps::LiveOptions&) {};
  std::function<void(apps::LiveScheduler&)> turned_ = [](apps::LiveScheduler&) {};
  std::uint64_t seed_;
  Random random_;
  VirtualTime clock_;
  SimulatedApiServer server_;
  SimulatedCluster cluster_;
  SimulatedNetwork network_;
  bool elects_;
  std::size_t instances_;
  ClusterLoad::Traits traits_;
  SchedulerJudge judge_;
  ClusterLoad load_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::size_t> doomed_;  // killed before the next turn
  int started_ = 0;
  bool is_calm_ = false;
  Troubles troubles_;
  std::vector<std::string> log_;
};

}  // namespace evenkeel::faults
