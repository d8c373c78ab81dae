#pragma once
#include <optional>
#include <string>
#include <vector>

#include "apps/decision_view.h"
#include "kubernetes/scheduler_configuration.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {

struct PlaceOptions {
  std::string policy;  // empty: the configuration's profile, or kube-default
  std::optional<kubernetes::SchedulerConfiguration> configuration;
  bool independent = false;  // every pod on the same snapshot
  scheduling::Ties ties = scheduling::Ties::by_name;
  std::uint64_t seed = 1;
};

// Who decides about pods that ask for a scheduler of that name: the profile called so, or the first.
Result<scheduling::PolicySetup> set_up(const PlaceOptions& options, const std::string& scheduler_name);
Status read_configuration(const std::string& file, PlaceOptions& options);

// Every waiting pod, highest priority first and then as the file has them; placed pods take their room.
Result<std::vector<PlacedPod>> place_all(OfflineCluster& cluster, const PlaceOptions& options);

Result<OfflineCluster> load_cluster(const std::vector<std::string>& files);

}  // namespace evenkeel::apps
