#pragma once
#include "cluster/volumes.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

PersistentVolume read_persistent_volume(const JsonField& object);
PersistentVolumeClaim read_persistent_volume_claim(const JsonField& object);
StorageClass read_storage_class(const JsonField& object);
CsiNode read_csi_node(const JsonField& object);
CsiDriver read_csi_driver(const JsonField& object);
CsiStorageCapacity read_csi_storage_capacity(const JsonField& object);
VolumeAttachment read_volume_attachment(const JsonField& object);

}  // namespace evenkeel::kubernetes
