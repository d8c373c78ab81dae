#pragma once
#include "cluster/app_group.h"
#include "cluster/network_facts.h"
#include "controllers/network_book.h"

namespace evenkeel::controllers {

// What there is to say of a group and its pods. Conditions, always the same three:
//   TopologySorted  in which way; False where it goes round in a circle, and the order is the spec's then
//   WorkloadsFound  whether every workload has pods and every pod a workload
//   Valid           whether the spec contradicts itself
AppGroupStatus status_of(const AppGroup& group, PodSpan pods);

}  // namespace evenkeel::controllers
