#include "training/random_worlds.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace evenkeel::training {
namespace {

using simulator::App;
using simulator::Arrivals;
using simulator::Scenario;
using namespace std::chrono_literals;

constexpr double kGiB = 1024.0 * 1024 * 1024;

double log_between(Random& random, double low, double high) {
  return low * std::exp(random.uniform() * std::log(high / low));
}

int node_count(Random& random, int most) {
  const double kind = random.uniform();  // mostly small: there each placement shows
  const double n = kind < 0.8    ? log_between(random, 3, 9)
                   : kind < 0.97 ? log_between(random, 9, 33)
                                 : log_between(random, 33, 201);
  return std::clamp(static_cast<int>(n), 3, most);
}

void add_nodes(Random& random, int count, Scenario& scenario) {
  const auto kinds = 1 + static_cast<int>(random.below(3));
  const double disk = log_between(random, 30e6, 800e6), network = log_between(random, 1e5, 500e6);
  for (int kind = 0; kind < kinds; ++kind) {
    simulator::NodeGroup group;
    group.name = "kind" + std::to_string(kind + 1) + "-%d";
    group.count =
        kind + 1 < kinds ? std::max(1, count / kinds) : count - (kinds - 1) * std::max(1, count / kinds);
    if (group.count <= 0) continue;
    const double cores = std::exp2(1 + static_cast<double>(random.below(4)));
    const double memory = cores * random.between(0.8, 4) * kGiB;
    group.node.capacity = Usage{{cores, memory, network, network, disk, disk}};
    group.base = Usage{{cores * random.between(0.01, 0.08), memory * random.between(0.03, 0.45),
                        network * 0.005, network * 0.002, 0, disk * 0.002}};
    group.node.allocatable.cpu = {std::llround((cores - group.base.of[0]) * 1000)};
    group.node.allocatable.memory = {std::llround(memory - group.base.of[1])};
    scenario.nodes.push_back(std::move(group));
  }
}

Usage average_node(const Scenario& scenario) {
  Usage total;
  double nodes = 0;
  for (const simulator::NodeGroup& group : scenario.nodes) {
    total += group.node.capacity * static_cast<double>(group.count);
    nodes += static_cast<double>(group.count);
  }
  return total * (1 / nodes);
}

// What a pod of this kind does at its reference size, as a share of the average node.
Usage draw_demand(Random& random, const Usage& node) {
  Usage share;
  for (double& s : share.of) s = random.chance(0.5) ? random.between(0, 0.03) : 0;
  share[Dimension::cpu] = random.between(0.01, 0.06);
  share[Dimension::memory] = random.between(0.01, 0.06);
  const auto leanings = 1 + static_cast<int>(random.below(2));
  for (int i = 0; i < leanings; ++i) {
    const double much = random.between(0.08, 0.3);
    switch (random.below(4)) {
      case 0:
        share[Dimension::cpu] = much;
        break;
      case 1:
        share[Dimension::memory] = std::min(much, 0.15);
        break;
      case 2:
        share[Dimension::receive] = much;
        share[Dimension::transmit] = much * random.between(0.3, 1);
        break;
      default:
        share[Dimension::read] = much * random.between(0, 1);
        share[Dimension::write] = much;
        break;
    }
  }
  Usage demand;
  for (std::size_t d = 0; d < kDimensions; ++d) demand.of[d] = share.of[d] * node.of[d];
  return demand;
}

App draw_app(Random& random, const Usage& node, int number) {
  App app;
  app.name = "app" + std::to_string(number);
  app.image = app.name;
  app.weight = 1 + static_cast<int>(random.below(3));
  app.kind = random.chance(0.6) ? simulator::Behaviour::Kind::fixed_work
                                : simulator::Behaviour::Kind::fixed_duration;
  const double seconds = log_between(random, 40, 500);
  app.noise = random.chance(0.5) ? random.between(0, 0.5) : 0;
  const Usage demand = draw_demand(random, node);
  app.phases.push_back({{seconds, seconds * random.between(1, 1.5)}, demand});
  if (random.chance(0.3)) {  // begins with something else than what it is about
    app.phases.insert(app.phases.begin(), {{seconds * 0.2, seconds * 0.2}, draw_demand(random, node)});
  }
  // Requests that mean something, and requests that do not.
  const double wrong = random.chance(0.5) ? 1.1 : log_between(random, 0.35, 3);
  const double asked = std::max(0.01, demand.of[0] * wrong);
  if (random.chance(0.5)) {
    app.reference_cpu = asked;
    app.cpu_request = app.cpu_limit = simulator::Range{asked * 0.4, asked};
  } else {
    app.cpu_request = simulator::Range{asked, asked};
  }
  app.memory_request = {std::llround(demand.of[1])};
  return app;
}

// So many arrivals that what leans most on the cluster fills it to the level wanted.
void set_arrivals(Random& random, const Usage& node, double nodes, Scenario& scenario, RandomWorld& world) {
  Usage load;  // node-seconds per pod
  double weights = 0, life = 0;
  for (const App& app : scenario.apps) {
    const double size = app.reference_cpu ? 0.7 : 1,
                 longer =
                     app.reference_cpu && app.kind == simulator::Behaviour::Kind::fixed_work ? 1 / size : 1;
    for (const simulator::AppPhase& phase : app.phases) {
      const double seconds = (phase.seconds.low + phase.seconds.high) / 2 * longer;
      for (std::size_t d = 0; d < kDimensions; ++d)
        load.of[d] += app.weight * seconds * phase.demand.of[d] / node.of[d] * (d == 1 ? 1 : size);
      life += app.weight * seconds;
    }
    weights += app.weight;
  }
  life /= weights;
  double most = 0, asked = 0;
  for (const double l : load.of) most = std::max(most, l / weights);
  // What is requested must fit too, or waiting pods are all there is to see.
  for (const App& app : scenario.apps)
    asked += app.weight * app.cpu_request->high / node.of[0] * life / weights;
  const double level = random.between(0.2, 0.5);
  const double per_second = nodes * std::min(level / most, 0.7 / asked);
  Arrivals& arrivals = scenario.arrivals;
  arrivals.every = from_seconds(std::max(1e-3, 1 / per_second));
  switch (random.below(3)) {
    case 0:
      arrivals.pattern = Arrivals::Pattern::regular;
      break;
    case 1:
      arrivals.pattern = Arrivals::Pattern::normal;
      arrivals.deviation = arrivals.every / 3;
      break;
    default:
      arrivals.pattern = Arrivals::Pattern::poisson;
      break;
  }
  const double fill = 1.5 * life, watch = 2400;
  arrivals.pods = std::clamp<std::int64_t>(std::llround((fill + watch) * per_second), 60, 6000);
  world.learn_from = Time{} + from_seconds(fill);
  world.look = from_seconds(std::clamp(life, 150.0, 400.0));
}

void set_metrics(Random& random, Scenario& scenario) {
  scenario.metrics.every = 5s;
  if (random.chance(0.6)) return;
  scenario.metrics.every = from_seconds(log_between(random, 5, 30));
  scenario.metrics.delay = from_seconds(random.between(0, 10));
  scenario.metrics.noise = random.between(0, 0.2);
  scenario.metrics.missing = random.between(0, 0.1);
}

RandomWorld churn_world(const RandomWorldOptions& options, Random random, std::uint64_t seed) {
  RandomWorld world;
  Scenario scenario;
  scenario.name = "random";
  const int nodes = node_count(random, options.most_nodes);
  add_nodes(random, nodes, scenario);
  const Usage node = average_node(scenario);
  const auto apps = 2 + static_cast<int>(random.below(5));
  for (int i = 0; i < apps; ++i) scenario.apps.push_back(draw_app(random, node, i + 1));
  scenario.mix = random.chance(0.5) ? simulator::Mix::blocks : simulator::Mix::random;
  set_arrivals(random, node, nodes, scenario, world);
  set_metrics(random, scenario);
  scenario.kubelet.swap = true;
  world.plan = simulator::expand(scenario, seed);
  return world;
}

// A few small machines and one kind of pod for each thing a machine can run out of: what people build to try
// a scheduler on.
RandomWorld laboratory(Random random, std::uint64_t seed) {
  RandomWorld world;
  Scenario scenario;
  scenario.name = "laboratory";
  const int nodes = 3 + static_cast<int>(random.below(4));
  const double disk = log_between(random, 10e6, 100e6), network = log_between(random, 5e4, 5e5);
  for (int i = 0; i < nodes; ++i) {
    simulator::NodeGroup group;
    group.name = "node" + std::to_string(i + 1);
    const double cores = random.chance(0.7) ? 2 : random.chance(0.7) ? 4 : 1;
    const double memory = random.chance(0.7) ? 4 * kGiB : 2 * kGiB;
    group.node.capacity = Usage{{cores, memory, network, network, disk, disk}};
    group.base = Usage{{cores * random.between(0.02, 0.06), memory * random.between(0.3, 0.55),
                        network * 0.01, network * 0.002, 0, disk * 0.002}};
    group.node.allocatable.cpu = {std::llround((cores - group.base.of[0]) * 1000)};
    group.node.allocatable.memory = {std::llround(memory - group.base.of[1])};
    scenario.nodes.push_back(std::move(group));
  }
  const double reference = random.between(0.3, 0.7), smallest = random.between(0.3, 0.6);
  const std::array leanings = {Dimension::cpu, Dimension::receive, Dimension::write};
  for (std::size_t kind = 0; kind < leanings.size(); ++kind) {
    App app;
    app.name = app.image = "app" + std::to_string(kind + 1);
    app.weight = random.chance(0.6) ? 1 : 1 + static_cast<int>(random.below(5));
    const bool by_network = leanings[kind] == Dimension::receive;
    app.kind =
        by_network ? simulator::Behaviour::Kind::fixed_duration : simulator::Behaviour::Kind::fixed_work;
    app.reference_cpu = reference;
    app.cpu_request = app.cpu_limit = simulator::Range{reference * smallest, reference};
    Usage demand;
    demand[Dimension::cpu] = reference * (by_network ? random.between(0.05, 0.3) : random.between(0.7, 1));
    demand[Dimension::memory] = random.between(30e6, 150e6);
    demand[Dimension::receive] =
        network * (by_network ? random.between(0.15, 0.35) : random.between(0, 0.05));
    demand[Dimension::transmit] =
        network * (by_network ? random.between(0.15, 0.35) : random.between(0, 0.02));
    const bool by_disk = leanings[kind] == Dimension::write;
    demand[Dimension::read] = by_disk ? disk * random.between(0.1, 0.35) : 0;
    demand[Dimension::write] = disk * (by_disk ? random.between(0.15, 0.35) : random.between(0, 0.01));
    const double seconds = random.between(150, 400);
    app.phases.push_back({{seconds, seconds}, demand});
    app.memory_request = {std::llround(demand.of[1])};
    scenario.apps.push_back(std::move(app));
  }
  scenario.mix = random.chance(0.6) ? simulator::Mix::blocks : simulator::Mix::random;
  set_arrivals(random, average_node(scenario), nodes, scenario, world);
  scenario.metrics.every = 5s;
  scenario.kubelet.swap = true;
  world.plan = simulator::expand(scenario, seed);
  return world;
}

}  // namespace

RandomWorld make_scenario_world(const Experiment& experiment, std::uint64_t seed) {
  RandomWorld world;
  world.plan = simulator::expand(experiment.scenario, seed);
  world.options = experiment.options;
  world.learn_from = world.plan.measure_from;
  world.look = 5min;
  return world;
}

RandomWorld make_random_world(const RandomWorldOptions& options, std::uint64_t seed) {
  Random random = Random(seed).fork("world");
  if (random.chance(options.laboratory_share)) return laboratory(random.fork("laboratory"), seed);
  return churn_world(options, random.fork("churn"), seed);
}

}  // namespace evenkeel::training
