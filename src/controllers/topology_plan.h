#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/network_topology.h"
#include "controllers/constrained_links.h"
#include "controllers/network_book.h"

namespace evenkeel::controllers {

struct TopologyQuestion {
  const NetworkTopology& topology;
  const Places& nodes;
  const LinkLoads& loads;
  const std::map<std::string, std::string>* measurements = nullptr;  // the ConfigMap's data
  std::string why_no_measurements;                                   // where there are none
  int percentile = 90;
};

// What a topology should say. Conditions, always the same three:
//   CostsMeasured         whether NetperfCosts come from measurements, and of how many links
//   BandwidthConstrained  True where more is promised on a link than it carries
//   Valid                 whether what people wrote contradicts itself or the nodes
struct TopologyPlan {
  // None: there is nothing to work it out from, and what there is stays.
  std::optional<NetworkTopology::Weights> measured;
  std::vector<ConstrainedLink> constrained;
  std::vector<NetworkCondition> conditions;
};
TopologyPlan plan_topology(const TopologyQuestion& question);

}  // namespace evenkeel::controllers
