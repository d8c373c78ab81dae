#pragma once
#include "kubernetes/api_objects.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

// A v1 Pod, with what the API server would have filled in (requests from limits, host ports of the host's
// network, pod-level requests), so that manifests written by hand read as stored objects do.
PodObject read_pod(const JsonField& object);

}  // namespace evenkeel::kubernetes
