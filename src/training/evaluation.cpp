#include "training/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include "control/control_loop.h"
#include "controllers/topology_order.h"
#include "scheduling/policies/registry.h"
#include "scheduling/policies/simple.h"
#include "simulator/simulated_world.h"
#include "training/in_parallel.h"
#include "training/references.h"

namespace evenkeel::training {
namespace {

using simulator::SimulatedWorld;
using simulator::WorldPlan;

// Every decision's time, filters included: from the question to the answer.
class TimedPolicy final : public scheduling::PlacementPolicy {
 public:
  TimedPolicy(scheduling::PlacementPolicy& inner, std::vector<double>& out) : inner_(inner), out_(out) {}
  std::optional<NodeId> choose(const scheduling::PlacementRequest& request, Random& random) override {
    const auto from = std::chrono::steady_clock::now();
    const auto chosen = inner_.choose(request, random);
    out_.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count());
    return chosen;
  }
  scheduling::ScoreSheet explain(const scheduling::PlacementRequest& request) override {
    return inner_.explain(request);
  }
  Time review_at() const override { return inner_.review_at(); }
  std::vector<EvictPod> review(const scheduling::Retrospect& seen, Random& random) override {
    return inner_.review(seen, random);
  }

 private:
  scheduling::PlacementPolicy& inner_;
  std::vector<double>& out_;
};

double quantile(std::vector<double> values, double q) {
  const auto at =
      std::min(values.size() - 1, static_cast<std::size_t>(q * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

struct Keep {
  bool series, outcomes, times;
};

// A world's application groups and the best that is known of them; nothing in worlds without.
struct Network {
  NetworkWorld world;
  NetworkReference reference;
};

constexpr std::string_view kOptimum = "optimum";
bool is_optimum(std::string_view policy) { return policy.substr(0, policy.find('+')) == kOptimum; }

// What a controller would have written into the groups' status by the time their pods come.
void rank_groups(WorldPlan& plan) {
  for (ClusterObject& object : plan.objects) {
    AppGroup* group = std::get_if<AppGroup>(&object);
    if (!group) continue;
    std::int32_t index = 0;
    for (const WorkloadReference& workload : controllers::sort_topology(*group).workloads)
      group->order.push_back({workload.selector, ++index});
    std::sort(group->order.begin(), group->order.end(),
              [](const AppGroup::Rank& a, const AppGroup::Rank& b) { return a.selector < b.selector; });
  }
}

std::unique_ptr<scheduling::PlacementPolicy> planned(const Network& network, const WorldPlan& plan) {
  std::vector<std::pair<std::string, NodeId>> places;
  for (std::size_t i = 0; i < network.reference.node_of.size(); ++i)
    places.emplace_back(plan.pods[network.world.plans[i]].name, NodeId{network.reference.node_of[i]});
  return std::make_unique<scheduling::PlannedPlacement>(std::move(places));
}

void add_network(const Network& network, const WorldPlan& plan, const SimulatedWorld& run,
                 RunResult& result) {
  const NetworkJudgement own = judge(network.world, nodes_of(network.world, plan, run));
  const NetworkJudgement& best = network.reference.judgement;
  // Who places less talks less: only those are compared who placed as much.
  const bool comparable = own.placed >= best.placed && own.applications >= best.applications;
  std::erase_if(result.metrics, [](const Metric& metric) { return metric.name == "placed"; });
  const Metric metrics[] = {
      {"latency_ms", own.latency_ms},
      {"gap_to_optimum", comparable ? gap(own.latency_ms, best.latency_ms) : std::nan("")},
      {"bandwidth_violations", static_cast<double>(own.over_booked)},
      {"placed", static_cast<double>(own.placed)},
      {"applications", static_cast<double>(own.applications)},
      {"optimum_ms", best.latency_ms},
      {"optimum_applications", static_cast<double>(best.applications)},
      {"optimum_proven", network.reference.least_latency ? 1.0 : 0.0},
  };
  result.metrics.insert(result.metrics.begin(), std::begin(metrics), std::end(metrics));
}

RunResult run_once(const WorldPlan& plan, PreparedPolicy& prepared, std::uint64_t seed, Keep keep,
                   const std::optional<Network>& network) {
  const Random random(seed);
  // PPO-LRT's deviations are read off the series, so small worlds keep theirs in any case.
  const bool series = keep.series || plan.nodes.size() <= 16;
  SimulatedWorld world(plan, random, series);
  scheduling::Scheduler scheduler(prepared.setup.options);
  prepared.attach(world, scheduler);
  RunResult result;
  TimedPolicy timed_policy(*prepared.setup.policy, result.decision_us);
  control::ControlLoop loop(world, scheduler, keep.times ? timed_policy : *prepared.setup.policy, random);
  const auto from = std::chrono::steady_clock::now();
  loop.run();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - from;
  result.metrics = metrics_of(world, plan.pods.size());
  if (network) add_network(*network, plan, world, result);
  if (keep.times) result.metrics.push_back({"run_ms", took.count()});
  if (keep.times && network) result.metrics.push_back({"optimum_solver_s", network->reference.solver_s});
  if (keep.times && !result.decision_us.empty()) {
    result.metrics.push_back({"decision_us_p50", quantile(result.decision_us, 0.50)});
    result.metrics.push_back({"decision_us_p99", quantile(result.decision_us, 0.99)});
  }
  if (keep.series) result.series = world.measures().series();
  if (keep.series || keep.outcomes) result.outcomes = world.measures().outcomes();
  return result;
}

}  // namespace

std::vector<Metric> metrics_of(const SimulatedWorld& world, std::size_t pods) {
  const simulator::Measures::Summary s = world.measures().summarise();
  const simulator::Counts& counts = world.counts();
  std::vector<Metric> metrics = {{"utilization", s.utilization}};
  for (std::size_t d = 0; d < kDimensions; ++d)
    metrics.push_back({"utilization_" + std::string(kDimensionNames[d]), s.by_dimension[d]});
  const Metric rest[] = {
      {"imbalance", s.imbalance},
      {"imbalance_of_means", s.imbalance_of_means},
      {"unserved_cpu", s.unserved_cpu},
      {"overload_node_minutes", s.overload_node_minutes},
      {"overload_share", s.overload_share},
      // AvgUtil in percent, ImBalance in 0..1, beta/alpha = 200 (DRS eq. 14).
      {"reward", 100 * s.utilization - 200 * s.imbalance},
      {"moves", static_cast<double>(counts.moves)},
      {"evictions", static_cast<double>(counts.moves)},
      {"oom_kills", static_cast<double>(counts.oom_kills)},
      {"failed", static_cast<double>(counts.given_up)},
      {"unschedulable", static_cast<double>(world.waiting())},
      {"placed", static_cast<double>(counts.placed)},
  };
  metrics.insert(metrics.end(), std::begin(rest), std::end(rest));
  if (s.finished > 0) {
    const Metric finite[] = {{"makespan_s", s.makespan_s},
                             {"response_s_mean", s.response_mean_s},
                             {"response_s_p95", s.response_p95_s},
                             {"slowdown_p95", s.slowdown_p95},
                             {"sigma_cpu", s.sigma_cpu},
                             {"sigma_memory", s.sigma_memory},
                             {"finished_share", static_cast<double>(s.finished) / static_cast<double>(pods)}};
    metrics.insert(metrics.end(), std::begin(finite), std::end(finite));
  }
  return metrics;
}

double RunResult::operator[](std::string_view name) const {
  for (const Metric& metric : metrics)
    if (metric.name == name) return metric.value;
  return std::nan("");
}

Spread spread_of(const PolicyResult& result, std::string_view metric) {
  Spread spread;
  const auto n = static_cast<double>(result.runs.size());
  for (const RunResult& run : result.runs) spread.mean += run[metric] / n;
  double squares = 0;
  for (const RunResult& run : result.runs) squares += std::pow(run[metric] - spread.mean, 2);
  spread.sd = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return spread;
}

Result<Evaluation> evaluate(const Experiment& experiment, const EvaluationOptions& options) {
  Evaluation evaluation{experiment.scenario.name, experiment.scenario.source, options.seeds, {}, {}, {}};
  for (const std::string& policy : options.policies) {
    const Status known = check_policy(policy, experiment.options, options.models);
    if (!known) return known.error();
    evaluation.policies.push_back({policy, is_reference(policy), {}});
    evaluation.policies.back().runs.resize(options.seeds.size());
  }

  if (!options.seeds.empty() && !options.models.empty()) {
    const std::size_t nodes = simulator::expand(experiment.scenario, options.seeds.front()).nodes.size();
    for (const std::string& policy : options.policies)
      if (const Status fits = scheduling::check_node_count(policy, options.models, nodes); !fits)
        return fits.error();
  }

  const bool optimum = std::any_of(options.policies.begin(), options.policies.end(), is_optimum);
  if (optimum && !experiment.scenario.applications)
    return invalid("policy 'optimum' is for scenarios with applications; here there is 'clairvoyant'");
  NetworkReferences references(optimum ? options.prove : nullptr, experiment.optimum_limit);

  const std::size_t all = options.seeds.size() * options.policies.size();
  std::size_t done = 0;
  std::mutex mutex;
  // A seed's world is made once and run under every policy by the same thread.
  in_parallel(options.seeds.size(), options.threads, [&](std::size_t s) {
    WorldPlan plan = simulator::expand(experiment.scenario, options.seeds[s]);
    std::optional<Network> network;
    if (has_network(plan)) {
      rank_groups(plan);
      NetworkWorld world = network_world(plan);
      NetworkReference reference = references.of(world, plan);
      network = Network{std::move(world), std::move(reference)};
    }
    if (s == 0) {
      const std::lock_guard lock(mutex);
      for (const simulator::NodePlan& node : plan.nodes) evaluation.node_names.push_back(node.node.name);
      evaluation.workloads = plan.workloads;
    }
    for (PolicyResult& policy : evaluation.policies) {
      PreparedPolicy prepared =
          prepare_policy(policy.policy, experiment.options, plan, options.seeds[s], options.models);
      if (network && is_optimum(policy.policy)) prepared.setup.policy = planned(*network, plan);
      const Keep keep{options.keep_series && s == 0, options.keep_outcomes, options.time_decisions};
      policy.runs[s] = run_once(plan, prepared, options.seeds[s], keep, network);
      const std::lock_guard lock(mutex);
      ++done;
      if (options.progress) options.progress(done, all);
    }
  });
  return evaluation;
}

}  // namespace evenkeel::training
