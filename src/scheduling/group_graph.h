#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/app_group.h"

namespace evenkeel::scheduling {

// An AppGroup as a graph: workloads numbered by their selectors, and who talks to whom. An edge that is
// declared twice counts once, with the larger bandwidth and the tighter limit; one that is declared in both
// directions is two. What the workloads are called, and whether any pod plays their part, is not looked at.
class GroupGraph {
 public:
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  // More than any link carries. What asks for more is taken for this much, so that sums stay numbers.
  static constexpr std::int64_t kMostBits = std::int64_t{1} << 50;

  struct Edge {
    std::uint32_t from = 0, to = 0;  // workloads
    std::int64_t bandwidth = 0;      // bit/s, of each pair of pods
    std::int64_t max_cost = kNoLimit;
  };

  GroupGraph() = default;
  explicit GroupGraph(const AppGroup& group);

  std::uint32_t workloads() const { return static_cast<std::uint32_t>(out_.size()); }
  // None: no workload and no dependency has that selector.
  std::optional<std::uint32_t> workload(std::string_view selector) const;
  std::span<const Edge> edges() const { return edges_; }
  const Edge& edge(std::uint32_t number) const { return edges_[number]; }
  // Numbers of edges; one from a workload to itself is among both.
  std::span<const std::uint32_t> out_of(std::uint32_t workload) const { return out_[workload]; }
  std::span<const std::uint32_t> into(std::uint32_t workload) const { return in_[workload]; }
  bool reserves() const { return reserves_; }  // some edge asks for bandwidth

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::uint32_t number(const std::string& selector);

  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> numbers_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::uint32_t>> out_, in_;
  bool reserves_ = false;
};

}  // namespace evenkeel::scheduling
