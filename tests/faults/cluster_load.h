#pragma once
#include <string>
#include <vector>

#include "base/random.h"
#include "simulated_cluster.h"

namespace evenkeel::faults {

// A small cluster drawn from a seed, and people who keep changing it.
class ClusterLoad {
 public:
  struct Traits {
    bool has_other_scheduler = false;  // beside ours, on the same nodes
    bool nodes_change = false;         // shrink, are cordoned, tainted, leave and come back
    std::size_t machines = 0;          // 0: as many as are drawn
    static Traits drawn(Random& random);
  };

  ClusterLoad(SimulatedCluster& cluster, SimulatedApiServer& server, Random random, Traits traits,
              std::string scheduler_name);

  // From now on some apps' pods must not be moved. Asked for rather than drawn: worlds without it stay as
  // they are, seed by seed.
  void have_settled_apps() { has_settled_apps_ = true; }
  void set_up();
  // Something happens every few seconds until then.
  void go_on_until(Time end);
  // Nothing is left half-way: gates open, nodes are back.
  void settle();

 private:
  struct Machine {
    std::string name, zone;
    int cpu = 4, memory = 8, pods = 10;
    bool is_there = true, is_cordoned = false, is_tainted = false;
  };

  json node(const Machine& machine) const;
  SimulatedCluster::App app(const std::string& name);
  void disturb();
  void disturb_node();
  void disturb_pod();
  void open_gates();

  SimulatedCluster& cluster_;
  SimulatedApiServer& server_;
  Random random_;
  Traits traits_;
  std::string scheduler_name_;
  std::vector<Machine> machines_;
  int apps_ = 0;
  bool has_settled_apps_ = false;
};

}  // namespace evenkeel::faults
