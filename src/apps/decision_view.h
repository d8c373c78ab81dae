#pragma once
#include <string>
#include <vector>

#include "apps/offline_cluster.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {

struct PlacedPod {
  std::string pod, policy;
  scheduling::Decision decision;
  PodId id{};
};

// `place --json`: a promise (see the command's help). One line, without a line break.
std::string json_of(const std::vector<PlacedPod>& placed, const ClusterState& cluster);
std::string error_json(const std::string& message);
std::string yaml_of(const std::vector<PlacedPod>& placed, const ClusterState& cluster);
// One row per pod: where it goes, or why nowhere.
reporting::TextTable table_of(const std::vector<PlacedPod>& placed, const ClusterState& cluster);
// All of one decision: every candidate with its scores, every other node with what speaks against it.
std::string account_of(const PlacedPod& placed, const ClusterState& cluster, reporting::TextStyle style);

}  // namespace evenkeel::apps
