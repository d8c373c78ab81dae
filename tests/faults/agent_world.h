#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/live_agent.h"
#include "cluster_load.h"
#include "scheduler_judge.h"
#include "simulated_agents.h"

namespace evenkeel::faults {

// One small cluster with an agent on every node, drawn from a seed, in one of three plots:
//
//   storm     everything goes wrong for a while; then a calm, in which some things stay wrong (agents that
//   cannot
//             reach each other, or one agent alone), and a look whether all ended well
//   failover  fine weather and a steady stream of pods, but leaders are killed, stopped and lose their power:
//             the next binding comes in time
//   fair      fine weather, a steady stream and agents that come and go: every pod is bound soon
class AgentWorld {
 public:
  static constexpr const char* kSchedulerName = "evenkeel";
  enum class Plot : std::uint8_t { storm, failover, fair };

  explicit AgentWorld(std::uint64_t seed);
  ~AgentWorld();
  AgentWorld(const AgentWorld&) = delete;
  AgentWorld& operator=(const AgentWorld&) = delete;

  void run();
  // Prints what becomes of everything whose name holds the text.
  void trace(const std::string& subject);

  Plot plot() const { return plot_; }
  std::vector<std::string> violations() const { return judge_.violations(); }
  const SchedulerJudge::Counts& counts() const { return judge_.counts(); }
  const AgentNetwork::Counts& network_counts() const { return agent_network_.counts; }
  struct Troubles {
    std::uint64_t kills = 0, leader_kills = 0, teams_killed = 0, last_ones = 0, power_cuts = 0, stops = 0;
    std::uint64_t pauses = 0, leader_pauses = 0, partitions = 0, one_way = 0, api_cuts = 0, clocks_set = 0;
    std::uint64_t slow_agents = 0, left_waiting = 0;
  };
  const Troubles& troubles() const { return troubles_; }
  // Of all processes, also those that are no more.
  struct Figures {
    std::uint64_t terms_led = 0, claims = 0, beats_heard = 0, bids = 0, questions = 0, reports = 0;
    std::uint64_t by_all = 0, by_quorum = 0, by_deadline = 0, by_nobody = 0, foreign_term = 0,
                  impostor_words = 0;
    std::uint64_t failovers = 0;
    Duration slowest_failover{};  // with a deputy that lives
    Duration slowest_binding{};   // in fair worlds, of a pod
  };
  const Figures& figures() const { return figures_; }
  const std::vector<std::string>& log() const { return log_; }

  // For tests that bring troubles of their own.
  struct Process {
    std::string name, node;
    std::unique_ptr<SimulatedConnection> connection;
    std::unique_ptr<SimulatedAgentLine> line;
    std::unique_ptr<apps::LiveAgent> agent;
    Time next_turn{};
    bool has_sensors = true;  // its node's use is sampled
  };
  // Applied to every agent before it starts.
  void prepare(std::function<void(apps::LiveAgentOptions&)> prepare) { prepare_ = std::move(prepare); }
  void be_calm_cluster(std::size_t nodes);  // roomy nodes with an agent each
  void start_agent(const std::string& node, std::optional<int> port = std::nullopt);  // none: one or another
  void run_until(Time end);
  void run_for(Duration time) { run_until(clock_.now() + time); }
  void make_pod(const std::string& name);
  Process* leader();
  Process* agent_of(const std::string& node);
  void doom(const std::string& process) { doomed_.insert(process); }
  SimulatedApiServer& server() { return server_; }
  AgentNetwork& agent_network() { return agent_network_; }
  SimulatedNetwork& network() { return network_; }
  SchedulerJudge& judge() { return judge_; }
  VirtualTime& clock() { return clock_; }
  const std::vector<std::unique_ptr<Process>>& processes() const { return processes_; }

 private:
  void draw_options();
  Process* named(const std::string& process);
  void count(const Process& process);
  void kill(const std::string& process);
  void restart_later(const std::string& node, double low, double high);
  void plan_report(const std::string& process);
  NodeReport sample(const Process& process);
  void say_odd_things();
  std::vector<Process*> deputies();  // that are ready

  // A storm and its end (agent_storm.cpp).
  void run_storm();
  void nodes_changed(const Change& change);
  void plan_trouble(Time until);
  void trouble();
  void trouble_processes(double dice);
  void trouble_network();
  void pause(Process& process, double longest);
  void be_impostor();
  void end_well();
  void check_team();
  void check_member(const Process& process);
  void check_with_a_fresh_one();

  // Fine weather (agent_fair_weather.cpp).
  void run_failover();
  void run_fair();
  void stream_pods(Time until);
  std::optional<Duration> trouble_leader();
  void expect_a_binding(Duration within, const std::string& after);
  void bound(const std::string& process, const Stored& pod);

  std::function<void(apps::LiveAgentOptions&)> prepare_ = [](apps::LiveAgentOptions&) {};
  std::uint64_t seed_;
  Random random_;
  VirtualTime clock_;
  SimulatedApiServer server_;
  SimulatedCluster cluster_;
  SimulatedNetwork network_;
  AgentNetwork agent_network_;
  Plot plot_;
  bool is_fenced_;
  ClusterLoad::Traits traits_;
  SchedulerJudge judge_;
  ClusterLoad load_;
  apps::LiveAgentOptions options_;
  bool clocks_are_skewed_ = false;
  std::vector<std::unique_ptr<Process>> processes_;
  std::set<std::string> doomed_;   // killed before the next turn
  std::set<std::string> without_;  // nodes whose agents stay away
  std::unique_ptr<SimulatedConnection> impostor_process_;
  std::unique_ptr<SimulatedAgentLine> impostor_;
  int started_ = 0;
  bool is_calm_ = false;
  Troubles troubles_;
  Figures figures_;
  std::vector<std::string> log_;

  // Of fine weather.
  std::map<std::string, Time> made_;  // pods that are not bound yet
  std::uint64_t pods_made_ = 0;
  struct Expectation {
    Time since{}, by{};
    std::string not_from, after;  // a process whose bindings do not count; what happened
    bool has_deputy = false;
  };
  std::optional<Expectation> expected_;
};

}  // namespace evenkeel::faults
