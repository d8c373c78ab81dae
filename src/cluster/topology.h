#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/node.h"

namespace evenkeel {

// One label of every node, its values numbered as met: what "in the same zone" is asked of.
class Topology {
 public:
  std::uint32_t of(std::size_t slot) const { return slot < of_node_.size() ? of_node_[slot] : 0; }
  const std::vector<std::uint32_t>& of_nodes() const { return of_node_; }  // 0: no such label
  std::size_t values() const { return numbers_.size() + 1; }               // numbers are below this

  // The number of the label's being there and empty; 0: on no node.
  std::uint32_t empty_value() const {
    const auto at = numbers_.find("");
    return at == numbers_.end() ? 0 : at->second;
  }

  void set(std::size_t slot, const std::string* value) {
    if (slot >= of_node_.size()) of_node_.resize(slot + 1);
    of_node_[slot] =
        value ? numbers_.try_emplace(*value, static_cast<std::uint32_t>(values())).first->second : 0;
  }

 private:
  std::vector<std::uint32_t> of_node_;
  std::map<std::string, std::uint32_t> numbers_;
};

}  // namespace evenkeel
