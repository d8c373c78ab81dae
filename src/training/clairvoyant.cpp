#include "training/clairvoyant.h"

#include <algorithm>
#include <map>
#include <set>

#include "cluster/cluster_state.h"
#include "scheduling/filters/filter.h"

namespace evenkeel::training {
namespace {

using optimum::kForever;
using optimum::Objective;
using optimum::PlanNode;
using optimum::PlanPod;
using optimum::PlanProblem;
using simulator::Behaviour;
using simulator::NodeFault;
using simulator::PodPlan;
using simulator::WorldPlan;

double seconds_of(Time at) { return at == Time::max() ? kForever : to_seconds(at.time_since_epoch()); }

double most_memory(const Behaviour& behaviour) {
  double most = 0;
  for (const simulator::DemandPhase& phase : behaviour.phases)
    most = std::max(most, phase.demand[Dimension::memory]);
  return most;
}

double free_memory(const simulator::NodePlan& node) {
  return node.node.capacity[Dimension::memory] - node.base[Dimension::memory];
}

// Memory is not shared out but runs out: where the objective does not look at it, it is counted like a
// request. Where all of it is not enough some pods are killed whatever the plan, and leaving them out helps
// nobody.
bool counts_memory_in_use(const WorldPlan& world, Objective objective) {
  double wanted = 0, free = 0;
  for (const PodPlan& pod : world.pods) wanted += most_memory(*pod.behaviour);
  for (const simulator::NodePlan& node : world.nodes) free += free_memory(node);
  return objective == Objective::mean_response && wanted <= free;
}

// What is counted of requests, and how: cpu, memory, pods, memory in use, then extended resources.
class Counting {
 public:
  Counting(const WorldPlan& world, const scheduling::SchedulingOptions& options, Objective objective)
      : by_request_(!options.by_use.on), by_memory_in_use_(counts_memory_in_use(world, objective)) {
    for (const PodPlan& pod : world.pods)
      for (const ExtendedResource& extended : pod.shape->request.extended) extended_.insert(extended.name);
  }

  std::vector<double> room(const simulator::NodePlan& plan) const {
    const Node& node = plan.node;
    std::vector<double> room = of(node.allocatable);
    room[2] = static_cast<double>(node.max_pods);
    room[3] = free_memory(plan);
    return room;
  }
  std::vector<double> asked(const PodPlan& pod) const {
    std::vector<double> asked = of(pod.shape->request);
    if (!by_request_) std::fill(asked.begin(), asked.end(), 0.0);
    asked[2] = 1;
    if (by_memory_in_use_) asked[3] = most_memory(*pod.behaviour);
    return asked;
  }

 private:
  std::vector<double> of(const Resources& resources) const {
    std::vector<double> counts = {static_cast<double>(resources.cpu.count),
                                  static_cast<double>(resources.memory.count), 0, 0};
    for (const std::string& name : extended_)
      counts.push_back(static_cast<double>(resources.extended_count(name)));
    return counts;
  }

  bool by_request_, by_memory_in_use_;
  std::set<std::string> extended_;
};

// Which nodes a pod may use at all: the scheduler's own filters, asked about an empty cluster.
class Eligibility {
 public:
  Eligibility(const WorldPlan& world, const scheduling::SchedulingOptions& options) : options_(options) {
    for (const simulator::NodePlan& plan : world.nodes) empty_.set_node(plan.node);
  }

  // Empty: all of them.
  const std::vector<std::uint8_t>& of(const PodPlan& plan) {
    const auto [entry, is_new] = known_.try_emplace(plan.shape.get());
    if (!is_new) return entry->second;
    std::vector<std::uint8_t> feasible = empty_.columns().present;
    const Pod pod{{}, plan.name, plan.shape, {}, PodPhase::pending};
    const Demand nothing;
    const scheduling::FilterInput input{pod, empty_, nothing, options_};
    for (const scheduling::Filter& filter : scheduling::all_filters())
      if (filter.matters(input)) filter.apply(input, feasible);
    if (std::find(feasible.begin(), feasible.end(), 0) != feasible.end()) entry->second = std::move(feasible);
    return entry->second;
  }

