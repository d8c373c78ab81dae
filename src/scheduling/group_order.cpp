#include "scheduling/group_order.h"

#include <algorithm>

namespace evenkeel::scheduling {
namespace {

bool waits(const ClusterState& cluster, std::span<const PodId> members, PodId other_than) {
  // The last to come are the likeliest to wait.
  return std::any_of(members.rbegin(), members.rend(), [&](PodId id) {
    const PodRecord* record = cluster.pod(id);
    return id != other_than && record && record->place == PodPlace::pending;
  });
}

const AppGroup* find_group(const PodTemplate& shape, const ObjectStore& objects,
                           std::span<const std::string> namespaces) {
  for (const std::string& name_space : namespaces)
    if (const AppGroup* found = objects.app_group(name_space, shape.app_group)) return found;
  return namespaces.empty() ? objects.app_group(shape.name_space, shape.app_group) : nullptr;
}

}  // namespace

std::int32_t rank_in(const AppGroup& group, std::string_view selector) {
  const auto at = std::lower_bound(
      group.order.begin(), group.order.end(), selector,
      [](const AppGroup::Rank& rank, std::string_view wanted) { return rank.selector < wanted; });
  return at != group.order.end() && at->selector == selector ? at->index : -1;
}

GroupOrder::Standing GroupOrder::of(const Pod& pod, const ClusterState& cluster,
                                    std::span<const std::string> namespaces, std::uint64_t sequence) {
  const PodTemplate& shape = *pod.shape;
  if (shape.app_group.empty()) return {sequence, 0};
  const AppGroup* group = find_group(shape, cluster.objects(), namespaces);
  const bool everywhere = !namespaces.empty();
  const std::string key = (everywhere ? "" : shape.name_space) + "/" + shape.app_group;
  const auto others_wait = [&] {
    if (!everywhere) return waits(cluster, cluster.groups().of(shape.name_space, shape.app_group), pod.id);
    const auto& all = cluster.groups().everywhere(shape.app_group);
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& members) { return waits(cluster, members.second, pod.id); });
  };
  const auto [at, is_new] = anchors_.try_emplace(key, sequence);
  if (!is_new && at->second != sequence && !others_wait()) at->second = sequence;
  // Groups that are no more leave a number behind; not for ever.
  constexpr std::size_t kMany = 10'000;
  if (is_new && anchors_.size() % kMany == 0)
    std::erase_if(anchors_, [&](const auto& known) {
      return known.first != key &&
             cluster.groups()
                 .everywhere(std::string_view(known.first).substr(known.first.find('/') + 1))
                 .empty();
    });
  return {at->second, group ? rank_in(*group, shape.app_workload) : -1};
}

}  // namespace evenkeel::scheduling
