// What a HorizontalPodAutoscaler (autoscaling/v2) and a WorkloadScaler say in the same words.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cluster/scaler.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

// `metrics`: absent gives none.
std::vector<MetricTarget> read_metric_targets(const JsonField& metrics);

// `behavior`: absent gives none. What is left out of one that is there is filled in as the API server does.
std::optional<ScalingBehaviour> read_behaviour(const JsonField& behavior);

// {apiVersion, kind, name}.
ScalerSpec::Target read_scale_target(const JsonField& reference);

// "a=b,c in (d,e),!f", as kubectl's -l has it, of a LabelSelector; empty where it is absent.
std::string selector_text(const JsonField& selector);

// Whether both mean the same kind: versions of a group are views of the same objects.
bool is_same_target(const ScalerSpec::Target& one, const ScalerSpec::Target& other);

}  // namespace evenkeel::kubernetes
