#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/column.h"
#include "cluster/cluster_state.h"

namespace evenkeel::scheduling {

// A region and a zone that some node is in, numbered as met; 0: neither label.
using Place = std::uint32_t;

// Where each node is, and what may leave it. Numbers once given stay: who counts by them need not begin anew
// when nodes come and go.
class NetworkPlaces {
 public:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  struct Where {
    std::uint32_t region = 0, zone = 0;  // numbers of names; 0: no such label, or an empty one
    bool operator==(const Where&) const = default;
  };

  NetworkPlaces();
  void refresh(const ClusterState& cluster);

  Place of(NodeId node) const { return node.slot < of_node_.size() ? of_node_[node.slot] : 0; }
  const Column<Place>& of_nodes() const { return of_node_; }  // by NodeId::slot
  std::size_t count() const { return places_.size(); }
  const Where& where(Place place) const { return places_[place]; }
  // What nodes may send to others, bit/s, by NodeId::slot.
  const Column<std::int64_t>& egress() const { return egress_; }
  bool limits_egress() const { return limits_egress_; }  // some node's is limited

  const std::string& name(std::uint32_t number) const { return names_[number]; }
  std::uint32_t number(std::string_view name);  // a new one, if need be
  // Grows when a node that was known is somewhere else, and what was counted there with it.
  std::uint64_t moves() const { return moves_; }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  Place place_of(const Labels& labels);

  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> numbers_;
  std::vector<Where> places_;
  std::unordered_map<std::uint64_t, Place> by_where_;
  Column<Place> of_node_;
  Column<std::int64_t> egress_;
  std::uint64_t version_ = ~std::uint64_t{0}, moves_ = 0;
  bool limits_egress_ = false;
};

}  // namespace evenkeel::scheduling
