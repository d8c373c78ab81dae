#include "cluster/group_members.h"

#include <algorithm>

namespace evenkeel {

void GroupMembers::add(const Pod& pod) {
  const PodTemplate& shape = *pod.shape;
  if (shape.app_group.empty()) return;
  groups_[shape.app_group][shape.name_space].push_back(pod.id);
  ++version_;
}

void GroupMembers::remove(const Pod& pod) {
  const PodTemplate& shape = *pod.shape;
  if (shape.app_group.empty()) return;
  const auto group = groups_.find(shape.app_group);
  if (group == groups_.end()) return;
  const auto members = group->second.find(shape.name_space);
  if (members == group->second.end()) return;
  std::vector<PodId>& pods = members->second;
  const auto at = std::find(pods.begin(), pods.end(), pod.id);
  if (at == pods.end()) return;
  pods.erase(at);
  if (pods.empty()) group->second.erase(members);
  if (group->second.empty()) groups_.erase(group);
  ++version_;
}

std::span<const PodId> GroupMembers::of(std::string_view name_space, std::string_view group) const {
  const ByNamespace& all = everywhere(group);
  const auto at = all.find(name_space);
  return at == all.end() ? std::span<const PodId>{} : std::span<const PodId>(at->second);
}

const GroupMembers::ByNamespace& GroupMembers::everywhere(std::string_view group) const {
  static const ByNamespace kNone;
  const auto at = groups_.find(group);
  return at == groups_.end() ? kNone : at->second;
}

}  // namespace evenkeel
