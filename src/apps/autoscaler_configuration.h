#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "apps/usage_setup.h"
#include "base/result.h"
#include "base/time.h"

namespace evenkeel::apps {

// What `evenkeel autoscaler` is told, by file and by flags; flags go first.
//
//   apiVersion: evenkeel.io/v1alpha1
//   kind: AutoscalerConfiguration
//   clientConnection: {kubeconfig: F, context: C, qps: 50, burst: 100}
//   leaderElection: {leaderElect: true, resourceName: evenkeel-autoscaler, resourceNamespace: kube-system,
//                    leaseDuration: 15s, renewDeadline: 10s, retryPeriod: 2s}
//   metrics:
//     prometheus: http://localhost:9090      # or service:NAMESPACE/NAME:PORT
//     prometheusCA: F
//     prometheusTokenFile: F
//     window: 1m
//     within: 5s
//     template: http-histogram
//     metricsAPI: false
//   preview: false
//   policy: evenkeel                         # instead of what the WorkloadScalers name
//   listen: 127.0.0.1:10271
//   listenTokenFile: F
//   state: DIR
//   room: scheduler                          # a scale-up is held to what fits; ignore: pods may wait for
//   nodes leaving: balance                         # a scale-down names the pods that go; any: it does not
struct AutoscalerConfiguration {
  std::string kubeconfig, context;
  double qps = 0;  // 0: as fast as the server answers
  int burst = 0;
  bool elect = false;
  std::string lease_name = "evenkeel-autoscaler", lease_namespace = "kube-system";
  Duration lease = std::chrono::seconds(15), renew_deadline = std::chrono::seconds(10),
           retry_period = std::chrono::seconds(2);
  UsageArguments metrics;  // of which those of Prometheus and the metrics API count
  Duration metrics_within = std::chrono::seconds(5);
  std::string ready_made = "http-histogram";
  bool preview = false, events = true;
  std::string policy, listen, token_file, state;
  bool asks_for_room = true, names_leavers = true;
};

// Errors name the file, the field, what was found and what was expected.
Result<AutoscalerConfiguration> read_autoscaler_configuration(std::string_view text, const std::string& name,
                                                              const std::vector<std::string>& overrides);

}  // namespace evenkeel::apps
