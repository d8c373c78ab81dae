#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace evenkeel::reporting {

// Who talks to whom, and how far: nodes in their zones and regions, pods on them, a line for each pair that
// talks.
struct NetworkPicture {
  struct Node {
    std::string name{}, zone{}, region{};
  };
  struct Pod {
    std::string name{};
    std::size_t node = 0;
    int colour = 0;  // slot of the palette: one a group
  };
  struct Line {
    std::size_t from = 0, to = 0;  // pods
    std::optional<double> cost{};  // none: nobody knows
    std::string label{};           // what the pointer shows over it
  };
  std::string title{};
  std::vector<Node> nodes{};
  std::vector<Pod> pods{};
  std::vector<Line> lines{};
  std::string legend{};
};

// Inline SVG as svg_chart.h's; dearer lines are thicker, unknown ones dotted, those within a node left out.
// Of nodes without pods only their number is drawn where there are many.
std::string svg_network(const NetworkPicture& picture);

}  // namespace evenkeel::reporting
