#include "kubernetes/read_storage.h"

#include <limits>

#include "kubernetes/read_common.h"
#include "kubernetes/read_volumes.h"

namespace evenkeel::kubernetes {
namespace {

// Objects from before storageClassName say it in an annotation, which wins where both are.
std::optional<std::string> read_class(const JsonField& object) {
  if (auto old = read_annotation(object, "volume.beta.kubernetes.io/storage-class")) return old;
  return object.at("spec").optional_text_at("storageClassName");
}

bool is_block(const JsonField& spec) {
  return spec.choice_at("volumeMode",
                        {std::pair<std::string_view, bool>{"Filesystem", false}, {"Block", true}}, false);
}

std::string or_default(const std::string& name_space) { return name_space.empty() ? "default" : name_space; }

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    if (comma > from) parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

}  // namespace

PersistentVolume read_persistent_volume(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  const JsonField spec = object.at("spec");
  PersistentVolume volume;
  volume.name = metadata.name;
  volume.uid = metadata.uid;
  volume.labels = metadata.labels;
  volume.deleting = metadata.terminating;
  volume.capacity = Bytes{spec.at("capacity").at("storage").quantity()};
  volume.access_modes = spec.texts_at("accessModes");
  volume.block = is_block(spec);
  volume.storage_class = read_class(object).value_or("");
  volume.attributes_class = spec.optional_text_at("volumeAttributesClassName");
  if (const JsonField claim = spec.at("claimRef"))
    volume.claim = ClaimReference{claim.text_at("namespace"), claim.text_at("name"), claim.text_at("uid")};
  if (const JsonField required = spec.at("nodeAffinity").at("required"))
    volume.node_affinity = read_node_selector(required);
  if (const JsonField csi = spec.at("csi")) {
    volume.kind = VolumeKind::csi;
    volume.driver = csi.text_at("driver");
    volume.handle = csi.text_at("volumeHandle");
  } else if (spec.has("local")) {
    volume.kind = VolumeKind::local;
  } else if (spec.has("hostPath")) {
    volume.kind = VolumeKind::host_path;
  } else {
    const VolumeSource disk = read_disk_source(spec);
    volume.kind = disk.kind;
    volume.handle = disk.source;
  }
  volume.phase = object.at("status").choice_at(
      "phase",
      {std::pair<std::string_view, VolumePhase>{"Pending", VolumePhase::pending},
       {"Available", VolumePhase::available},
       {"Bound", VolumePhase::bound},
       {"Released", VolumePhase::released},
       {"Failed", VolumePhase::failed}},
      VolumePhase::pending);
  return volume;
}

PersistentVolumeClaim read_persistent_volume_claim(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  const JsonField spec = object.at("spec");
  PersistentVolumeClaim claim;
  claim.name_space = or_default(metadata.name_space);
  claim.name = metadata.name;
  claim.uid = metadata.uid;
  claim.owners = metadata.owners;
  claim.deleting = metadata.terminating;
  claim.volume = spec.text_at("volumeName");
  claim.storage_class = read_class(object);
  claim.access_modes = spec.texts_at("accessModes");
  claim.requested = Bytes{spec.at("resources").at("requests").at("storage").quantity()};
  claim.selector = read_selector(spec.at("selector"));
  claim.block = is_block(spec);
  claim.attributes_class = spec.optional_text_at("volumeAttributesClassName");
  claim.phase =
      object.at("status").choice_at("phase",
                                    {std::pair<std::string_view, ClaimPhase>{"Pending", ClaimPhase::pending},
                                     {"Bound", ClaimPhase::bound},
                                     {"Lost", ClaimPhase::lost}},
                                    ClaimPhase::pending);
  claim.bind_completed = read_annotation(object, "pv.kubernetes.io/bind-completed").has_value();
  claim.selected_node = read_annotation(object, "volume.kubernetes.io/selected-node").value_or("");
  return claim;
}

StorageClass read_storage_class(const JsonField& object) {
  StorageClass storage;
  storage.name = read_metadata(object).name;
  storage.provisioner = object.text_at("provisioner");
  storage.mode =
      object.choice_at("volumeBindingMode",
                       {std::pair<std::string_view, BindingMode>{"Immediate", BindingMode::immediate},
                        {"WaitForFirstConsumer", BindingMode::wait_for_first_consumer}},
                       BindingMode::immediate);
  for (const JsonField& term : object.at("allowedTopologies").items()) {
    StorageClass::TopologyTerm& labels = storage.allowed_topologies.emplace_back();
    for (const JsonField& label : term.at("matchLabelExpressions").items())
      labels.push_back({label.required_text_at("key"), label.texts_at("values")});
  }
  return storage;
}

CsiNode read_csi_node(const JsonField& object) {
  CsiNode node;
  node.node = read_metadata(object).name;
  for (const JsonField& driver : object.at("spec").at("drivers").items())
    node.drivers.push_back(
        {driver.required_text_at("name"), driver.at("allocatable").optional_int32_at("count")});
  node.migrated_plugins =
      split_at_commas(read_annotation(object, "storage.alpha.kubernetes.io/migrated-plugins").value_or(""));
  return node;
}

CsiDriver read_csi_driver(const JsonField& object) {
  return {read_metadata(object).name, object.at("spec").flag_at("storageCapacity")};
}

CsiStorageCapacity read_csi_storage_capacity(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  CsiStorageCapacity capacity;
  capacity.name_space = or_default(metadata.name_space);
  capacity.name = metadata.name;
  capacity.storage_class = object.text_at("storageClassName");
  capacity.nodes = read_selector(object.at("nodeTopology"));
  if (const JsonField amount = object.at("capacity")) capacity.capacity = Bytes{amount.quantity()};
  if (const JsonField amount = object.at("maximumVolumeSize"))
    capacity.largest_volume = Bytes{amount.quantity()};
  return capacity;
}

VolumeAttachment read_volume_attachment(const JsonField& object) {
  const JsonField spec = object.at("spec");
  return {read_metadata(object).name, spec.text_at("attacher"), spec.text_at("nodeName"),
          spec.at("source").optional_text_at("persistentVolumeName")};
}

}  // namespace evenkeel::kubernetes
