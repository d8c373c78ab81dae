#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cluster/pod.h"

namespace evenkeel {

// Which pods of application groups came to which node or left one, in order, so that whoever keeps count of
// them need not look at all of them whenever one moves.
class PlacementLog {
 public:
  struct Entry {
    std::shared_ptr<const PodTemplate> shape;
    NodeId node;
    bool came = false;  // else it left
  };

  void note(const Pod& pod, NodeId node, bool came) {
    if (pod.shape->app_group.empty()) return;
    if (entries_.size() == std::size_t{kKept}) {
      entries_.erase(entries_.begin(), entries_.begin() + kKept / 2);
      first_ += kKept / 2;
    }
    entries_.push_back({pod.shape, node, came});
  }

  std::uint64_t end() const { return first_ + entries_.size(); }
  // What was noted since end() was `from`; none: too much to be kept, and whoever counts begins anew.
  std::optional<std::span<const Entry>> since(std::uint64_t from) const {
    if (from < first_ || from > end()) return std::nullopt;
    return std::span<const Entry>(entries_).subspan(static_cast<std::size_t>(from - first_));
  }

 private:
  static constexpr std::ptrdiff_t kKept = 4096;
  std::vector<Entry> entries_;
  std::uint64_t first_ = 0;
};

}  // namespace evenkeel
