// The instances that network-aware placement is judged on: Diktyo's three topologies (Fig. 8), hardware
// (Table VI) and applications (Table VII) as numbers, and larger ones of our own. The paper's figure of the
// latencies is a drawing without a table, so they are stated here.
//
// Costs are in ms, one way, directed and here the same both ways. Same node 0.
//   cluster       4 zones of one region, 4 nodes each (a1.xlarge: 4 CPU, 8 GiB, 1 Gbit/s). Within a zone 1;
//   zones
//                 on a line, 5 to the next, 10 to any other. 2 Gbit/s between two zones.
//   data_centre   a fat tree of 4 pods, 2 racks each, 4 nodes a rack (a1.xlarge). Within a rack 1 (up to the
//                 switch and down), within a pod 3 (by aggregation), across pods 6 (by the core). A rack is a
//                 zone. 4 Gbit/s between racks of a pod, 2 Gbit/s across.
//   multi_region  a cloud (2 nodes of 16 CPU, 40 Gbit/s), a second fog tier (2 sites of 2 nodes, 8 CPU,
//                 10 Gbit/s), a first one (4 sites of 2 nodes, 4 CPU, 5 Gbit/s) and edges (8 sites of 2
//                 nodes, 2 CPU, 1 Gbit/s): a tree. Every second-tier site with all below it is a region, its
//                 sites are zones; the cloud is a region. Within a site 1, from the edge to its first tier 5,
//                 from there to the second tier 10; within a region along the tree. From one region to the
//                 other 40, to the cloud 30. Links within a region 1 Gbit/s, between regions 5 Gbit/s.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "scheduling/group_problem.h"

namespace evenkeel::optimum {

enum class Terrain { cluster, data_centre, multi_region };
enum class Spread { none, by_node, by_zone };  // of each workload's own replicas: eq. 9, 10

constexpr double kMegabit = 1e6;

// Nodes and the network between them.
struct NetworkSite {
  struct Node {
    std::uint32_t zone = 0;
    double cpu = 0, memory = 0;  // cores, GiB
    double egress = 0;           // bit/s
  };
  std::vector<Node> nodes;
  std::vector<std::string> zone_names, region_names;
  std::vector<std::uint32_t> region;    // of each zone
  std::vector<double> cost;             // zones x zones; the diagonal: between its nodes
  std::vector<double> zone_capacity;    // zones x zones, bit/s; of zones of different regions: unlimited
  std::vector<double> region_capacity;  // regions x regions
};
NetworkSite network_site(Terrain terrain);

// Workloads and who talks to whom. Every pod of one talks to every pod of the other (eq. 7).
struct NetworkApplication {
  struct Workload {
    std::string name;
    std::uint32_t replicas = 1;
  };
  std::string name;
  std::vector<Workload> workloads;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  // from, to: indices of workloads
  double cpu = 1, memory = 1;                                  // of each pod
  double bandwidth = 0;  // bit/s that a pod sends; shared evenly among the pairs of the one that has most
  std::uint32_t pods() const;
};
NetworkApplication basic_application(std::uint32_t replicas);         // P1 -> P2 -> P3, 1 to 5 each
NetworkApplication redis_cluster(std::uint32_t replicas_per_master);  // 3 masters, all to all
NetworkApplication online_boutique(std::uint32_t replicas);           // 11 services, 15 edges

struct InstanceOptions {
  bool background = false;      // others are there already: 0 to 3/4 of each node's CPU and memory, by draw
  bool with_bandwidth = false;  // eq. 5
  Spread spread = Spread::none;
};
scheduling::GroupProblem network_instance(const NetworkSite& site, const NetworkApplication& application,
                                          const InstanceOptions& options, Random random);

// Services that call each other (a tree by preferential attachment, and half as many edges again) on nodes of
// 4 CPU in 10 zones of 3 regions, all half full on average. No paper's.
scheduling::GroupProblem service_mesh(std::uint32_t services, std::uint32_t nodes, Random random);

// What Diktyo's rule comes to (upstream's code, FIFO in the given order of pods): each pod to the node that
// is nearest to the dependencies of its own that are placed already, ties to the emptiest, then to the first.
scheduling::GroupPlan diktyo_rule(const scheduling::GroupProblem& problem,
                                  const std::vector<std::uint32_t>& order);

}  // namespace evenkeel::optimum
