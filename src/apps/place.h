#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/decision_view.h"
#include "apps/live_cluster.h"
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

// Of manifests; without any, of the live cluster, whose gaps are named on standard error.
Result<LiveCluster> load_cluster(const std::vector<std::string>& files, const ClusterChoice& choice);
// --filename, --kubeconfig, --context.
void add_cluster_options(CLI::App& command, std::vector<std::string>& files, ClusterChoice& choice);

}  // namespace evenkeel::apps
