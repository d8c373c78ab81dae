#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/live_observer.h"
#include "base/result.h"
#include "control/control_loop.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/kubernetes_world.h"
#include "kubernetes/scheduler_configuration.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {

struct LiveOptions {
  kubernetes::SchedulerConfiguration configuration;
  scheduling::PolicyModels models;
  std::string policy;              // for every profile, instead of what it says; empty: as it says
  bool shadow = false;             // decides, records, never writes
  bool events = true;              // Events for people
  bool annotate = false;           // evenkeel.io/decision on what is bound
  std::string identity;            // who leads, to others; empty: leads without asking
  std::vector<std::string> namespaces;  // whose waiting pods are ours; none: everybody's
  std::optional<LabelSelector> nodes;   // which nodes are ours; none: all
  std::uint64_t seed = 1;
  LiveObserver* observer = nullptr;
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

// A scheduler at work on an API server: world, decisions and policies, joined. Runs in turns, on whatever
// connection it is given: a network, or a simulated server with a clock of its own.
class LiveScheduler {
 public:
  // Errors name what is wrong with the configuration.
  static Result<std::unique_ptr<LiveScheduler>> open(kubernetes::ApiConnection& connection,
                                                     LiveOptions options);
  ~LiveScheduler();
  LiveScheduler(const LiveScheduler&) = delete;
  LiveScheduler& operator=(const LiveScheduler&) = delete;

  // Waits until something happens, at most until the deadline, and does all it leads to. False: stopped.
  bool turn(Time deadline);
  // Decides nothing more from here on; finishes what is under way, for so long.
  void stop(Duration at_most);

  bool synced() const { return world_.synced(); }
  bool leading() const { return true; }
  const scheduling::Scheduler& scheduler() const { return scheduler_; }
  const kubernetes::KubernetesWorld& world() const { return world_; }

 private:
  class Watched;
  LiveScheduler(kubernetes::ApiConnection& connection, LiveOptions options,
                std::vector<scheduling::PolicySetup> profiles);

  kubernetes::ApiConnection& connection_;
  LiveOptions options_;
  std::vector<scheduling::PolicySetup> profiles_;
  LiveObserver silent_;
  LiveObserver& observer_;
  kubernetes::KubernetesWorld world_;
  std::unique_ptr<Watched> watched_;
  scheduling::Scheduler scheduler_;
  std::unique_ptr<control::ControlLoop> loop_;
  bool was_synced_ = false;
};

}  // namespace evenkeel::apps
