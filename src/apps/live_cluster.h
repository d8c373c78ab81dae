#pragma once
#include <string>
#include <vector>

#include "apps/offline_cluster.h"
#include "kubernetes/api_connection.h"

namespace evenkeel::apps {

// Which cluster to ask, as kubectl's flags say it.
struct ClusterChoice {
  std::string kubeconfig, context;  // empty: $KUBECONFIG, ~/.kube/config, or the pod this runs in
};

struct ListedCluster {
  std::vector<kubernetes::ApiObject> objects;
  std::vector<std::string> left_out;  // what could not be read or was not allowed to be, named
};

// Everything of a cluster that scheduling looks at, listed once. Nodes and pods must be had; without any
// other kind the answer may be less exact, and what is missing is named.
Result<ListedCluster> list_cluster(kubernetes::ApiConnection& server);

// A cluster as it is now, standing still.
struct LiveCluster {
  OfflineCluster cluster;
  std::string name_space = "default";  // of pods that are named without one
  std::vector<std::string> left_out{};
};
Result<LiveCluster> load_live_cluster(const ClusterChoice& choice);

// What a running scheduler's --listen address answers at a path. `token_file` may be empty.
Result<std::string> ask_scheduler(const std::string& url, const std::string& token_file,
                                  const std::string& path);
// What a running scheduler's /decisions says of a pod: its JSON. `token_file` may be empty.
Result<std::string> ask_decisions(const std::string& url, const std::string& token_file,
                                  const std::string& pod);

}  // namespace evenkeel::apps
