#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/metrics_source.h"
#include "apps/usage_metrics.h"
#include "history/profile_store.h"
#include "kubernetes/kubernetes_world.h"
#include "scheduling/scheduler.h"

namespace evenkeel::apps {

// What live nodes and pods use, on its way into the scheduler, and what workloads did, on its way to a disk
// and back. Belongs to the scheduler's thread, and does a small piece of work in each of its turns: a long
// answer of a source is taken in over several.
class LiveUsage {
 public:
  struct Options {
    std::optional<Duration> stale_after{};  // of a node's sample; none: as the profiles have it
    Usage capacity{};                       // of network and disk, for nodes whose source does not tell
    std::string state{};                    // the folder of profiles.db; empty: nothing survives
    Duration keep_every = std::chrono::seconds(30);
    std::function<void(const std::string&)> log = [](const std::string&) {};
  };
  explicit LiveUsage(Options options);
  ~LiveUsage();
  LiveUsage(const LiveUsage&) = delete;
  LiveUsage& operator=(const LiveUsage&) = delete;

  void add(std::unique_ptr<MetricsSource> source) { sources_.push_back(std::move(source)); }
  // For sources, from any thread: something has come. The scheduler's wait ends.
  void arrived();
  // How to have something done in the scheduler's thread, from any other.
  void post_with(std::function<void(std::function<void()>)> post) { post_ = std::move(post); }

  // The scheduler's own calls, in this order.
  void prepare(scheduling::SchedulingOptions& options);  // of each profile
  void begin(kubernetes::KubernetesWorld& world, scheduling::Scheduler& scheduler, Time now);
  void turn(Time now, bool leads);  // only who leads writes
  UsageFigures figures(Time now) const;
  void end(bool leads, Time now);

 private:
  static constexpr std::size_t kSlice = 256;  // nodes or pods that are taken in, in one turn
  // A reading whose pods are being put to their nodes.
  struct Joining {
    MetricsReading reading;
    std::unordered_map<std::string, std::size_t> places;  // of nodes, by name
    std::size_t pods_done = 0, nodes_done = 0;
  };

  void take_in(Time now);
  void name_nodes(Joining& joining) const;
  void join_pod(Joining& joining, NodeReport::PodPart& part) const;
  void deliver(NodeReport& report, Time now);
  void keep_profiles(Time now, std::size_t most);

  Options options_;
  Duration stale_after_{};  // the longest of any profile
  std::vector<std::unique_ptr<MetricsSource>> sources_;
  std::unique_ptr<history::ProfileStore> store_;
  kubernetes::KubernetesWorld* world_ = nullptr;
  scheduling::Scheduler* scheduler_ = nullptr;
  std::deque<Joining> joining_;
  std::uint64_t refused_stale_ = 0;
  std::vector<std::uint64_t> kept_;  // of each workload, how much of what was observed is written
  std::size_t next_kept_ = 0;
  Time keep_at_{};
  std::function<void(std::function<void()>)> post_;
  std::atomic<bool> posted_{false};
};

}  // namespace evenkeel::apps
