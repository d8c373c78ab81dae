// AppGroups and NetworkTopologies as the server has them, and the patches that make them say what they
// should. Fields that we know nothing of stay as they are.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/app_group.h"
#include "cluster/network_facts.h"
#include "cluster/network_topology.h"

namespace evenkeel::kubernetes {

// A NetworkTopology under the names of upstream's CRD, whatever its author called the fields.
struct NamedTopology {
  NetworkTopology topology;
  std::vector<std::string> renamed;  // "configMapName is configmapName": for people; empty: nothing was
};
Result<NamedTopology> read_topology_document(std::string_view json);
Result<AppGroup> read_group_document(std::string_view json);
// The data of a ConfigMap.
Result<std::map<std::string, std::string>> read_config_map_data(std::string_view json);

// What a NetworkTopology should say. Costs that others gave keep theirs, except for what is allocated.
struct TopologyContent {
  const NetworkTopology::Weights* measured = nullptr;  // none: what was measured before stays
  const LinkLoads* loads = nullptr;
  std::int64_t nodes = 0;
  std::vector<NetworkCondition> conditions;
  bool is_recalculated = false;  // the time of the calculation is told even where nothing else is new
};

// Bodies of merge patches, bound to the version that was looked at: 409 where somebody was quicker. Nothing
// where the object says so already.
Result<std::optional<std::string>> topology_patch(std::string_view json, const TopologyContent& content,
                                                  Time now);
Result<std::optional<std::string>> group_patch(std::string_view json, const AppGroupStatus& status, Time now);
// Of an object that cannot be understood: says so, and leaves everything else as it is.
Result<std::optional<std::string>> trouble_patch(std::string_view json, const std::string& trouble, Time now);

}  // namespace evenkeel::kubernetes
