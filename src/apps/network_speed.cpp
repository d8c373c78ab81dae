#include "apps/network_speed.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "controllers/topology_order.h"
#include "scheduling/policies/registry.h"
#include "scheduling/scheduler.h"

namespace evenkeel::apps {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr const char* kWorkloads[] = {"frontend",       "cart",     "productcatalog", "currency",
                                      "payment",        "shipping", "email",          "checkout",
                                      "recommendation", "ad",       "redis"};
constexpr std::pair<int, int> kCalls[] = {{0, 1}, {0, 2}, {0, 3}, {0, 5}, {0, 7}, {0, 8}, {0, 9}, {1, 10},
                                          {7, 1}, {7, 2}, {7, 3}, {7, 4}, {7, 5}, {7, 6}, {8, 2}};
constexpr std::uint32_t kRegions = 5, kZones = 50;

double ns_since(Clock::time_point from) {
  return std::chrono::duration<double, std::nano>(Clock::now() - from).count();
}

std::string zone_name(std::uint32_t zone) { return "zone-" + std::to_string(zone); }
std::string region_name(std::uint32_t zone) { return "region-" + std::to_string(zone % kRegions); }

Node make_node(std::uint32_t slot) {
  Node node;
  node.id = {slot};
  node.name = "node-" + std::to_string(slot);
  node.capacity = {{8, 32e9, 1.25e9, 1.25e9, 5e8, 5e8}};
  node.allocatable.cpu = {8000};
  node.allocatable.memory = {32'000'000'000};
  const std::uint32_t zone = slot % kZones;
  node.labels.set("kubernetes.io/hostname", node.name);
  node.labels.set(kZoneLabel, zone_name(zone));
  node.labels.set(kRegionLabel, region_name(zone));
  return node;
}

NetworkTopology make_topology() {
  NetworkTopology topology;
  topology.name_space = "default";
  topology.name = "nt-default";
  NetworkTopology::Level regions{std::string(kRegionLabel), {}}, zones{std::string(kZoneLabel), {}};
  for (std::uint32_t a = 0; a < kRegions; ++a) {
    NetworkTopology::Origin& origin = regions.origins.emplace_back();
    origin.origin = region_name(a);
    for (std::uint32_t b = 0; b < kRegions; ++b)
      if (a != b) origin.costs.push_back({region_name(b), 20 + (a + b) % 7, {}, {}});
  }
  for (std::uint32_t a = 0; a < kZones; ++a) {
    NetworkTopology::Origin& origin = zones.origins.emplace_back();
    origin.origin = zone_name(a);
    for (std::uint32_t b = a % kRegions; b < kZones; b += kRegions)
      if (a != b) origin.costs.push_back({zone_name(b), 3 + (a + b) % 8, {}, {}});
  }
  topology.weights.push_back({"UserDefined", {std::move(regions), std::move(zones)}});
  return topology;
}

AppGroup make_group() {
  AppGroup group;
  group.name_space = "default";
  group.name = "online-boutique";
  group.members = static_cast<std::int32_t>(std::size(kWorkloads));
  group.sorting_algorithm = "KahnSort";
  for (const char* name : kWorkloads)
    group.workloads.push_back({{"Deployment", name, name, "apps/v1", "default"}, {}});
  for (const auto& [from, to] : kCalls) {
    AppDependency dependency;
    dependency.workload = group.workloads[static_cast<std::size_t>(to)].workload;
    dependency.max_network_cost = 10'000;
    dependency.limits_cost = true;
    group.workloads[static_cast<std::size_t>(from)].dependencies.push_back(std::move(dependency));
  }
  std::int32_t index = 0;
  for (const WorkloadReference& workload : controllers::sort_topology(group).workloads)
    group.order.push_back({workload.selector, ++index});
  std::sort(group.order.begin(), group.order.end(),
            [](const AppGroup::Rank& a, const AppGroup::Rank& b) { return a.selector < b.selector; });
  return group;
}

Pod make_pod(PodId id, std::size_t workload) {
  Container container;
  container.name = container.image = kWorkloads[workload];
  container.requests.cpu = {100};
  container.requests.memory = {std::int64_t{64} << 20};
  PodSpec spec;
  spec.containers.push_back(std::move(container));
  const Labels labels{{std::string(kAppGroupLabel), "online-boutique"},
                      {std::string(kAppWorkloadLabel), kWorkloads[workload]}};
  auto shape =
      std::make_shared<const PodTemplate>("default", labels, std::vector<OwnerReference>{},
                                          WorkloadId{static_cast<std::uint32_t>(workload)}, std::move(spec));
  return {id, std::string(kWorkloads[workload]) + "-" + std::to_string(id.slot), std::move(shape), Time{},
          PodPhase::pending};
}

void introduce(scheduling::Scheduler& scheduler, std::size_t nodes, Time now) {
  for (std::uint32_t i = 0; i < nodes; ++i) scheduler.observe(NodeAdded{make_node(i)}, now);
  scheduler.observe(ObjectSet{make_topology()}, now);
  scheduler.observe(ObjectSet{make_group()}, now);
}

}  // namespace

Result<DecisionTime> time_decisions(const std::string& policy, std::size_t nodes, std::size_t decisions) {
  Result<scheduling::PolicySetup> setup = scheduling::set_up_policy(policy, {});
  if (!setup) return setup.error();
  scheduling::Scheduler scheduler(setup->options);
  Time now = Time{} + 1h;
  introduce(scheduler, nodes, now);
  Random random(7);
  std::vector<PodId> placed;
  for (std::uint32_t w = 0; w < std::size(kWorkloads); ++w) {
    const Pod pod = make_pod({w, 1}, w);
    scheduler.observe(PodFound{pod, {static_cast<std::uint32_t>(random.below(nodes))}}, now);
    placed.push_back(pod.id);
  }
  std::vector<double> times;
  for (std::size_t i = 0; i < decisions; ++i) {
    // One of them goes and comes again.
    const std::size_t workload = random.below(placed.size());
    scheduler.observe(PodGone{placed[workload], PodEnd::deleted}, now);
    now += 1s;
    const Pod pod = make_pod({placed[workload].slot, placed[workload].generation + 1}, workload);
    scheduler.observe(PodAdded{pod}, now);
    const auto from = Clock::now();
    scheduling::Next next = scheduler.next(now);
    const auto* request = std::get_if<scheduling::PlacementRequest>(&next);
    if (!request) return invalid("policy '" + policy + "' asked nothing about a pod that fits everywhere");
    const std::optional<NodeId> node = setup->policy->choose(*request, random);
    times.push_back(ns_since(from) / 1e6);
    if (!node) return invalid("policy '" + policy + "' has no node for a pod that fits everywhere");
    scheduler.commit(*request, *node);
    scheduler.observe(PodBound{pod.id, *node}, now);
    placed[workload] = pod.id;
  }
  std::sort(times.begin(), times.end());
  return DecisionTime{times[times.size() / 2], times[times.size() * 99 / 100], times.size()};
}

Result<QueueTime> time_queue(const std::string& policy, std::size_t pods) {
  Result<scheduling::PolicySetup> setup = scheduling::set_up_policy(policy, {});
  if (!setup) return setup.error();
  scheduling::Scheduler scheduler(setup->options);
  const Time now = Time{} + 1h;
  introduce(scheduler, 1, now);
  std::vector<Pod> waiting;
  for (std::uint32_t i = 0; i < pods; ++i) waiting.push_back(make_pod({i, 1}, i % std::size(kWorkloads)));
  Random(7).shuffle(waiting);
  QueueTime time;
  auto from = Clock::now();
  for (const Pod& pod : waiting) scheduler.observe(PodAdded{pod}, now);
  time.push_ns = ns_since(from) / static_cast<double>(pods);
  from = Clock::now();
  static_cast<void>(scheduler.next(now));
  time.first_ns = ns_since(from);
  return time;
}

}  // namespace evenkeel::apps
