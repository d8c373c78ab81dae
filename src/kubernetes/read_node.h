#pragma once
#include "cluster/node.h"
#include "kubernetes/api_objects.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

// A v1 Node, without a handle. Of allocatable the resources and `pods`; without any it is the capacity, as
// the API server has it.
Node read_node(const JsonField& object);

// A metrics.k8s.io NodeMetrics.
NodeUsageObject read_node_metrics(const JsonField& object);

}  // namespace evenkeel::kubernetes
