// NodeVolumeLimits: how many volumes of a CSI driver a node can attach.
#include <algorithm>
#include <map>

#include "scheduling/filters/volume_claims.h"

namespace evenkeel::scheduling {
namespace {

// Volumes by driver and handle: one that several pods use is attached once.
using Attached = std::map<std::string, std::string>;  // "driver/handle" -> driver

std::string handle_of(VolumeKind kind, const std::string& source) {
  if (kind == VolumeKind::aws_disk) return source.substr(source.rfind('/') + 1);
  if (kind == VolumeKind::gce_disk) return "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/" + source;
  return source;
}

void add(Attached& attached, std::string_view driver, const std::string& handle) {
  if (driver.empty() || handle.empty()) return;
  attached[std::string(driver) + "/" + handle] = driver;
}

void add_claimed(const ObjectStore& objects, const PersistentVolumeClaim& claim, Attached& attached) {
  const PersistentVolume* volume = claim.volume.empty() ? nullptr : objects.volume(claim.volume);
  if (volume && volume->kind == VolumeKind::csi) return add(attached, volume->driver, volume->handle);
  if (volume) return add(attached, driver_of(volume->kind), handle_of(volume->kind, volume->handle));
  // Not made yet: its class tells whose it will be.
  const StorageClass* storage = objects.storage_class(claim.storage_class.value_or(""));
  if (!storage) return;
  const std::string_view taken_over = driver_of_provisioner(storage->provisioner);
  add(attached, taken_over.empty() ? storage->provisioner : taken_over,
      "to be made/" + claim.name_space + "/" + claim.name);
}

// Returns what is wrong with one of them, should that be so.
std::string add_volumes(const ObjectStore& objects, const Pod& pod, Attached& attached) {
  for (const PodVolume& volume : pod.spec().volumes) {
    const std::string name = claim_name(pod, volume);
    if (name.empty()) {
      add(attached, driver_of(volume.kind), handle_of(volume.kind, volume.source));
      continue;
    }
    const PersistentVolumeClaim* claim = objects.claim(pod.shape->name_space, name);
    if (!claim) continue;
    if (volume.kind == VolumeKind::ephemeral && !made_for(*claim, pod)) return not_made_for(*claim, pod);
    add_claimed(objects, *claim, attached);
  }
  return {};
}

Verdict failure(const std::string& reason) {
  return {{"running \"NodeVolumeLimits\" filter plugin: " + reason}, true, true};
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  const ObjectStore& objects = input.cluster.objects();
  const std::string& name = input.cluster.node(node).name;
  const CsiNode* csi = objects.csi_node(name);
  if (!csi || std::none_of(csi->drivers.begin(), csi->drivers.end(),
                           [](const CsiNode::Driver& driver) { return driver.limit.has_value(); }))
    return {};
  Attached wanted, attached;
  if (const std::string wrong = add_volumes(objects, input.pod, wanted); !wrong.empty())
    return failure(wrong);
  if (wanted.empty()) return {};
  for (const PodId id : input.cluster.pods_on(node)) {
    const PodRecord& record = *input.cluster.pod(id);
    if (record.hidden) continue;
    if (const std::string wrong = add_volumes(objects, record.pod, attached); !wrong.empty())
      return failure(wrong);
  }
  for (const auto& [volume, driver] : attached) wanted.erase(volume);
  std::map<std::string, std::int64_t> there, more;
  for (const auto& [other, attachment] : objects.attachments()) {
    if (attachment.node != name || attachment.attacher.empty() || !attachment.volume) continue;
    const PersistentVolume* volume = objects.volume(*attachment.volume);
    if (volume && volume->kind == VolumeKind::csi)
      attached.try_emplace(attachment.attacher + "/" + volume->handle, attachment.attacher);
  }
  for (const auto& [volume, driver] : attached) ++there[driver];
  for (const auto& [volume, driver] : wanted) ++more[driver];
  const bool exceeds =
      std::any_of(csi->drivers.begin(), csi->drivers.end(), [&](const CsiNode::Driver& driver) {
        const auto asked = more.find(driver.name);
        return driver.limit && asked != more.end() && there[driver.name] + asked->second > *driver.limit;
      });
  return exceeds ? Verdict{{"node(s) exceed max volume count"}} : Verdict{};
}

bool matters(const FilterInput& input) {
  if (input.pod.shape->plain || input.cluster.objects().csi_nodes().empty()) return false;
  const auto& volumes = input.pod.spec().volumes;
  return uses_claims(input.pod.spec()) ||
         std::any_of(volumes.begin(), volumes.end(),
                     [](const PodVolume& volume) { return !driver_of(volume.kind).empty(); });
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot) {
    if (!feasible[slot]) continue;
    const Verdict verdict = judge_node(input, {slot});
    if (verdict.failed) return std::fill(feasible.begin(), feasible.end(), std::uint8_t{0});
    if (!verdict.passes()) feasible[slot] = 0;
  }
}

}  // namespace

const Filter kNodeVolumeLimits = {"NodeVolumeLimits", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
