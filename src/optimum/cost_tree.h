// What it costs to talk, as a tree of nodes, zones and zones that are near each other: two pods save
// something for every part of the tree that holds both. Where costs are no tree's (unequal triangles, one way
// dearer than the other), the tree is the largest below them, and what remains is kept beside it, by pair of
// zones.
#pragma once
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "scheduling/group_problem.h"

namespace evenkeel::optimum {

struct CostTree {
  struct Part {
    enum class Kind : std::uint8_t { node, zone, zones };
    Kind kind = Kind::zones;
    std::uint32_t number = 0;             // of the node or zone
    std::vector<std::uint32_t> children;  // parts
    std::vector<std::uint32_t> nodes;     // all of them below
    double height = 0;                    // what it costs between two of its children, before what remains
    double saving = 0;  // what two pods in it save compared with two of its parent; 0 for the root
  };
  std::vector<Part> parts;  // the nodes first, children before their parents, the root last
  // Zones x zones, from row to column: what the cost has above the tree's. The diagonal: between its nodes;
  // it is in the nodes' saving as well, so that two on one node do not pay it.
  std::vector<double> remainder;
  bool exact = true;  // nothing remains

  const Part& root() const { return parts.back(); }
};

// Refused: costs below 0 or without end, and a node that is dearer to itself than to its neighbours.
Result<CostTree> cost_tree(const scheduling::GroupProblem& problem);

}  // namespace evenkeel::optimum
