#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/scaler.h"
#include "kubernetes/json_field.h"
#include "kubernetes/resource_type.h"

namespace evenkeel::kubernetes {

namespace types {
ResourceType workload_scalers();
ResourceType horizontal_pod_autoscalers();
}  // namespace types

// Where a workload's measurements come from: PromQL, ready-made or its owner's. In queries, $namespace,
// $workload, $pods and $percentile are filled in.
struct ServiceSources {
  std::string ready_made;  // istio, http-histogram, cadvisor; empty: whoever asks decides
  std::string metric = "http_request_duration_seconds";  // of http-histogram
  std::string labels;                                    // further matchers of the template's series
  std::string request_rate, response_time, in_flight;    // what is given goes before the template's
  std::string measured;                                  // when, in Unix seconds
  std::map<std::string, std::string> metrics;            // for entries of ScalerSpec::metrics, by name
  bool operator==(const ServiceSources&) const = default;
};

// A WorkloadScaler (evenkeel.io/v1alpha1) as the API has it.
struct WorkloadScaler {
  std::string uid;
  std::int64_t generation = 0;
  Time created{};
  ScalerSpec spec;
  ServiceSources sources;

  std::string key() const { return spec.name_space + "/" + spec.name; }
};

// The whole object. Errors name the object and the first field that is unknown or wrong.
Result<WorkloadScaler> read_workload_scaler(std::string_view json);

}  // namespace evenkeel::kubernetes
