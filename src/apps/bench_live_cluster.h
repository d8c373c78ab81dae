// A scheduler with an API server in the same process, so that what is timed is ours: reading, believing,
// deciding, writing; the server's own time is left out.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/live_reporter.h"
#include "apps/live_scheduler.h"
#include "base/random.h"
#include "base/result.h"
#include "kubernetes/scripted_cluster.h"

namespace evenkeel::apps {

class LiveBench {
 public:
  struct Options {
    std::size_t nodes = 100;  // at most; each with ten pods
    std::string policy;
    bool learns = false;  // online, by its network from the start
  };
  LiveBench(const Options& options, const scheduling::PolicyModels& models);

  // Twenty pods a second while every node reports once a second. Tells how long each took, in microseconds,
  // from its arrival on the watch to its binding on the wire.
  using Look = std::function<void(LiveScheduler&, double took_us)>;
  Status run(std::size_t decisions, const Look& look);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    std::string name;
    std::size_t node = 0;
  };

  nlohmann::json pod(const std::string& name);
  void run_pod(std::size_t on);
  void arrive(std::size_t step);
  void settle();
  void report(std::size_t on);
  std::optional<kubernetes::ApiAnswer> written(const kubernetes::ApiRequest& request);

  std::size_t nodes_;
  kubernetes::ScriptedCluster cluster_;
  LiveReporter reporter_;
  LiveUsage usage_;
  LiveOptions options_;
  Random random_{11};
  std::vector<MetricsReading> readings_;
  std::deque<Running> running_;
  std::size_t next_ = 0, step_ = 0;
  std::string arriving_, target_;
  std::optional<Clock::time_point> bound_;
  std::unique_ptr<LiveScheduler> scheduler_;  // last: it uses all the others
};

}  // namespace evenkeel::apps
