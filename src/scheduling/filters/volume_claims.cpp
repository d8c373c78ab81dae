#include "scheduling/filters/volume_claims.h"

#include <algorithm>

namespace evenkeel::scheduling {

std::string claim_name(const Pod& pod, const PodVolume& volume) {
  if (volume.kind == VolumeKind::claim) return volume.source;
  if (volume.kind == VolumeKind::ephemeral) return pod.name + "-" + volume.name;
  return {};
}

bool uses_claims(const PodSpec& spec) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(), [](const PodVolume& volume) {
    return volume.kind == VolumeKind::claim || volume.kind == VolumeKind::ephemeral;
  });
}

bool made_for(const PersistentVolumeClaim& claim, const Pod& pod) {
  return std::any_of(claim.owners.begin(), claim.owners.end(),
                     [&](const OwnerReference& owner) { return owner.controller && owner.uid == pod.uid; });
}

std::string not_made_for(const PersistentVolumeClaim& claim, const Pod& pod) {
  return "PVC " + claim.name_space + "/" + claim.name + " was not created for pod " + pod.full_name() +
         " (pod is not owner)";
}

std::string_view driver_of(VolumeKind kind) {
  switch (kind) {
    case VolumeKind::aws_disk:
      return "ebs.csi.aws.com";
    case VolumeKind::gce_disk:
      return "pd.csi.storage.gke.io";
    case VolumeKind::azure_disk:
      return "disk.csi.azure.com";
    case VolumeKind::cinder:
      return "cinder.csi.openstack.org";
    case VolumeKind::portworx:
      return "pxd.portworx.com";
    default:
      return {};
  }
}

std::string_view driver_of_provisioner(std::string_view provisioner) {
  if (provisioner == "kubernetes.io/aws-ebs") return driver_of(VolumeKind::aws_disk);
  if (provisioner == "kubernetes.io/gce-pd") return driver_of(VolumeKind::gce_disk);
  if (provisioner == "kubernetes.io/azure-disk") return driver_of(VolumeKind::azure_disk);
  if (provisioner == "kubernetes.io/cinder") return driver_of(VolumeKind::cinder);
  if (provisioner == "kubernetes.io/portworx-volume") return driver_of(VolumeKind::portworx);
  return {};
}

}  // namespace evenkeel::scheduling
