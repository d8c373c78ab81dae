#pragma once
#include <string>
#include <vector>

#include "apps/decision_view.h"

namespace evenkeel::apps {

struct PlaceOptions {
  std::string policy = "kube-default";
  bool independent = false;  // every pod on the same snapshot
  scheduling::Ties ties = scheduling::Ties::by_name;
  std::uint64_t seed = 1;
};

// Every waiting pod, highest priority first and then as the file has them; placed pods take their room.
Result<std::vector<PlacedPod>> place_all(OfflineCluster& cluster, const PlaceOptions& options);

Result<OfflineCluster> load_cluster(const std::vector<std::string>& files);

}  // namespace evenkeel::apps
