// VolumeRestrictions: disks that only one pod on a node may write to, and claims that only one pod
// in the cluster may use.
#include <algorithm>

#include "scheduling/filters/prepared.h"
#include "scheduling/filters/volume_claims.h"

namespace evenkeel::scheduling {
namespace {

constexpr const char* kDisk = "node(s) had no available disk";
constexpr const char* kOncePerPod =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
    "another pod";

bool is_exclusive_disk(const PodVolume& volume) {
  return volume.kind == VolumeKind::gce_disk || volume.kind == VolumeKind::aws_disk ||
         volume.kind == VolumeKind::iscsi || volume.kind == VolumeKind::rbd;
}

bool clash(const PodVolume& a, const PodVolume& b) {
  if (a.kind != b.kind || a.source != b.source) return false;
  const bool both_read = a.read_only && b.read_only;
  switch (a.kind) {
    case VolumeKind::aws_disk:
      return true;
    case VolumeKind::gce_disk:
    case VolumeKind::iscsi:
      return !both_read;
    case VolumeKind::rbd:
      return !both_read && a.pool == b.pool &&
             std::any_of(a.monitors.begin(), a.monitors.end(), [&](const std::string& monitor) {
               return std::find(b.monitors.begin(), b.monitors.end(), monitor) != b.monitors.end();
             });
    default:
      return false;
  }
}

bool has_exclusive_disks(const PodSpec& spec) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(), is_exclusive_disk);
}

bool disk_taken(const FilterInput& input, NodeId node) {
  if (!has_exclusive_disks(input.pod.spec())) return false;
  const auto pods = input.cluster.pods_on(node);
  return std::any_of(pods.begin(), pods.end(), [&](PodId id) {
    const PodRecord& record = *input.cluster.pod(id);
    if (record.hidden) return false;
    for (const PodVolume& theirs : record.pod.spec().volumes)
      for (const PodVolume& ours : input.pod.spec().volumes)
        if (clash(ours, theirs)) return true;
    return false;
  });
}

bool matters(const FilterInput& input) {
  return !input.pod.shape->plain && (uses_claims(input.pod.spec()) || has_exclusive_disks(input.pod.spec()));
}

std::optional<Refusal> refuse(const FilterInput& input) {
  for (const PodVolume& volume : input.pod.spec().volumes)
    if (volume.kind == VolumeKind::claim &&
        !input.cluster.objects().claim(input.pod.shape->name_space, volume.source))
      return Refusal{"VolumeRestrictions", "persistentvolumeclaim \"" + volume.source + "\" not found"};
  return std::nullopt;
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  if (disk_taken(input, node)) return {{kDisk}, false};
  if (prepared(input).once(input).conflicts() > 0) return {{kOncePerPod}, false};
  return {};
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  const bool in_use = prepared(input).once(input).conflicts() > 0;
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && (in_use || disk_taken(input, {slot}))) feasible[slot] = 0;
}

}  // namespace

OncePerPodState::OncePerPodState(const FilterInput& input) {
  const std::string& home = input.pod.shape->name_space;
  for (const PodVolume& volume : input.pod.spec().volumes) {
    if (volume.kind != VolumeKind::claim) continue;
    const PersistentVolumeClaim* claim = input.cluster.objects().claim(home, volume.source);
    if (!claim || std::find(claim->access_modes.begin(), claim->access_modes.end(), "ReadWriteOncePod") ==
                      claim->access_modes.end())
      continue;
    claims_.insert(claim->name);
  }
  for (const std::string& name : claims_)
    if (input.cluster.pods_using_claim(home, name) > 0) ++conflicts_;
  skipped_ = conflicts_ == 0 && !has_exclusive_disks(input.pod.spec());
}

void OncePerPodState::add(const Pod& other, int times) {
  if (skipped_) return;
  for (const PodVolume& volume : other.spec().volumes)
    if (volume.kind == VolumeKind::claim && claims_.contains(volume.source)) conflicts_ += times;
}

const Filter kVolumeRestrictions = {"VolumeRestrictions", matters, apply, judge_node, refuse};

}  // namespace evenkeel::scheduling
