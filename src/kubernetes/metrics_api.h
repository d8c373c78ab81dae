#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/node_report.h"

namespace evenkeel::kubernetes {

// metrics.k8s.io: CPU and memory of nodes and pods, as metrics-server collects them from the kubelets. It
// knows nothing of networks and disks.
inline constexpr const char* kNodeMetrics = "/apis/metrics.k8s.io/v1beta1/nodes";
inline constexpr const char* kPodMetrics = "/apis/metrics.k8s.io/v1beta1/pods";

struct PodUsageItem {
  struct Container {
    std::string name;
    Usage usage{};
  };
  NodeReport::PodPart part;  // by namespace and name: the API tells neither uid nor node
  std::vector<Container> containers{};
  Time stamp{};
  Duration window{};
};

// A NodeMetricsList or PodMetricsList. Items that cannot be read are left out and counted.
template <class Item>
struct MetricsList {
  std::vector<Item> items;
  std::size_t unreadable = 0;
};
// `measured` is by the server's clock, `over` its window.
Result<MetricsList<NodeReport>> read_node_metrics_list(std::string_view json);
Result<MetricsList<PodUsageItem>> read_pod_metrics_list(std::string_view json);

}  // namespace evenkeel::kubernetes