 private:
  const scheduling::SchedulingOptions& options_;
  ClusterState empty_;
  std::map<const PodTemplate*, std::vector<std::uint8_t>> known_;
};

void add_absences(const WorldPlan& world, PlanProblem& problem) {
  for (std::size_t i = 0; i < world.nodes.size(); ++i)
    if (world.nodes[i].joins > Time{}) problem.nodes[i].away.push_back({0, seconds_of(world.nodes[i].joins)});
  std::vector<NodeFault> faults = world.faults;
  std::sort(faults.begin(), faults.end(),
            [](const auto& a, const auto& b) { return std::pair(a.at, a.kind) < std::pair(b.at, b.kind); });
  for (const NodeFault& fault : faults) {
    auto& away = problem.nodes[fault.node.slot].away;
    const double at_s = seconds_of(fault.at);
    const bool is_away = !away.empty() && at_s < away.back().second;
    if (fault.kind != NodeFault::Kind::rejoins && !is_away) away.push_back({at_s, kForever});
    if (fault.kind == NodeFault::Kind::rejoins && is_away) away.back().second = at_s;
  }
}

PlanPod pod_of(const PodPlan& plan, double delay_s) {
  const Behaviour& behaviour = *plan.behaviour;
  PlanPod pod;
  pod.start_s = seconds_of(plan.arrival);
  pod.series = behaviour.series;
  if (behaviour.kind != Behaviour::Kind::endless)
    pod.end_s = pod.start_s + delay_s + behaviour.ideal_seconds();
  for (const simulator::DemandPhase& phase : behaviour.phases)
    pod.phases.push_back({phase.seconds, phase.demand});
  if (delay_s <= 0 || pod.phases.empty()) return pod;
  Usage memory;  // held from the beginning
  memory[Dimension::memory] = pod.phases.front().demand[Dimension::memory];
  pod.phases.insert(pod.phases.begin(), {delay_s, memory});
  return pod;
}

// Everything is there before a tenth of the work can be done, and ends by itself: how soon is what counts.
bool is_a_peak(const WorldPlan& world) {
  if (world.pods.size() < 2) return false;
  double core_s = 0, free_cores = 0;
  for (const PodPlan& pod : world.pods) {
    if (pod.behaviour->kind != Behaviour::Kind::fixed_work || !pod.behaviour->series.empty()) return false;
    for (const simulator::DemandPhase& phase : pod.behaviour->phases)
      core_s += phase.seconds * phase.demand[Dimension::cpu];
  }
  for (const simulator::NodePlan& node : world.nodes)
    free_cores += std::max(0.0, node.node.capacity[Dimension::cpu] - node.base[Dimension::cpu]);
  const double arriving_s = to_seconds(world.pods.back().arrival - world.pods.front().arrival);
  return arriving_s * free_cores <= 0.1 * core_s;
}

}  // namespace

Objective natural_objective(const WorldPlan& world) {
  return is_a_peak(world) ? Objective::mean_response : Objective::imbalance;
}

PlanProblem plan_problem_of(const WorldPlan& world, const scheduling::SchedulingOptions& options,
                            Objective objective) {
  PlanProblem problem;
  problem.step_s = to_seconds(world.trace_step);
  problem.from_s = seconds_of(world.measure_from);
  Time to = std::min(world.measure_to, world.end);
  if (world.measure_to_last_arrival && !world.pods.empty())
    to = std::min(world.pods.back().arrival, world.end);
  problem.to_s = seconds_of(to);
  // A world whose window is empty is still one to be balanced.
  if (problem.to_s <= problem.from_s) problem.to_s = kForever;

  const Counting counting(world, options, objective);
  for (const simulator::NodePlan& plan : world.nodes)
    problem.nodes.push_back({plan.node.capacity, plan.base, counting.room(plan), {}});
  add_absences(world, problem);
  Eligibility eligibility(world, options);
  const double delay_s = to_seconds(world.binding.delay) + to_seconds(world.binding.jitter) / 2 +
                         to_seconds(world.kubelet.start_delay);
  for (const PodPlan& plan : world.pods) {
    PlanPod& pod = problem.pods.emplace_back(pod_of(plan, delay_s));
    pod.requests = counting.asked(plan);
    pod.allowed = eligibility.of(plan);
  }
  return problem;
}

std::vector<std::pair<std::string, NodeId>> clairvoyant_plan(const WorldPlan& world,
                                                             const scheduling::SchedulingOptions& options,
                                                             Objective objective, std::uint64_t seed) {
  const PlanProblem problem = plan_problem_of(world, options, objective);
  const optimum::Assignment assignment =
      optimum::annealed_plan(problem, objective, Random(seed).fork("clairvoyant"));
  std::vector<std::pair<std::string, NodeId>> plan;
  for (std::size_t pod = 0; pod < assignment.size(); ++pod)
    if (assignment[pod] != optimum::kNowhere) plan.push_back({world.pods[pod].name, NodeId{assignment[pod]}});
  return plan;
}

}  // namespace evenkeel::training
