#include "optimum/network_instances.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduling/group_plan.h"

namespace evenkeel::optimum {
namespace {

using scheduling::GroupPlan;
using scheduling::GroupProblem;

constexpr double kGigabit = 1000 * kMegabit;
enum Resource : std::uint8_t { kCpu, kMemory, kPods, kResources };
constexpr double kMostPods = 110;

// All zones of one region unless told otherwise, nothing between them yet.
NetworkSite zones(std::uint32_t count, const std::string& prefix) {
  NetworkSite site;
  site.region_names = {"region-1"};
  for (std::uint32_t zone = 0; zone < count; ++zone)
    site.zone_names.push_back(prefix + std::to_string(zone + 1));
  site.region.assign(count, 0);
  site.cost.assign(std::size_t{count} * count, 0);
  site.zone_capacity.assign(std::size_t{count} * count, GroupProblem::kUnlimited);
  site.region_capacity = {GroupProblem::kUnlimited};
  return site;
}

void add_nodes(NetworkSite& site, std::uint32_t zone, std::uint32_t count, NetworkSite::Node kind) {
  kind.zone = zone;
  site.nodes.insert(site.nodes.end(), count, kind);
}

constexpr NetworkSite::Node kLarge{.cpu = 2, .memory = 4, .egress = 1 * kGigabit},
    kXlarge{.cpu = 4, .memory = 8, .egress = 1 * kGigabit},
    kFogXlarge{.cpu = 4, .memory = 8, .egress = 5 * kGigabit},
    k2xlarge{.cpu = 8, .memory = 16, .egress = 10 * kGigabit},
    k4xlarge{.cpu = 16, .memory = 32, .egress = 40 * kGigabit};

NetworkSite cluster() {
  constexpr std::uint32_t kZones = 4;
  NetworkSite site = zones(kZones, "zone-");
  for (std::uint32_t a = 0; a < kZones; ++a) {
    add_nodes(site, a, 4, kXlarge);
    for (std::uint32_t b = 0; b < kZones; ++b) {
      const std::uint32_t apart = a > b ? a - b : b - a;
      site.cost[a * kZones + b] = apart == 0 ? 1 : apart == 1 ? 5 : 10;
      if (apart > 0) site.zone_capacity[a * kZones + b] = 2 * kGigabit;
    }
  }
  return site;
}

NetworkSite data_centre() {
  constexpr std::uint32_t kRacks = 8, kRacksPerPod = 2;
  NetworkSite site = zones(kRacks, "rack-");
  for (std::uint32_t a = 0; a < kRacks; ++a) {
    add_nodes(site, a, 4, kXlarge);
    for (std::uint32_t b = 0; b < kRacks; ++b) {
      const bool same_pod = a / kRacksPerPod == b / kRacksPerPod;
      site.cost[a * kRacks + b] = a == b ? 1 : same_pod ? 3 : 6;
      if (a != b) site.zone_capacity[a * kRacks + b] = (same_pod ? 4 : 2) * kGigabit;
    }
  }
  return site;
}

// A tree of sites: 0 the cloud, 1-2 the second tier, 3-6 the first, 7-14 the edges.
NetworkSite multi_region() {
  constexpr std::uint32_t kSites = 15, kSecond = 1, kFirst = 3, kEdge = 7;
  const auto parent = [](std::uint32_t at) { return at >= kFirst ? (at - 1) / 2 : at; };
  const auto climb = [](std::uint32_t at) { return at >= kEdge ? 5.0 : 10.0; };  // to the parent
  const auto region = [&](std::uint32_t at) {
    while (at >= kFirst) at = parent(at);
    return at;
  };
  NetworkSite site = zones(kSites, "site-");
  site.region_names = {"cloud", "region-1", "region-2"};
  site.region_capacity.assign(9, 5 * kGigabit);
  for (std::uint32_t a = 0; a < kSites; ++a) {
    site.region[a] = region(a);
    const auto& kind = a < kSecond ? k4xlarge : a < kFirst ? k2xlarge : a < kEdge ? kFogXlarge : kLarge;
    add_nodes(site, a, 2, kind);
    for (std::uint32_t b = 0; b < kSites; ++b) {
      double& cost = site.cost[a * kSites + b];
      if (a == b) {
        cost = 1;
      } else if (region(a) != region(b)) {
        cost = region(a) == 0 || region(b) == 0 ? 30 : 40;
      } else {
        for (std::uint32_t x = a, y = b; x != y;) {  // the deeper one climbs: it has the larger number
          std::uint32_t& deeper = x > y ? x : y;
          cost += climb(deeper);
          deeper = parent(deeper);
        }
        site.zone_capacity[a * kSites + b] = kGigabit;
      }
    }
  }
  return site;
}

GroupProblem empty_site(const NetworkSite& site) {
  GroupProblem problem;
  problem.zones = static_cast<std::uint32_t>(site.zone_names.size());
  problem.cost = site.cost;
  problem.region = site.region;
  problem.regions = static_cast<std::uint32_t>(site.region_names.size());
  for (const NetworkSite::Node& node : site.nodes)
    problem.nodes.push_back({node.zone, {node.cpu, node.memory, kMostPods}, GroupProblem::kUnlimited});
  return problem;
}

// Others' pods are as large as ours: whole cores and GiB.
void fill(GroupProblem& problem, Random& random, double most) {
  for (GroupProblem::Node& node : problem.nodes) {
    const double share = random.between(0, most);
    for (const Resource resource : {kCpu, kMemory}) {
      node.free[resource] -= std::round(node.free[resource] * share);
    }
  }
}

double most_pairs(const NetworkApplication& application) {
  std::vector<std::uint32_t> pairs(application.workloads.size());
  for (const auto& [from, to] : application.edges) pairs[from] += application.workloads[to].replicas;
  return pairs.empty() ? 1 : std::max<double>(1, *std::max_element(pairs.begin(), pairs.end()));
}

}  // namespace

NetworkSite network_site(Terrain terrain) {
  switch (terrain) {
    case Terrain::cluster:
      return cluster();
    case Terrain::data_centre:
      return data_centre();
    case Terrain::multi_region:
      return multi_region();
  }
  return {};
}

std::uint32_t NetworkApplication::pods() const {
  std::uint32_t sum = 0;
  for (const Workload& workload : workloads) sum += workload.replicas;
  return sum;
}

NetworkApplication basic_application(std::uint32_t replicas) {
  return {.name = "basic",
          .workloads = {{"P1", replicas}, {"P2", replicas}, {"P3", replicas}},
          .edges = {{0, 1}, {1, 2}},
          .bandwidth = 500 * kMegabit};
}

NetworkApplication redis_cluster(std::uint32_t replicas_per_master) {
  NetworkApplication redis{.name = "redis-cluster",
                           .workloads = {{"master-1"}, {"master-2"}, {"master-3"}},
                           .edges = {},
                           .bandwidth = 250 * kMegabit};
  for (int i = 1; i <= 3; ++i)
    redis.workloads.push_back({"replica-" + std::to_string(i), replicas_per_master});
  for (std::uint32_t a = 0; a < redis.workloads.size(); ++a)
    for (std::uint32_t b = a + 1; b < redis.workloads.size(); ++b) redis.edges.emplace_back(a, b);
  return redis;
}

NetworkApplication online_boutique(std::uint32_t replicas) {
  NetworkApplication shop{.name = "online-boutique",
                          .workloads = {},
                          .edges = {{0, 1},
                                    {0, 2},
                                    {0, 3},
                                    {0, 5},
                                    {0, 7},
                                    {0, 8},
                                    {0, 9},
                                    {1, 10},
                                    {7, 1},
                                    {7, 2},
                                    {7, 3},
                                    {7, 4},
                                    {7, 5},
                                    {7, 6},
                                    {8, 2}},
                          .bandwidth = 250 * kMegabit};
  for (const char* name : {"frontend", "cart", "product", "currency", "payment", "shipping", "email",
                           "checkout", "recommendation", "ad", "redis"})
    shop.workloads.push_back({name, replicas});
  return shop;
}

GroupProblem network_instance(const NetworkSite& site, const NetworkApplication& application,
                              const InstanceOptions& options, Random random) {
  GroupProblem problem = empty_site(site);
  if (options.background) fill(problem, random, 0.75);
  if (options.with_bandwidth) {
    problem.zone_room = site.zone_capacity;
    problem.region_room = site.region_capacity;
    for (std::size_t n = 0; n < site.nodes.size(); ++n) problem.nodes[n].egress = site.nodes[n].egress;
  }
  std::vector<std::vector<std::uint32_t>> pods_of;
  for (const NetworkApplication::Workload& workload : application.workloads) {
    pods_of.emplace_back();
    for (std::uint32_t i = 0; i < workload.replicas; ++i) {
      pods_of.back().push_back(static_cast<std::uint32_t>(problem.pods.size()));
      problem.pods.push_back(
          {.request = {application.cpu, application.memory, 1}, .allowed = {}, .bias = {}});
    }
  }
  const double bandwidth = options.with_bandwidth ? application.bandwidth / most_pairs(application) : 0;
  for (const auto& [from, to] : application.edges)
    for (const std::uint32_t a : pods_of[from])
      for (const std::uint32_t b : pods_of[to])
        problem.edges.push_back({.from = a, .to = b, .weight = 1, .bandwidth = bandwidth});
  if (options.spread != Spread::none)
    for (std::vector<std::uint32_t>& pods : pods_of)
      if (pods.size() > 1)
        problem.apart.push_back(
            {.pods = std::move(pods), .by_zone = options.spread == Spread::by_zone, .taken = {}});
  return problem;
}

GroupProblem service_mesh(std::uint32_t services, std::uint32_t nodes, Random random) {
  constexpr std::uint32_t kZones = 10, kRegions = 3;
  NetworkSite site = zones(kZones, "zone-");
  site.region_names = {"region-1", "region-2", "region-3"};
  for (std::uint32_t a = 0; a < kZones; ++a) site.region[a] = a % kRegions;
  for (std::uint32_t a = 0; a < kZones; ++a)
    for (std::uint32_t b = a; b < kZones; ++b) {
      const double cost = a == b                             ? 1
                          : site.region[a] == site.region[b] ? 2 + static_cast<double>(random.below(7))
                                                             : 20 + static_cast<double>(random.below(41));
      site.cost[a * kZones + b] = site.cost[b * kZones + a] = cost;
    }
  for (std::uint32_t n = 0; n < nodes; ++n) add_nodes(site, n % kZones, 1, kXlarge);
  GroupProblem problem = empty_site(site);
  fill(problem, random, 1.0);

  std::vector<std::uint32_t> ends{0};  // a service stands here once, and once more for every edge it has
  const auto connect = [&](std::uint32_t a, std::uint32_t b) {
    problem.edges.push_back({.from = a, .to = b, .weight = 1});
    ends.insert(ends.end(), {a, b});
  };
  const auto drawn = [&] { return ends[random.below(ends.size())]; };
  for (std::uint32_t s = 0; s < services; ++s) {
    problem.pods.push_back({.request = {1, 1, 1}, .allowed = {}, .bias = {}});
    if (s > 0) connect(drawn(), s);
  }
  for (std::uint32_t i = 0; i < services / 2; ++i) {
    const std::uint32_t a = drawn(), b = drawn();
    const bool known = std::ranges::any_of(problem.edges, [&](const GroupProblem::Edge& edge) {
      return (edge.from == a && edge.to == b) || (edge.from == b && edge.to == a);
    });
    if (a != b && !known) connect(a, b);
  }
  return problem;
}

GroupPlan diktyo_rule(const GroupProblem& problem, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> node_of(problem.pods.size(), GroupProblem::kNowhere);
  for (std::size_t p = 0; p < node_of.size(); ++p) node_of[p] = problem.pods[p].fixed;
  auto free = [&] {
    std::vector<std::vector<double>> rooms;
    for (const GroupProblem::Node& node : problem.nodes) rooms.push_back(node.free);
    return rooms;
  }();
  for (const std::uint32_t pod : order) {
    if (node_of[pod] != GroupProblem::kNowhere) continue;
    const GroupProblem::Pod& own = problem.pods[pod];
    std::uint32_t best = GroupProblem::kNowhere;
    double least = std::numeric_limits<double>::infinity(), most_free = 0;
    for (std::uint32_t n = 0; n < problem.nodes.size(); ++n) {
      if (!own.allowed.empty() && !own.allowed[n]) continue;
      if (!std::ranges::equal(own.request, free[n], std::less_equal<>{})) continue;
      double cost = 0;
      for (const GroupProblem::Edge& edge : problem.edges)
        if (edge.from == pod && node_of[edge.to] != GroupProblem::kNowhere)
          cost += edge.weight * problem.distance(n, node_of[edge.to]);
      if (cost > least || (cost == least && free[n][kCpu] <= most_free)) continue;
      node_of[pod] = n;
      if (!scheduling::broken_rule(problem, node_of).empty()) {
        node_of[pod] = GroupProblem::kNowhere;
        continue;
      }
      node_of[pod] = GroupProblem::kNowhere;
      best = n;
      least = cost;
      most_free = free[n][kCpu];
    }
    if (best == GroupProblem::kNowhere) continue;
    node_of[pod] = best;
    for (std::size_t r = 0; r < own.request.size(); ++r) free[best][r] -= own.request[r];
  }
  return scheduling::plan_of(problem, std::move(node_of));
}

}  // namespace evenkeel::optimum
