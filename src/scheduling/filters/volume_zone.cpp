// VolumeZone: the zone and region labels of bound volumes must be the node's.
#include <algorithm>
#include <array>

#include "scheduling/filters/volume_claims.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::array<std::string_view, 4> kLabels = {
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region"};

std::string_view today(std::string_view label) {
  if (label == kLabels[0]) return kLabels[2];
  if (label == kLabels[1]) return kLabels[3];
  return label;
}

// "a__b" is both; a label with an empty part is not one at all.
std::vector<std::string> zones(std::string_view value) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= value.size();) {
    const std::size_t to = std::min(value.find("__", from), value.size());
    std::string_view part = value.substr(from, to - from);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (part.empty()) return {};
    parts.emplace_back(part);
    from = to + 2;
  }
  return parts;
}

struct Demanded {
  std::string_view label;
  std::vector<std::string> values;
};

std::vector<Demanded> demands(const FilterInput& input) {
  std::vector<Demanded> all;
  for (const PodVolume& volume : input.pod.spec().volumes) {
    if (volume.kind != VolumeKind::claim) continue;
    const ObjectStore& objects = input.cluster.objects();
    const PersistentVolumeClaim* claim = objects.claim(input.pod.shape->name_space, volume.source);
    const PersistentVolume* bound = claim ? objects.volume(claim->volume) : nullptr;
    if (!bound) continue;
    for (const std::string_view label : kLabels) {
      const std::string* value = bound->labels.find(label);
      if (!value) continue;
      std::vector<std::string> values = zones(*value);
      if (!values.empty()) all.push_back({label, std::move(values)});
    }
  }
  return all;
}

bool satisfies(const std::vector<Demanded>& all, const Node& node) {
  const auto has = [&](std::string_view label) { return node.labels.find(label) != nullptr; };
  if (std::none_of(kLabels.begin(), kLabels.end(), has)) return true;  // a cluster without zones
  return std::all_of(all.begin(), all.end(), [&](const Demanded& demand) {
    const std::string* value = node.labels.find(demand.label);
    if (!value) value = node.labels.find(today(demand.label));
    return value && std::find(demand.values.begin(), demand.values.end(), *value) != demand.values.end();
  });
}

bool matters(const FilterInput& input) { return !input.pod.shape->plain && uses_claims(input.pod.spec()); }

std::optional<Refusal> refuse(const FilterInput& input) {
  const auto because = [](std::string reason) { return Refusal{"VolumeZone", std::move(reason)}; };
  const ObjectStore& objects = input.cluster.objects();
  for (const PodVolume& volume : input.pod.spec().volumes) {
    if (volume.kind != VolumeKind::claim) continue;
    if (volume.source.empty()) return because("PersistentVolumeClaim had no name");
    const PersistentVolumeClaim* claim = objects.claim(input.pod.shape->name_space, volume.source);
    if (!claim) return because("persistentvolumeclaim \"" + volume.source + "\" not found");
    if (!claim->volume.empty()) {
      if (!objects.volume(claim->volume))
        return because("persistentvolume \"" + claim->volume + "\" not found");
      continue;
    }
    const std::string storage_name = claim->storage_class.value_or("");
    if (storage_name.empty()) return because("PersistentVolumeClaim had no pv name and storageClass name");
    const StorageClass* storage = objects.storage_class(storage_name);
    if (!storage) return because("storageclass.storage.k8s.io \"" + storage_name + "\" not found");
    if (!storage->mode) return because("VolumeBindingMode not set for StorageClass \"" + storage_name + "\"");
    if (*storage->mode != BindingMode::wait_for_first_consumer)
      return because("PersistentVolume had no name");
  }
  return std::nullopt;
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  const std::vector<Demanded> all = demands(input);
  if (all.empty()) return;
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && !satisfies(all, input.cluster.node({slot}))) feasible[slot] = 0;
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  const std::vector<Demanded> all = demands(input);
  if (all.empty() || satisfies(all, input.cluster.node(node))) return {};
  return {{"node(s) had no available volume zone"}, true};
}

}  // namespace

const Filter kVolumeZone = {"VolumeZone", matters, apply, judge_node, refuse};

}  // namespace evenkeel::scheduling
