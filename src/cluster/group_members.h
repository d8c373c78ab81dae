#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod.h"

namespace evenkeel {

// Which pods say that they are of which application group, waiting ones and placed ones, in the order they
// were met. Groups are told apart by name and namespace.
class GroupMembers {
 public:
  using ByNamespace = std::map<std::string, std::vector<PodId>, std::less<>>;

  void add(const Pod& pod);
  void remove(const Pod& pod);

  std::span<const PodId> of(std::string_view name_space, std::string_view group) const;
  // Those of every namespace's group of that name, which is what upstream's plugin looks at.
  const ByNamespace& everywhere(std::string_view group) const;
  // Grows whenever a pod of any group comes, goes or changes its labels.
  std::uint64_t version() const { return version_; }

 private:
  std::map<std::string, ByNamespace, std::less<>> groups_;
  std::uint64_t version_ = 0;
};

}  // namespace evenkeel
