#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apps/netprobe_members.h"
#include "base/random.h"
#include "messaging/probe_client.h"
#include "messaging/probe_wire.h"
#include "messaging/traffic_budget.h"
#include "monitor/probe_plan.h"
#include "monitor/probe_row.h"

namespace evenkeel::apps {

// Makes a node's own tests when the plan says so, one at a time and within the budget, from a thread of its
// own; whoever calls step() from time to time starts them and takes what came of them.
class NetprobeAgent {
 public:
  struct Options {
    std::string node;
    monitor::ProbeSettings settings;
    messaging::ProbeSize size;  // its data: of tests that measure bandwidth
    messaging::TlsFiles tls;    // read anew for every test: others rotate them
    messaging::ProbeTurn* turn = nullptr;
    messaging::TrafficBudget* budget = nullptr;  // outlive the agent
    std::uint64_t seed = 0;
    std::function<void(const std::string&)> say;
  };
  explicit NetprobeAgent(Options options);
  ~NetprobeAgent();
  NetprobeAgent(const NetprobeAgent&) = delete;
  NetprobeAgent& operator=(const NetprobeAgent&) = delete;

  void set_nodes(std::vector<ProbeNode> nodes);
  // `now` is wall-clock time, by which all nodes agree on periods; `steady` what budgets are counted in.
  void step(Time now, Duration steady);
  // All of this period's at once, whatever their time.
  void hurry() { hurries_ = true; }

  bool is_idle() const;  // nothing left to do in this period
  monitor::ProbeRow& row() { return row_; }
  const std::map<std::string, std::string>& troubles() const { return troubles_; }  // by destination

  struct Counts {
    std::uint64_t tests = 0, bandwidth_tests = 0, failed = 0, busy = 0, missed = 0;
    std::uint64_t received = 0, transmitted = 0;  // bytes, as packets
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Job {
    monitor::ProbeTask task;
    std::int64_t epoch = 0;
    Time due{};
    int tries = 0;
  };
  struct Worker;

  void plan(std::int64_t epoch);
  void take_outcome(Time now);
  void start(Time now, Duration steady);
  messaging::ProbeSize size_of(const monitor::ProbeTask& task) const;
  void put_off(Job job, Time until);

  Options options_;
  monitor::ProbeRow row_;
  std::vector<ProbeNode> nodes_;
  std::vector<Job> jobs_;       // by when they are due
  std::set<std::string> done_;  // destinations, in this period; the one at work among them
  std::int64_t epoch_ = 0;
  bool has_planned_ = false, hurries_ = false;
  std::map<std::string, std::string> troubles_;
  Counts counts_;
  Random random_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace evenkeel::apps
