#pragma once
#include <set>
#include <string>
#include <vector>

#include "cluster/network_facts.h"
#include "cluster/network_topology.h"
#include "controllers/network_book.h"

namespace evenkeel::controllers {

inline constexpr const char* kMeasuredWeights = "NetperfCosts";  // what the controller writes

// What links can carry, as a topology says; the smallest where several of its weights do. Others carry
// anything.
std::map<LinkId, BitsPerSecond> link_capacities(const NetworkTopology& topology);

struct ConstrainedLink {
  LinkId link;
  BitsPerSecond capacity, allocated;
};
// More is promised on it than it carries: its capacity was lowered, or somebody placed pods who does not
// look.
std::vector<ConstrainedLink> constrained_links(const LinkLoads& loads,
                                               const std::map<LinkId, BitsPerSecond>& capacities);

struct LinkEviction {
  NetworkPod pod;
  std::string why;
};

// Who had better leave a link, so that what is left fits: the least important first; of equals one that alone
// is enough, or else the one that takes most away; no more than it takes, and at most `at_most`. Those that
// are leaving already count as gone. Never asked: pods that say no (MoveBar), that nobody would make again,
// of kube-system, critical to a node or the cluster, or among `spared` (by uid).
std::vector<LinkEviction> choose_evictions(const NetworkBook& book, const ConstrainedLink& link,
                                           std::size_t at_most, const std::set<std::string>& spared = {});

}  // namespace evenkeel::controllers
