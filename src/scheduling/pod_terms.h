#pragma once
#include "cluster/cluster_state.h"

namespace evenkeel::scheduling {

// The pods a term of an incoming pod means, its namespaceSelector worked out; none: no pod.
std::optional<PodMatch> pods_meant_by(const PodAffinityTerm& term, const std::string& name_space,
                                      const ObjectStore& objects);

// Whether a term of a pod in `name_space` means the given pod, in a namespace with these labels.
bool term_means(const PodAffinityTerm& term, const std::string& name_space, const Pod& pod,
                const Labels& namespace_labels);

}  // namespace evenkeel::scheduling
