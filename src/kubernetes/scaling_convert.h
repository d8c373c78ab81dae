#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubernetes/workload_scaler.h"

namespace evenkeel::kubernetes {

// A HorizontalPodAutoscaler as the WorkloadScaler that means the same: policy `hpa`, mode Preview.
struct ConvertedScaler {
  WorkloadScaler scaler;
  std::vector<std::pair<std::string, std::string>> labels{};  // of the object
  bool has_namespace = false;                                 // of its own; else that of whoever applies it
  std::string metrics{}, behavior{};                          // JSON, word for word; empty: there is none
  std::vector<std::string> remarks{};  // what did not come along, and what to do about it
};

// autoscaling/v2, v2beta2 and v1. Errors name the object and the field.
Result<ConvertedScaler> read_horizontal_pod_autoscaler(std::string_view json);

// Every HorizontalPodAutoscaler of a manifest: documents, Lists, YAML or JSON. `others` is told of kinds that
// are none.
Result<std::vector<ConvertedScaler>> convert_manifest(std::string_view text, const std::string& name,
                                                      std::vector<std::string>& others);

// As YAML, its remarks as comments.
std::string write_workload_scaler(const ConvertedScaler& converted);

}  // namespace evenkeel::kubernetes
