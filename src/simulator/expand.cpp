// From a scenario and a seed to a world.
#include <algorithm>
#include <cmath>
#include <map>

#include "simulator/application_source.h"
#include "simulator/pod_trace_source.h"
#include "simulator/scenario.h"
#include "simulator/usage_source.h"

namespace evenkeel::simulator {
namespace {

constexpr auto kMemory = static_cast<std::size_t>(Dimension::memory);

std::string numbered(const std::string& name, std::int64_t number) {
  const std::size_t at = name.find("%d");
  if (at == std::string::npos) return name + "-" + std::to_string(number);
  return name.substr(0, at) + std::to_string(number) + name.substr(at + 2);
}

void add_nodes(const Scenario& scenario, WorldPlan& plan) {
  for (const NodeGroup& group : scenario.nodes)
    for (std::int64_t i = 0; i < group.count; ++i) {
      NodePlan& node = plan.nodes.emplace_back(NodePlan{group.node, group.base, Time{} + group.joins});
      node.node.name = group.count == 1 ? group.name : numbered(group.name, i + 1);
      node.node.labels.set("kubernetes.io/hostname", node.node.name);
    }
}

// The app of each pod, in order of arrival.
std::vector<std::size_t> draw_apps(const Scenario& scenario, Random random) {
  std::vector<std::size_t> block, order;
  for (std::size_t app = 0; app < scenario.apps.size(); ++app)
    block.insert(block.end(), static_cast<std::size_t>(scenario.apps[app].weight), app);
  const auto pods = static_cast<std::size_t>(scenario.arrivals.pods);
  while (order.size() < pods) {
    switch (scenario.mix) {
      case Mix::random:
        order.push_back(block[random.below(block.size())]);
        break;
      case Mix::blocks:
        random.shuffle(block);
        order.insert(order.end(), block.begin(), block.end());
        break;
      case Mix::each:
        order.insert(order.end(), block.begin(), block.end());
        break;
    }
  }
  order.resize(pods);
  if (scenario.mix == Mix::each) random.shuffle(order);
  return order;
}

std::vector<Time> draw_arrivals(const Arrivals& arrivals, Random random) {
  std::vector<Time> times;
  const auto pods = static_cast<std::size_t>(arrivals.pods);
  const double every = to_seconds(arrivals.every);
  double at = 0;
  for (std::size_t i = 0; i < pods; ++i) {
    switch (arrivals.pattern) {
      case Arrivals::Pattern::regular:
        at = every * static_cast<double>(i);
        break;
      case Arrivals::Pattern::normal:
        if (i > 0) at += std::max(0.0, random.normal(every, to_seconds(arrivals.deviation)));
        break;
      case Arrivals::Pattern::poisson:
        if (i > 0) at += random.exponential(every);
        break;
      case Arrivals::Pattern::at_once:
        break;
      case Arrivals::Pattern::within:
        at = random.uniform() * to_seconds(arrivals.within);
        break;
    }
    times.push_back(Time{} + from_seconds(at));
  }
  std::sort(times.begin(), times.end());
  return times;
}

std::int64_t milli(double cores) { return std::llround(cores * 1000); }

struct Shapes {
  std::map<std::pair<std::size_t, std::pair<std::int64_t, std::int64_t>>, std::shared_ptr<const PodTemplate>>
      made;

