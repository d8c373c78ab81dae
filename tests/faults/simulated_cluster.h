#pragma once
#include <functional>
#include <map>
#include <string>

#include "base/random.h"
#include "simulated_api_server.h"

namespace evenkeel::faults {

// Everybody in a cluster who is not the scheduler, imitated as far as a scheduler notices: kubelets, the
// controllers of workloads, volumes and disruption budgets, the collector of pods whose node is gone, and
// another scheduler with pods of its own. All of them look at the stored truth and act on it after a while.
class SimulatedCluster {
 public:
  SimulatedCluster(SimulatedApiServer& server, Random random);
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  static constexpr const char* kOtherScheduler = "other-scheduler";

  struct App {
    std::string name;
    json pod;  // labels, spec; the name is filled in
    int replicas = 1;
    bool is_stateful = false;  // names that come again, one claim each where `claim_class` says so
    bool is_job = false;       // ends by itself, and is not made again
    std::string claim_class;
  };
  void add_app(App app);
  void scale(const std::string& app, int replicas);
  std::vector<std::string> app_names() const;
  const App& app(const std::string& name) const { return apps_.at(name); }

  void set_node(const json& node);  // makes it, or changes what there is
  void remove_node(const std::string& name);
  void change_pod(const std::string& key, const std::function<void(json&)>& change);
  void delete_pod(const std::string& key, Duration grace);

  // From now on volumes come soon, nobody fails, and nothing ends by itself.
  void calm_down();
  // The same for good: what a fresh scheduler is tried on must not change under it.
  void freeze() { is_frozen_ = true; }

 private:
  void pod_changed(const Change& change);
  void node_changed(const Change& change);
  void claim_changed(const Change& change);
  void start(const std::string& key, const std::string& uid);
  void finish(const std::string& key, const std::string& uid);
  void remove_if_ending(const std::string& key, const std::string& uid);
  void collect(const std::string& key, const std::string& uid);
  void reconcile(const std::string& app);
  void make_pod(App& app, int index);
  void make_claim(const App& app, const std::string& name);
  void provision(const std::string& key, const std::string& uid);
  void bind_for_other(const std::string& key, const std::string& uid);
  void refresh_budgets();
  bool is_there(const Kind& kind, const std::string& key, const std::string& uid) const;
  // After between low and high seconds, unless frozen by then.
  void later(double low, double high, std::function<void()> work);

  SimulatedApiServer& server_;
  Random random_;
  Kind &pods_, &nodes_, &claims_, &volumes_, &budgets_;
  std::map<std::string, App> apps_;
  std::map<std::string, bool> due_;  // apps, and "" for budgets: a look at them is already planned
  std::uint64_t names_ = 0;
  bool is_calm_ = false, is_frozen_ = false;
};

}  // namespace evenkeel::faults
