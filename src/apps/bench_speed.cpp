// How fast: the loop on four nodes, single decisions at any size, and how both grow.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "apps/bench.h"
#include "apps/live_stage.h"
#include "apps/models.h"
#include "apps/scenarios.h"
#include "base/check.h"
#include "base/file.h"
#include "control/control_loop.h"
#include "reporting/html_report.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "scheduling/policies/registry.h"
#include "scheduling/scheduler.h"
#include "simulator/simulated_world.h"

namespace evenkeel::apps {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

// A cluster of n nodes with about ten pods each, standing still but for what the benchmark does.
class StandingCluster {
 public:
  StandingCluster(std::size_t nodes, scheduling::SchedulingOptions options)
      : scheduler_(std::move(options)), random_(7) {
    for (std::uint32_t i = 0; i < nodes; ++i) scheduler_.observe(NodeAdded{make_node(i)}, now_);
    for (std::uint32_t w = 0; w < kWorkloads; ++w) shapes_.push_back(make_shape(w));
    for (std::size_t i = 0; i < nodes * 10; ++i) {
      Pod pod = next_pod();
      const NodeId node{static_cast<std::uint32_t>(i % nodes)};
      scheduler_.observe(PodFound{pod, node}, now_);
      scheduler_.observe(PodStarted{pod.id}, now_);
      running_.push_back(pod.id);
    }
    for (std::uint32_t w = 0; w < kWorkloads; ++w) {  // every workload has a past
      Pod pod = next_pod();
      pod.shape = shapes_[w];
      scheduler_.observe(PodFound{pod, {0}}, now_);
      scheduler_.observe(PodStarted{pod.id}, now_);
      scheduler_.observe(PodGone{pod.id, PodEnd::completed}, now_ + 60s);
      free_.push_back(pod.id);
    }
    now_ += 60s;
    report_usage(nodes);
  }

  // One pod comes and one goes, and the time for deciding about the one that came: filters,
  // choice and bookkeeping.
  double decide_us(scheduling::PlacementPolicy& policy) {
    const std::size_t leaving = random_.below(running_.size());
    scheduler_.observe(PodGone{running_[leaving], PodEnd::completed}, now_);
    free_.push_back(running_[leaving]);
    now_ += 20ms;
    const Pod pod = next_pod();
    scheduler_.observe(PodAdded{pod}, now_);
    const auto from = Clock::now();
    scheduling::Next next = scheduler_.next(now_);
    const auto* request = std::get_if<scheduling::PlacementRequest>(&next);
    if (!request) {
      // A full cluster: the pod leaves again.
      scheduler_.observe(PodGone{pod.id, PodEnd::deleted}, now_);
      free_.push_back(pod.id);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(leaving));
      return seconds_since(from) * 1e6;
    }
    const auto chosen = policy.choose(*request, random_);
    if (chosen) scheduler_.commit(*request, *chosen);
    const double took = seconds_since(from) * 1e6;
    if (!chosen) {
      scheduler_.observe(PodGone{pod.id, PodEnd::deleted}, now_);
      free_.push_back(pod.id);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(leaving));
      return took;
    }
    scheduler_.observe(PodBound{pod.id, *chosen}, now_);
    scheduler_.observe(PodStarted{pod.id}, now_);
    running_[leaving] = pod.id;
    look_back(policy);
    return took;
  }

 private:
  static constexpr std::uint32_t kWorkloads = 64;

  // Not part of a decision's time: a learner looks back when nobody waits for it.
  void look_back(scheduling::PlacementPolicy& policy) {
    if (policy.review_at() > now_) return;
    policy.review({scheduler_.cluster(), scheduler_.history(), scheduler_.options(), now_, {}}, random_);
  }

  static Node make_node(std::uint32_t i) {
    Node node;
    node.id = {i};
    node.name = "node-" + std::to_string(i);
    const double cores = 8 << (i % 3);
    node.capacity = {{cores, cores * 4e9, 1.25e9, 1.25e9, 5e8, 5e8}};
    node.allocatable.cpu = {static_cast<std::int64_t>(cores * 1000)};
    node.allocatable.memory = {static_cast<std::int64_t>(cores * 4e9)};
    node.labels.set("topology.kubernetes.io/zone", "zone-" + std::to_string(i % 3));
    return node;
  }

  std::shared_ptr<const PodTemplate> make_shape(std::uint32_t workload) {
    Container container;
    container.name = container.image = "app-" + std::to_string(workload);
    container.requests.cpu = {100 + static_cast<std::int64_t>(random_.below(400))};
    container.requests.memory = {static_cast<std::int64_t>((64 + random_.below(512)) << 20)};
    PodSpec spec;
    spec.containers.push_back(container);
    return std::make_shared<PodTemplate>("default", Labels{}, std::vector<OwnerReference>{},
                                         WorkloadId{workload}, std::move(spec));
  }

  Pod next_pod() {
    PodId id{static_cast<std::uint32_t>(count_), 1};
    if (free_.empty()) {
      ++count_;
    } else {
      id = {free_.back().slot, free_.back().generation + 1};
      free_.pop_back();
    }
    return {id, "pod", shapes_[random_.below(kWorkloads)], now_, PodPhase::pending};
  }

  void report_usage(std::size_t nodes) {
    for (std::uint32_t i = 0; i < nodes; ++i) {
      std::vector<PodUsage> samples;
      Usage total{{0.2, 5e8, 1e6, 1e6, 1e5, 1e5}};
      for (const PodId id : scheduler_.cluster().pods_on({i})) {
        const Resources& asked = scheduler_.cluster().pod(id)->pod.shape->request;
        const double share = 0.3 + random_.uniform();
        samples.push_back({id,
                           {{static_cast<double>(asked.cpu.count) / 1000 * share,
                             static_cast<double>(asked.memory.count) * share, 1e7 * share, 1e7 * share,
                             4e6 * share, 4e6 * share}}});
        total += samples.back().usage;
      }
      scheduler_.observe(UsageReported{{i}, now_, total, samples}, now_);
    }
  }

  scheduling::Scheduler scheduler_;
  Random random_;
  Time now_{};
  std::vector<std::shared_ptr<const PodTemplate>> shapes_;
  std::vector<PodId> running_, free_;
  std::size_t count_ = 0;
};

