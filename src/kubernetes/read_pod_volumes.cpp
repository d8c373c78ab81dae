#include "kubernetes/read_common.h"
#include "kubernetes/read_pod_parts.h"
#include "kubernetes/read_volumes.h"

namespace evenkeel::kubernetes {

VolumeSource read_disk_source(const JsonField& volume) {
  struct Known {
    std::string_view key;
    VolumeKind kind;
    std::string_view name;
  };
  static constexpr Known kDisks[] = {
      {"gcePersistentDisk", VolumeKind::gce_disk, "pdName"},
      {"awsElasticBlockStore", VolumeKind::aws_disk, "volumeID"},
      {"iscsi", VolumeKind::iscsi, "iqn"},
      {"rbd", VolumeKind::rbd, "image"},
      {"azureDisk", VolumeKind::azure_disk, "diskURI"},
      {"azureFile", VolumeKind::azure_file, "shareName"},
      {"cinder", VolumeKind::cinder, "volumeID"},
      {"vsphereVolume", VolumeKind::vsphere, "volumePath"},
      {"portworxVolume", VolumeKind::portworx, "volumeID"},
  };
  for (const Known& known : kDisks)
    if (const JsonField field = volume.at(known.key)) return {known.kind, field.text_at(known.name), field};
  return {VolumeKind::other, "", volume};
}

void read_volumes(const JsonField& volumes, const std::string& pod, PodSpec& into) {
  for (const JsonField& field : few_items(volumes)) {
    PodVolume volume;
    volume.name = field.text_at("name");
    if (const JsonField claim = field.at("persistentVolumeClaim")) {
      volume.kind = VolumeKind::claim;
      volume.source = claim.required_text_at("claimName");
      volume.read_only = claim.flag_at("readOnly");
    } else if (field.has("ephemeral")) {
      volume.kind = VolumeKind::ephemeral;
      volume.source = pod + "-" + volume.name;
    } else if (const JsonField image = field.at("image")) {
      volume.kind = VolumeKind::image;
      volume.source = image.text_at("reference");
    } else {
      const VolumeSource disk = read_disk_source(field);
      volume.kind = disk.kind;
      volume.source = disk.source;
      if (disk.kind != VolumeKind::other) volume.read_only = disk.field.flag_at("readOnly");
      if (disk.kind == VolumeKind::rbd) {
        volume.pool = disk.field.text_at("pool");
        if (volume.pool.empty()) volume.pool = "rbd";
        volume.monitors = disk.field.texts_at("monitors");
      }
    }
    into.volumes.push_back(std::move(volume));
  }
}

}  // namespace evenkeel::kubernetes
