#pragma once
#include <string>
#include <vector>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {

// The claim a volume of the pod stands for; empty: it stands for none.
std::string claim_name(const Pod& pod, const PodVolume& volume);
bool uses_claims(const PodSpec& spec);
// An ephemeral volume's claim must have been made for the very pod.
bool made_for(const PersistentVolumeClaim& claim, const Pod& pod);
std::string not_made_for(const PersistentVolumeClaim& claim, const Pod& pod);

// The in-tree storage plugins that a CSI driver has taken over, where a node's CSINode says so.
// Empty: not taken over.
std::string_view driver_of(VolumeKind kind);
std::string_view driver_of_provisioner(std::string_view provisioner);  // "kubernetes.io/…"

// What is to be bound or made for the pod's claims on one node (kube-scheduler's PodVolumes).
struct VolumePlan {
  std::vector<std::string> reasons;  // why it cannot be; the rest means nothing then
  std::vector<VolumeBinding> bindings;
};
VolumePlan plan_volumes(const FilterInput& input, NodeId node);

}  // namespace evenkeel::scheduling
