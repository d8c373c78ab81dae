#include "scheduling/queueing_hints.h"

#include <algorithm>
#include <array>

#include "base/match.h"
#include "scheduling/filters/volume_claims.h"

namespace evenkeel::scheduling {
namespace {

struct Row {
  std::string_view plugin;
  QueueingHint hint;
};

// To add a filter: its line. A filter that is not listed is asked again whatever happens.
constexpr std::array kHints = {
    Row{"NodeUnschedulable", {kNodeAdded | kNodeTaints, 0}},
    Row{"NodeName", {kNodeAdded | kNodeLabels, 0}},
    Row{"TaintToleration", {kNodeAdded | kNodeTaints, 0}},
    Row{"NodeAffinity", {kNodeAdded | kNodeLabels, 0}},
    Row{"NodePorts", {kNodeAdded | kPodLeft, 0}},
    Row{"NodeResourcesFit", {kNodeAdded | kNodeRoom | kPodLeft | kPodChanged, 0}},
    Row{"UseFit", {kNodeAdded | kNodeRoom | kNodeUse | kPodLeft, 0}},
    // A volume that one pod alone may use is free everywhere as soon as that pod is gone.
    Row{"VolumeRestrictions", {kNodeAdded, kPodLeft | kClaimSet}},
    Row{"NodeVolumeLimits",
        {kNodeAdded | kPodLeft, kClaimSet | kVolumeSet | kStorageClassSet | kCsiNodeSet | kAttachmentGone}},
    Row{"VolumeBinding",
        {kNodeAdded | kNodeLabels, kClaimSet | kVolumeSet | kStorageClassSet | kCsiNodeSet | kCsiDriverSet |
                                       kCapacitySet | kVolumeFreed}},
    Row{"VolumeZone", {kNodeAdded | kNodeLabels, kClaimSet | kVolumeSet | kStorageClassSet}},
    // Where a domain begins or ends, the fewest pods of any domain may be more than before.
    Row{"PodTopologySpread",
        {0, kNodeAdded | kNodeRemoved | kNodeLabels | kNodeTaints | kPodArrived | kPodLeft | kPodChanged |
                kControllerSet}},
    Row{"InterPodAffinity",
        {0, kNodeAdded | kNodeRemoved | kNodeLabels | kPodArrived | kPodLeft | kPodChanged | kNamespaceSet}},
    Row{"NodeDeclaredFeatures", {kNodeAdded | kNodeFeatures, 0}},
};

bool grew(const Resources& before, const Resources& after) {
  if (after.cpu > before.cpu || after.memory > before.memory ||
      after.ephemeral_storage > before.ephemeral_storage)
    return true;
  return std::any_of(after.extended.begin(), after.extended.end(), [&](const ExtendedResource& resource) {
    return resource.count > before.extended_count(resource.name);
  });
}

bool selects(const std::optional<LabelSelector>& selector, const Labels& labels) {
  return selector && matches(*selector, labels);
}

// Namespaces are not looked at: a term that means pods elsewhere is rare, and saying yes is safe.
bool means(const PodAffinity& wishes, const Labels& labels) {
  return std::any_of(wishes.required.begin(), wishes.required.end(),
                     [&](const PodAffinityTerm& term) { return selects(term.selector, labels); });
}

}  // namespace

FilterSet filter_bit(std::string_view plugin) {
  const auto filters = all_filters();
  for (std::size_t i = 0; i < filters.size(); ++i)
    if (filters[i].plugin == plugin) return FilterSet{1} << i;
  return FilterSet{1} << 31U;
}

QueueingHint hint_of(FilterSet set) {
  // The table put in the order of the filters, once.
  static const std::array<QueueingHint, 32> kByFilter = [] {
    std::array<QueueingHint, 32> all;
    all.fill({0, ~Changes{0}});
    for (const auto& [plugin, hint] : kHints)
      for (std::size_t i = 0; i < all_filters().size(); ++i)
        if (all_filters()[i].plugin == plugin) all[i] = hint;
    return all;
  }();
  QueueingHint sum;
  for (std::size_t i = 0; i < kByFilter.size(); ++i) {
    if ((set >> i & 1U) == 0) continue;
    sum.here |= kByFilter[i].here;
    sum.anywhere |= kByFilter[i].anywhere;
  }
  return sum;
}

Changes node_changes(const Node& before, const Node& after) {
  Changes changes = 0;
  if (grew(before.allocatable, after.allocatable) || after.max_pods > before.max_pods ||
      !(before.capacity == after.capacity))
    changes |= kNodeRoom;
  if (before.labels != after.labels || before.name != after.name) changes |= kNodeLabels;
  if (before.taints != after.taints || before.unschedulable != after.unschedulable) changes |= kNodeTaints;
  if (before.declared_features != after.declared_features) changes |= kNodeFeatures;
  return changes;
}

Changes object_changes(const ClusterObject& object, bool gone) {
  return std::visit(
      Match{
          [](const PersistentVolume&) -> Changes { return kVolumeSet; },
          [](const PersistentVolumeClaim&) -> Changes { return kClaimSet; },
          [](const StorageClass&) -> Changes { return kStorageClassSet; },
          [](const CsiNode&) -> Changes { return kCsiNodeSet; },
          [](const CsiDriver&) -> Changes { return kCsiDriverSet; },
          [](const CsiStorageCapacity&) -> Changes { return kCapacitySet; },
          [&](const VolumeAttachment&) -> Changes { return gone ? kAttachmentGone : Changes{0}; },
          [](const Namespace&) -> Changes { return kNamespaceSet; },
          [](const PodController&) -> Changes { return kControllerSet; },
          [](const PodDisruptionBudget&) -> Changes { return 0; },
          [](const PriorityClass&) -> Changes { return 0; },
          [](const AppGroup&) -> Changes { return kAppGroupSet; },
          [](const NetworkTopology&) -> Changes { return kNetworkSet; },
      },
      object);
}

bool may_concern(const PodTemplate& waiting, FilterSet rejected_by, const PodTemplate& other) {
  static const FilterSet kSpread = filter_bit("PodTopologySpread"),
                         kAffinity = filter_bit("InterPodAffinity");
  const PodSpec& spec = waiting.spec;
  if ((rejected_by & kSpread) != 0 && waiting.name_space == other.name_space) {
    if (spec.spread.empty()) return true;  // whom the profile's own constraints mean is not known here
    if (std::any_of(spec.spread.begin(), spec.spread.end(), [&](const TopologySpreadConstraint& constraint) {
          return constraint.do_not_schedule && selects(constraint.selector, other.labels);
        }))
      return true;
  }
  if ((rejected_by & kAffinity) != 0 &&
      (!other.spec.pod_anti_affinity.required.empty() || means(spec.pod_affinity, other.labels) ||
       means(spec.pod_anti_affinity, other.labels)))
    return true;
  return (rejected_by & ~(kSpread | kAffinity)) != 0 && !spec.volumes.empty() && !other.spec.volumes.empty();
}

bool may_concern(const Pod& waiting, const ClusterObject& object) {
  if (const auto* group = std::get_if<AppGroup>(&object))
    return group->name == waiting.shape->app_group && group->name_space == waiting.shape->name_space;
  const auto* claim = std::get_if<PersistentVolumeClaim>(&object);
  if (!claim) return true;
  if (claim->name_space != waiting.shape->name_space) return false;
  const auto& volumes = waiting.spec().volumes;
  return std::any_of(volumes.begin(), volumes.end(),
                     [&](const PodVolume& volume) { return claim_name(waiting, volume) == claim->name; });
}

}  // namespace evenkeel::scheduling
