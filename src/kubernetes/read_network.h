// Diktyo's two kinds. NetworkTopologies are understood in the spelling of upstream's CRD and in that of its
// examples and proposal, which differ; one object may not mix them in one place.
#pragma once
#include "cluster/app_group.h"
#include "cluster/network_topology.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

AppGroup read_app_group(const JsonField& object);
NetworkTopology read_network_topology(const JsonField& object);

}  // namespace evenkeel::kubernetes