struct Timing {
  double per_s = 0, p50_us = 0, p99_us = 0;
};

// As a live profile has it: plugin Evenkeel beside kube-scheduler's own, watched over by a guard.
constexpr std::string_view kLive = "evenkeel, live";

Result<scheduling::PolicySetup> set_up_live(const scheduling::PolicyModels& models) {
  kubernetes::SchedulerConfiguration configuration;
  kubernetes::SchedulerProfile profile = kubernetes::default_profile();
  profile.score.push_back({"Evenkeel", 100});
  return set_up_live_profile(configuration, profile, models);
}

Timing time_decisions(const std::string& policy, std::size_t nodes, double budget_s,
                      const scheduling::PolicyModels& models = {}) {
  Result<scheduling::PolicySetup> setup =
      policy == kLive ? set_up_live(models) : scheduling::set_up_policy(policy, {}, models);
  EVENKEEL_CHECK(setup);
  // Metrics count as fresh for as long as the benchmark stands still.
  setup->options.stale_after = 24h;
  StandingCluster cluster(nodes, setup->options);
  for (int i = 0; i < 50; ++i) cluster.decide_us(*setup->policy);
  std::vector<double> took;
  const auto from = Clock::now();
  while ((took.size() < 300 || seconds_since(from) < budget_s) && took.size() < 200'000)
    took.push_back(cluster.decide_us(*setup->policy));
  double total = 0;
  for (const double us : took) total += us;
  std::sort(took.begin(), took.end());
  return {static_cast<double>(took.size()) / total * 1e6, took[took.size() / 2],
          took[took.size() * 99 / 100]};
}

std::string figure(double value) { return reporting::format_number(value); }

std::size_t bytes_in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

}  // namespace

Result<BenchJson> bench_simulator(const BenchSettings& settings, std::ostream& out) {
  // Rules that look at load get metrics every minute; the others run without any.
  struct Run {
    const char *policy, *metrics;
  };
  reporting::TextTable table{{{"policy", reporting::Align::left},
                              {"metrics", reporting::Align::left},
                              {"placements/s"},
                              {"us each"}},
                             {},
                             {}};
  BenchJson results;
  for (const Run& run :
       {Run{"random", "0s"}, {"kube-default", "0s"}, {"greedy", "60s"}, {"horizon", "60s"}}) {
    const Result<training::Experiment> experiment = load_scenario(
        "drs-even", {"workload.arrivals.pods=" + std::string(settings.quick ? "20000" : "300000"),
                     "metrics.every=" + std::string(run.metrics)});
    if (!experiment) return experiment.error();
    const simulator::WorldPlan plan = simulator::expand(experiment->scenario, 1);
    Result<scheduling::PolicySetup> setup = scheduling::set_up_policy(run.policy, experiment->options);
    EVENKEEL_CHECK(setup);
    double best = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {  // the quickest: others only waited for the machine
      const Random random(1);
      simulator::SimulatedWorld world(plan, random, false);
      scheduling::Scheduler scheduler(setup->options);
      control::ControlLoop loop(world, scheduler, *setup->policy, random);
      const auto from = Clock::now();
      loop.run();
      best = std::max(best, static_cast<double>(world.counts().placed) / seconds_since(from));
    }
    table.rows.push_back({{run.policy},
                          {run.metrics == std::string("0s") ? "none" : "every minute"},
                          {figure(best)},
                          {figure(1e6 / best)}});
    results["placements_per_s"][run.policy] = best;
  }
  table.notes.push_back(
      "The whole loop on DRS's testbed: arrival, filters, choice, binding, contention, measures, end. Best "
      "of three.");
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  return results;
}

