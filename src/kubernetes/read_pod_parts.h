// Parts of a PodSpec, by file: containers and their resources, where the pod may go, what it mounts.
#pragma once
#include "cluster/pod.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

void read_containers(const JsonField& spec, const JsonField& status, PodSpec& into);
// After the containers: what they add up to is the default of some of it.
void read_pod_level_requests(const JsonField& resources, const JsonField& status, PodSpec& into);

void read_affinity(const JsonField& affinity, PodSpec& into);
void read_node_affinity(const JsonField& affinity, PodSpec& into);  // nodeAffinity alone
void read_spread(const JsonField& constraints, PodSpec& into);
void read_tolerations(const JsonField& tolerations, PodSpec& into);

void read_volumes(const JsonField& volumes, const std::string& pod, PodSpec& into);

}  // namespace evenkeel::kubernetes
