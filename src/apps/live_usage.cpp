#include "apps/live_usage.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kKeptAtOnce = 1000;  // workloads handed to the store in one turn
constexpr Duration kLastWrite = 3s;

}  // namespace

LiveUsage::LiveUsage(Options options) : options_(std::move(options)) {
  if (options_.state.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(options_.state, ignored);  // the store says what is wrong
  history::ProfileStore::Options store;
  store.path = (std::filesystem::path(options_.state) / "profiles.db").string();
  store.log = options_.log;
  store_ = std::make_unique<history::ProfileStore>(std::move(store));
}

LiveUsage::~LiveUsage() { sources_.clear(); }

void LiveUsage::arrived() {
  if (!post_ || posted_.exchange(true)) return;
  post_([this] {
    posted_ = false;
    if (world_) world_->interrupt();
  });
}

void LiveUsage::prepare(scheduling::SchedulingOptions& options) {
  if (options_.stale_after) options.stale_after = *options_.stale_after;
  stale_after_ = std::max(stale_after_, options.stale_after);
  options.history = prediction::live_history();
}

void LiveUsage::begin(kubernetes::KubernetesWorld& world, scheduling::Scheduler& scheduler, Time now) {
  world_ = &world;
  scheduler_ = &scheduler;
  keep_at_ = now + options_.keep_every;
  if (!store_) return;
  std::vector<std::pair<WorkloadId, WorkloadPast>> pasts;
  for (history::StoredWorkload& stored : store_->take_loaded())
    pasts.emplace_back(world.workloads().workload_named(stored.name), std::move(stored.past));
  scheduler.restore(pasts);
  options_.log("profiles of " + std::to_string(pasts.size()) + " workloads are known from earlier runs");
}

void LiveUsage::turn(Time now, bool leads) {
  take_in(now);
  if (!leads || !store_ || now < keep_at_) return;
  keep_profiles(now, kKeptAtOnce);
  if (next_kept_ == 0) keep_at_ = now + options_.keep_every;
}

void LiveUsage::take_in(Time now) {
  for (const auto& source : sources_)
    for (MetricsReading& reading : source->take()) {
      joining_.push_back({std::move(reading), {}, 0, 0});
      name_nodes(joining_.back());
    }
  for (std::size_t left = kSlice; left > 0 && !joining_.empty(); --left) {
    Joining& first = joining_.front();
    if (first.pods_done < first.reading.pods.size()) {
      join_pod(first, first.reading.pods[first.pods_done++]);
    } else if (first.nodes_done < first.reading.nodes.size()) {
      deliver(first.reading.nodes[first.nodes_done++], now);
    } else {
      joining_.pop_front();
    }
  }
  if (!joining_.empty()) world_->interrupt();  // the rest in the next turn, which is to be soon
}

// Pods are looked for under their nodes' names, whatever the source called those by.
void LiveUsage::name_nodes(Joining& joining) const {
  if (joining.reading.pods.empty()) return;
  for (std::size_t i = 0; i < joining.reading.nodes.size(); ++i) {
    const auto node = world_->feed().node_called(joining.reading.nodes[i].node);
    const std::string* name = node ? world_->feed().node_name(*node) : nullptr;
    if (name) joining.places[*name] = i;
  }
}

void LiveUsage::join_pod(Joining& joining, NodeReport::PodPart& part) const {
  const auto pod = world_->feed().pod_named(part.name_space, part.name);
  const kubernetes::ClusterFeed::KnownPod* known = pod ? world_->feed().pod(*pod) : nullptr;
  if (!known) return;
  const auto at = joining.places.find(known->node);
  if (at != joining.places.end()) joining.reading.nodes[at->second].pods.push_back(std::move(part));
}

void LiveUsage::deliver(NodeReport& report, Time now) {
  if (now - report.measured > stale_after_) {
    ++refused_stale_;
    return;
  }
  for (std::size_t d = 0; d < kDimensions; ++d)
    if (!(report.capacity.of[d] > 0)) report.capacity.of[d] = options_.capacity.of[d];
  world_->report(report, now);
}

// What changed since it was last written; as much as one turn should spend on it.
void LiveUsage::keep_profiles(Time now, std::size_t most) {
  const prediction::WorkloadHistory& history = scheduler_->history();
  const kubernetes::PodTemplates& names = world_->workloads();
  const std::size_t count = std::min(history.workloads(), names.workloads());
  kept_.resize(count);
  std::vector<history::StoredWorkload> batch;
  for (; next_kept_ < count && batch.size() < most; ++next_kept_) {
    const WorkloadId workload{static_cast<std::uint32_t>(next_kept_)};
    const std::uint64_t observed = history.observed(workload);
    if (std::exchange(kept_[next_kept_], observed) == observed) continue;
    batch.push_back({names.workload_name(workload), now, history.past(workload)});
  }
  if (next_kept_ >= count) next_kept_ = 0;
  if (!batch.empty()) store_->keep(std::move(batch));
}

void LiveUsage::end(bool leads, Time now) {
  if (store_ && world_ && leads) {
    next_kept_ = 0;
    keep_profiles(now, std::numeric_limits<std::size_t>::max());
    store_->flush(kLastWrite);
  }
  world_ = nullptr;
  scheduler_ = nullptr;
}

UsageFigures LiveUsage::figures(Time now) const {
  UsageFigures figures;
  for (const auto& source : sources_) figures.sources[std::string(source->name())] = source->counts();
  figures.refused["stale"] = refused_stale_;
  if (store_) {
    const history::ProfileStore::Counts counts = store_->counts();
    figures.keeps_profiles = true;
    figures.profiles_healthy = counts.healthy;
    figures.profiles_written = counts.written;
    figures.profile_failures = counts.failures;
    figures.profiles_waiting = counts.waiting;
  }
  if (!world_) return figures;
  const auto& refused = world_->feed().report_counts();
  figures.refused["unknown_node"] = refused.unknown_nodes;
  figures.refused["unknown_pod"] = refused.unknown_pods;
  figures.refused["impossible"] = refused.impossible;
  const ClusterState& cluster = scheduler_->cluster();
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
    if (!cluster.has_node({slot})) continue;
    const Time measured = cluster.measured_at({slot});
    const bool is_fresh = measured != Time::min() && now - measured <= stale_after_;
    ++(is_fresh ? figures.nodes_fresh : figures.nodes_stale);
    if (measured != Time::min())
      figures.oldest_sample_s = std::max(figures.oldest_sample_s, to_seconds(now - measured));
  }
  for (std::size_t slot = 0; slot < scheduler_->history().workloads(); ++slot)
    if (scheduler_->history().profile({static_cast<std::uint32_t>(slot)})) ++figures.workloads;
  return figures;
}

}  // namespace evenkeel::apps
