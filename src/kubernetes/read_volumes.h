#pragma once
#include <string>

#include "cluster/volumes.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

// The storage behind a volume of a pod or a PersistentVolume: the kinds whose kind matters.
struct VolumeSource {
  VolumeKind kind = VolumeKind::other;
  std::string source;
  JsonField field;  // what stands under the kind's key
};
VolumeSource read_disk_source(const JsonField& volume);

}  // namespace evenkeel::kubernetes