Result<BenchJson> bench_decisions(const BenchSettings& settings, std::ostream& out) {
  reporting::TextTable table{
      {{"nodes"}, {"policy", reporting::Align::left}, {"per second"}, {"p50 us"}, {"p99 us"}}, {}, {}};
  BenchJson results;
  const Result<scheduling::PolicyModels> models = load_models({});
  if (!models) return models.error();
  std::vector<std::string_view> policies = scheduling::policy_names();
  policies.push_back(kLive);
  for (const std::size_t nodes : {4UL, 100UL, 5000UL})
    for (const std::string_view policy : policies) {
      const Timing timing = time_decisions(std::string(policy), nodes, settings.quick ? 0.02 : 0.5, *models);
      table.rows.push_back({{std::to_string(nodes)},
                            {std::string(policy)},
                            {figure(timing.per_s)},
                            {figure(timing.p50_us)},
                            {figure(timing.p99_us)}});
      results[std::to_string(nodes)][std::string(policy)] = {
          {"per_s", timing.per_s}, {"p50_us", timing.p50_us}, {"p99_us", timing.p99_us}};
    }
  table.notes.push_back(
      "One core, all nodes filtered and scored, ten pods a node: question, choice, bookkeeping. Policies "
      "with a "
      "network for a fixed number of nodes (drs and its kin) leave more than 1,000 nodes to kube-default.");
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  return BenchJson{{"nodes", results}};
}

Result<BenchJson> bench_growth(const BenchSettings& settings, std::ostream& out) {
  reporting::TextTable table{{{"nodes"},
                              {"pods"},
                              {"kube-default us"},
                              {"greedy us"},
                              {"horizon us"},
                              {"memory MB"},
                              {"bytes a pod"}},
                             {},
                             {}};
  BenchJson results = BenchJson::array();
  reporting::LineChart time_chart, memory_chart;
  time_chart.title = "Time per decision";
  time_chart.x = {"nodes", reporting::Scale::logarithmic};
  time_chart.y = {"microseconds", reporting::Scale::logarithmic};
  memory_chart = time_chart;
  memory_chart.title = "Memory of the cluster's state, ten pods a node";
  memory_chart.y.label = "MB";
  memory_chart.lines = {{"memory", 0, false, true, {}}};
  const std::vector<std::string> policies = {"kube-default", "greedy", "horizon"};
  for (const std::string& policy : policies)
    time_chart.lines.push_back({policy, static_cast<int>(time_chart.lines.size()), false, true, {}});
  for (const std::size_t nodes : {10UL, 100UL, 1000UL, 10000UL}) {
    std::vector<reporting::TextCell> row = {{std::to_string(nodes)}, {std::to_string(nodes * 10)}};
    BenchJson point = {{"nodes", nodes}, {"pods", nodes * 10}};
    for (std::size_t i = 0; i < policies.size(); ++i) {
      const Timing timing = time_decisions(policies[i], nodes, settings.quick ? 0.02 : 0.5);
      const double mean_us = 1e6 / timing.per_s;
      row.push_back({figure(mean_us)});
      point[policies[i] + "_us"] = mean_us;
      time_chart.lines[i].points.push_back({static_cast<double>(nodes), mean_us});
    }
    const std::size_t before = bytes_in_use();
    const StandingCluster cluster(nodes, {});
    const auto bytes = static_cast<double>(bytes_in_use() - before);
    row.push_back({figure(bytes / 1e6)});
    row.push_back({figure(bytes / static_cast<double>(nodes * 10))});
    point["memory_mb"] = bytes / 1e6;
    memory_chart.lines.front().points.push_back({static_cast<double>(nodes), bytes / 1e6});
    table.rows.push_back(std::move(row));
    results.push_back(std::move(point));
  }
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  if (!settings.report.empty()) {
    reporting::ReportData report;
    report.title = "Growth with the cluster";
    report.command = "evenkeel bench growth --report " + settings.report;
    report.charts = {time_chart, memory_chart};
    const Status written = write_file(settings.report, reporting::render_html_report(report));
    if (!written) return written.error();
    out << "plotted in " << settings.report << '\n';
  }
  return BenchJson{{"points", results}};
}

}  // namespace evenkeel::apps
