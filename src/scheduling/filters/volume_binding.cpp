// VolumeBinding: bound claims must be usable on the node; claims that wait for their first consumer
// must find a volume there, or a class that would make one.
#include <algorithm>
#include <set>

#include "base/result.h"
#include "base/sort_stably.h"
#include "scheduling/filters/volume_claims.h"

namespace evenkeel::scheduling {
namespace {

constexpr const char* kNoProvisioner = "kubernetes.io/no-provisioner";

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

bool usable_on(const PersistentVolume& volume, const Node& node) {
  if (!volume.node_affinity) return true;
  Node only_labels;  // a volume's affinity never sees the node's name
  only_labels.labels = node.labels;
  return any_term_matches(*volume.node_affinity, only_labels);
}

bool is_for(const ClaimReference& reference, const PersistentVolumeClaim& claim) {
  return reference.name_space == claim.name_space && reference.name == claim.name &&
         (reference.uid.empty() || reference.uid == claim.uid);
}

bool has_modes(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return std::all_of(claim.access_modes.begin(), claim.access_modes.end(), [&](const std::string& mode) {
    return std::find(volume.access_modes.begin(), volume.access_modes.end(), mode) !=
           volume.access_modes.end();
  });
}

// The smallest volume that will do, or the one that was meant for this claim from the start.
const PersistentVolume* find_volume(const ObjectStore& objects, const PersistentVolumeClaim& claim,
                                    const Node& node, const std::set<std::string>& chosen) {
  const std::string wanted = claim.storage_class.value_or("");
  const PersistentVolume* smallest = nullptr;
  for (const auto& [name, volume] : objects.volumes()) {
    if (volume.storage_class != wanted || chosen.contains(name)) continue;
    const ClaimReference* claimed = objects.claimed_by(volume);
    if (claimed && !is_for(*claimed, claim)) continue;
    if (volume.capacity < claim.requested || volume.block != claim.block || volume.deleting) continue;
    if (claim.attributes_class.value_or("") != volume.attributes_class.value_or("")) continue;
    const bool usable = usable_on(volume, node);
    if (claimed) return usable ? &volume : nullptr;
    if (volume.phase != VolumePhase::available || !usable || !has_modes(volume, claim)) continue;
    if (claim.selector && !matches(*claim.selector, volume.labels)) continue;
    if (!smallest || volume.capacity < smallest->capacity) smallest = &volume;
  }
  return smallest;
}

bool in_allowed_topology(const StorageClass& storage, const Node& node) {
  if (storage.allowed_topologies.empty()) return true;
  return std::any_of(storage.allowed_topologies.begin(), storage.allowed_topologies.end(),
                     [&](const StorageClass::TopologyTerm& term) {
                       if (term.empty()) return false;
                       return std::all_of(term.begin(), term.end(), [&](const auto& label) {
                         const std::string* value = node.labels.find(label.key);
                         return value && std::find(label.values.begin(), label.values.end(), *value) !=
                                             label.values.end();
                       });
                     });
}

bool has_capacity(const ObjectStore& objects, const StorageClass& storage, const PersistentVolumeClaim& claim,
                  const Node& node) {
  const CsiDriver* driver = objects.csi_driver(storage.provisioner);
  if (claim.requested.count == 0 || !driver || !driver->tracks_capacity) return true;
  return std::any_of(objects.capacities().begin(), objects.capacities().end(), [&](const auto& entry) {
    const CsiStorageCapacity& capacity = entry.second;
    const auto limit = capacity.largest_volume ? capacity.largest_volume : capacity.capacity;
    return capacity.storage_class == storage.name && limit && *limit >= claim.requested && capacity.nodes &&
           matches(*capacity.nodes, node.labels);
  });
}

struct Claims {
  std::vector<const PersistentVolumeClaim*> bound, waiting;
};

// Both PreFilters that look at claims have passed, so they are all there.
Claims claims_of(const FilterInput& input) {
  Claims claims;
  for (const PodVolume& volume : input.pod.spec().volumes) {
    const std::string name = claim_name(input.pod, volume);
    if (name.empty()) continue;
    const PersistentVolumeClaim* claim = input.cluster.objects().claim(input.pod.shape->name_space, name);
    if (!claim) continue;
    const bool bound = !claim->volume.empty() && claim->bind_completed;
    (bound ? claims.bound : claims.waiting).push_back(claim);
  }
  return claims;
}

// Whether the claim is bound by whoever schedules its first pod.
Result<bool> waits_for_consumer(const ObjectStore& objects, const PersistentVolumeClaim& claim) {
  const StorageClass* storage = objects.storage_class(claim.storage_class.value_or(""));
  if (!storage) return false;
  if (!storage->mode) return invalid("VolumeBindingMode not set for StorageClass " + quoted(storage->name));
  return *storage->mode == BindingMode::wait_for_first_consumer && claim.volume.empty();
}

}  // namespace

VolumePlan plan_volumes(const FilterInput& input, NodeId id) {
  const ObjectStore& objects = input.cluster.objects();
  const Node& node = input.cluster.node(id);
  const Claims claims = claims_of(input);
  bool bound_usable = true, bound_found = true, waiting_served = true, room_enough = true;
  for (const PersistentVolumeClaim* claim : claims.bound) {
    const PersistentVolume* volume = objects.volume(claim->volume);
    bound_found = volume != nullptr;
    bound_usable = !volume || usable_on(*volume, node);
    if (!bound_found || !bound_usable) break;
  }

  VolumePlan plan;
  std::vector<const PersistentVolumeClaim*> to_find, to_make;
  for (const PersistentVolumeClaim* claim : claims.waiting) {
    const std::string& selected = objects.selected_node(*claim);
    if (!selected.empty() && selected != node.name) waiting_served = false;
    (selected.empty() ? to_find : to_make).push_back(claim);
  }
  if (waiting_served) {
    sort_stably(to_find, [](const auto* a, const auto* b) { return a->requested < b->requested; });
    std::set<std::string> chosen;
    for (const PersistentVolumeClaim* claim : to_find) {
      const PersistentVolume* volume = find_volume(objects, *claim, node, chosen);
      if (!volume) {
        to_make.push_back(claim);
        continue;
      }
      chosen.insert(volume->name);
      plan.bindings.push_back({claim->name_space, claim->name, volume->name});
    }
    for (const PersistentVolumeClaim* claim : to_make) {
      const StorageClass* storage = objects.storage_class(claim->storage_class.value_or(""));
      if (!storage || storage->provisioner.empty() || storage->provisioner == kNoProvisioner ||
          !in_allowed_topology(*storage, node)) {
        waiting_served = false;
        break;
      }
      if (!has_capacity(objects, *storage, *claim, node)) {
        room_enough = false;
        break;
      }
      plan.bindings.push_back({claim->name_space, claim->name, ""});
    }
  }
  if (!bound_usable) plan.reasons.emplace_back("node(s) didn't match PersistentVolume's node affinity");
  if (!waiting_served) plan.reasons.emplace_back("node(s) didn't find available persistent volumes to bind");
  if (!room_enough) plan.reasons.emplace_back("node(s) did not have enough free storage");
  if (!bound_found)
    plan.reasons.emplace_back("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
  return plan;
}

namespace {

bool matters(const FilterInput& input) { return !input.pod.shape->plain && uses_claims(input.pod.spec()); }

std::optional<Refusal> refuse(const FilterInput& input) {
  const auto because = [](std::string reason) { return Refusal{"VolumeBinding", std::move(reason)}; };
  const ObjectStore& objects = input.cluster.objects();
  bool immediate = false;
  for (const PodVolume& volume : input.pod.spec().volumes) {
    const std::string name = claim_name(input.pod, volume);
    if (name.empty()) continue;
    const bool ephemeral = volume.kind == VolumeKind::ephemeral;
    const PersistentVolumeClaim* claim = objects.claim(input.pod.shape->name_space, name);
    if (!claim && ephemeral)
      return because("waiting for ephemeral volume controller to create the persistentvolumeclaim " +
                     quoted(name));
    if (!claim) return because("persistentvolumeclaim " + quoted(name) + " not found");
    if (claim->phase == ClaimPhase::lost)
      return because("persistentvolumeclaim " + quoted(name) + " bound to non-existent persistentvolume " +
                     quoted(claim->volume));
    if (claim->deleting) return because("persistentvolumeclaim " + quoted(name) + " is being deleted");
    if (ephemeral && !made_for(*claim, input.pod)) return because(not_made_for(*claim, input.pod));
  }
  for (const PersistentVolumeClaim* claim : claims_of(input).waiting) {
    const Result<bool> waits = waits_for_consumer(objects, *claim);
    if (!waits) return because(waits.error().message);
    immediate = immediate || !*waits;
  }
  if (immediate) return because("pod has unbound immediate PersistentVolumeClaims");
  return std::nullopt;
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  return {plan_volumes(input, node).reasons, true};
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && !plan_volumes(input, {slot}).reasons.empty()) feasible[slot] = 0;
}

}  // namespace

const Filter kVolumeBinding = {"VolumeBinding", matters, apply, judge_node, refuse};

}  // namespace evenkeel::scheduling
