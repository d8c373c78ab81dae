#pragma once
#include <string>
#include <vector>

#include "apps/offline_cluster.h"
#include "optimum/joined_groups.h"
#include "optimum/placement_optimum.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {

// What a policy does with the pods of the question.
struct PolicyPlan {
  std::string name;
  scheduling::GroupPlan plan;
  std::string broken{};    // a rule of the question that it breaks; empty: none
  bool elsewhere = false;  // it took nodes that the question does not look at
};

struct OptimumReport {
  const optimum::JoinedGroups& joined;
  const std::vector<std::string>& groups;  // by application
  const optimum::PlacementOptimum& best;
  const PolicyPlan& policy;
  const OfflineCluster& cluster;
  std::size_t without_group = 0;
};

// Groups that a plan places whole, of those that have pods waiting.
std::uint32_t accepted_by(const optimum::JoinedGroups& joined, const std::vector<std::uint32_t>& node_of);

std::string json_of(const OptimumReport& report);
std::string text_of(const OptimumReport& report, reporting::TextStyle style);

}  // namespace evenkeel::apps