  // Pods of one app that ask for the same share a template, as a ReplicaSet's do.
  std::shared_ptr<const PodTemplate> get(const App& app, std::size_t index, std::int64_t request,
                                         std::int64_t limit) {
    auto& shape = made[{index, {request, limit}}];
    if (shape) return shape;
    Container container;
    container.name = app.name;
    container.image = app.image;
    container.requests.cpu = {request};
    container.requests.memory = app.memory_request;
    for (const ExtendedResource& extended : app.extended)
      container.requests.set_extended(extended.name, extended.count);
    container.limits.cpu = {limit};
    container.limits.memory = app.memory_limit;
    PodSpec spec;
    spec.containers.push_back(std::move(container));
    spec.priority = app.priority;
    spec.node_selector = app.node_selector;
    spec.tolerations = app.tolerations;
    std::vector<OwnerReference> owners;
    if (!app.owner.empty()) owners.push_back({"ReplicaSet", app.owner, {}, true});
    shape = std::make_shared<PodTemplate>("default", app.labels, std::move(owners),
                                          WorkloadId{static_cast<std::uint32_t>(index)}, std::move(spec));
    return shape;
  }
};

std::shared_ptr<const Behaviour> behaviour_of(const App& app, double cpu_allowed, double scale,
                                              Random& random) {
  auto behaviour = std::make_shared<Behaviour>();
  behaviour->kind = app.kind;
  const double factor = app.reference_cpu ? cpu_allowed / *app.reference_cpu : 1;
  const double noise = app.noise > 0 ? std::exp(app.noise * random.normal() - app.noise * app.noise / 2) : 1;
  for (const AppPhase& phase : app.phases) {
    DemandPhase made{phase.seconds.draw(random) * scale * noise, phase.demand * factor};
    made.demand.of[kMemory] = phase.demand.of[kMemory];  // a slower pod is no smaller
    if (app.kind == Behaviour::Kind::fixed_work) made.seconds /= factor;
    behaviour->phases.push_back(made);
  }
  return behaviour;
}

void add_pods(const Scenario& scenario, const Random& root, WorldPlan& plan) {
  for (const App& app : scenario.apps) plan.workloads.push_back(app.name);
  const std::vector<std::size_t> apps = draw_apps(scenario, root.fork("apps"));
  const std::vector<Time> arrivals = draw_arrivals(scenario.arrivals, root.fork("arrivals"));
  Random random = root.fork("pods");
  Shapes shapes;
  plan.pods.reserve(apps.size());
  for (std::size_t i = 0; i < apps.size(); ++i) {
    const App& app = scenario.apps[apps[i]];
    const double limit = app.cpu_limit ? app.cpu_limit->draw(random) : 0;
    const bool one_draw = app.cpu_request && app.cpu_limit && app.cpu_request->high > app.cpu_request->low &&
                          app.cpu_limit->high > app.cpu_limit->low;
    const double request = one_draw ? limit : app.cpu_request ? app.cpu_request->draw(random) : 0;
    const double allowed = milli(limit) > 0 ? static_cast<double>(milli(limit)) / 1000 : request;
    plan.pods.push_back({arrivals[i], app.name + "-" + std::to_string(i),
                         shapes.get(app, apps[i], milli(request), milli(limit)),
                         behaviour_of(app, allowed, scenario.seconds_scale, random), app.image_size});
  }
}

void add_faults(const Scenario& scenario, Random random, WorldPlan& plan) {
  plan.faults = scenario.planned_faults;
  const auto draw = [&](double per_hour, NodeFault::Kind kind) {
    if (per_hour <= 0 || plan.nodes.empty()) return;
    const Time until = scenario.end        ? Time{} + *scenario.end
                       : plan.pods.empty() ? Time{}
                                           : plan.pods.back().arrival;
    for (Time at = Time{} + from_seconds(random.exponential(3600 / per_hour)); at < until;
         at += from_seconds(random.exponential(3600 / per_hour))) {
      const NodeId node{static_cast<std::uint32_t>(random.below(plan.nodes.size()))};
      plan.faults.push_back({at, node, kind});
      plan.faults.push_back({at + scenario.faults.back_after, node, NodeFault::Kind::rejoins});
    }
  };
  draw(scenario.faults.crashes_per_hour, NodeFault::Kind::crashes);
  draw(scenario.faults.leaves_per_hour, NodeFault::Kind::leaves);
}

}  // namespace

WorldPlan expand(const Scenario& scenario, std::uint64_t seed) {
  const Random root(seed);
  WorldPlan plan;
  plan.name = scenario.name;
  plan.source = scenario.source;
  plan.metrics = scenario.metrics;
  plan.binding = scenario.binding;
  plan.kubelet = scenario.kubelet;
  const Duration start = scenario.usage ? scenario.usage->arrivals() : Duration{};
  plan.measure_from = Time{} + scenario.measure_from.value_or(start);
  if (scenario.measure_to) plan.measure_to = Time{} + *scenario.measure_to;
  plan.measure_to_last_arrival = scenario.measure_to_last_arrival;
  if (scenario.end) plan.end = Time{} + *scenario.end;
  if (!scenario.applications || !scenario.applications->makes_nodes()) add_nodes(scenario, plan);
  if (!scenario.apps.empty()) add_pods(scenario, root, plan);
  if (scenario.usage) scenario.usage->add_to(plan, scenario.nodes_count, seed);
  if (scenario.pods) scenario.pods->add_to(plan, seed);
  if (scenario.applications && !scenario.nodes.empty())
    scenario.applications->add_to(plan, {scenario.nodes.front().node, scenario.nodes.front().base, Time{}},
                                  seed);
  add_faults(scenario, root.fork("faults"), plan);
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i) plan.nodes[i].node.id = {i};
  return plan;
}

}  // namespace evenkeel::simulator
