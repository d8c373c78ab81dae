#include <algorithm>
#include <cmath>

#include "optimum/model_builder.h"

namespace evenkeel::optimum {

using scheduling::GroupProblem;

// Eq. 5, what leaves a node for others. Bandwidths are counted in the largest, so that rows are of a size.
void ModelBuilder::add_egress() {
  double unit = 0;
  for (const Tie& each : model_.classes_.ties) unit = std::max(unit, each.bandwidth);
  if (unit <= 0) return;
  for (std::uint32_t node = 0; node < problem_.nodes.size(); ++node) {
    if (!std::isfinite(problem_.nodes[node].egress)) continue;
    Linear leaving;
    for (std::uint32_t from = 0; from < classes(); ++from)
      for (std::uint32_t to = 0; to < classes(); ++to) {
        const double share = tie(from, to).bandwidth / unit;
        if (share <= 0 || (is_fixed(from) && is_fixed(to))) continue;
        if (is_fixed(from)) {
          const double there = fixed_in(from, node);
          leaving.add(placed(to), share * there);
          leaving.add(count(to, node), -share * there);
        } else if (from == to) {  // size * n - n * n, and a square is a sum of odd numbers
          leaving.add(count(from, node), share * class_of(from).size());
          const Ones own = ones(from, node);
          for (std::uint32_t k = 0; k < own.count; ++k) leaving.add(own.first + k, -share * (2.0 * k + 1));
        } else {
          leaving.add(count(from, node), share * class_of(to).size());
          leaving.add(together(from, to, node), -share);
        }
      }
    if (!leaving.terms.empty())
      row({-MixedProgram::kInfinite, std::max(0.0, problem_.nodes[node].egress) / unit}, leaving);
  }
}

// Eq. 5, links between zones of a region and between regions.
void ModelBuilder::add_links() {
  const auto nodes_where = [&](auto&& condition) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t node = 0; node < problem_.nodes.size(); ++node)
      if (condition(problem_.nodes[node].zone)) nodes.push_back(node);
    return nodes;
  };
  const auto limit = [&](std::uint32_t count, const std::vector<double>& rooms, auto&& part_of,
                         auto&& joined) {
    if (rooms.empty()) return;
    for (std::uint32_t from = 0; from < count; ++from)
      for (std::uint32_t to = 0; to < count; ++to) {
        const double room = rooms[from * count + to];
        if (from == to || !std::isfinite(room) || !joined(from, to)) continue;
        const auto here = nodes_where([&](std::uint32_t zone) { return part_of(zone) == from; });
        const auto there = nodes_where([&](std::uint32_t zone) { return part_of(zone) == to; });
        if (!here.empty() && !there.empty()) limit_link(place(here), place(there), room);
      }
  };
  limit(
      problem_.zones, problem_.zone_room, [](std::uint32_t zone) { return zone; },
      [&](std::uint32_t a, std::uint32_t b) { return problem_.region[a] == problem_.region[b]; });
  limit(
      problem_.regions, problem_.region_room, [&](std::uint32_t zone) { return problem_.region[zone]; },
      [](std::uint32_t, std::uint32_t) { return true; });
}

void ModelBuilder::limit_link(std::uint32_t from, std::uint32_t to, double room) {
  double unit = 0, could = 0;
  for (std::uint32_t a = 0; a < classes(); ++a)
    for (std::uint32_t b = 0; b < classes(); ++b) {
      const double bandwidth = tie(a, b).bandwidth;
      if (bandwidth <= 0 || (is_fixed(a) && is_fixed(b))) continue;
      const auto most = [&](std::uint32_t one, std::uint32_t place) {
        return is_fixed(one) ? fixed_in(one, place) : most_in(one, place);
      };
      could += bandwidth * most(a, from) * most(b, to);
      unit = std::max(unit, bandwidth);
    }
  if (could <= std::max(0.0, room)) return;  // it carries whatever there may be
  Linear carried;
  for (std::uint32_t a = 0; a < classes(); ++a)
    for (std::uint32_t b = 0; b < classes(); ++b)
      if (tie(a, b).bandwidth > 0 && !(is_fixed(a) && is_fixed(b)))
        carried.add(across({a, from}, {b, to}), tie(a, b).bandwidth / unit);
  if (!carried.terms.empty()) row({-MixedProgram::kInfinite, std::max(0.0, room) / unit}, carried);
}

void ModelBuilder::limit_costs() {
  for (std::uint32_t a = 0; a < classes(); ++a)
    for (std::uint32_t b = a; b < classes(); ++b) {
      const double most = std::min(tie(a, b).max_cost, tie(b, a).max_cost);
      if (!std::isfinite(most) || (is_fixed(a) && is_fixed(b))) continue;
      if (is_fixed(b))
        keep_near(b, a, most);
      else
        keep_near(a, b, most);
    }
}

// None of b where it is too far from one of a. By zones, unless nodes of one zone are too far from each
// other.
void ModelBuilder::keep_near(std::uint32_t a, std::uint32_t b, double most) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // and a node that speaks for it
  bool by_node = problem_.same_node > most;
  for (const GroupProblem::Node& node : problem_.nodes)
    by_node = by_node || problem_.cost[node.zone * problem_.zones + node.zone] > most;
  for (std::uint32_t node = 0; node < problem_.nodes.size(); ++node) {
    const std::uint32_t at = by_node ? node : zone_place(problem_.nodes[node].zone);
    if (std::ranges::none_of(places, [&](const auto& known) { return known.first == at; }))
      places.emplace_back(at, node);
  }
  for (const auto& [here, node] : places) {
    const bool present = is_fixed(a) ? fixed_in(a, here) > 0 : ones(a, here).count > 0;
    if (!present) continue;
    Linear far;
    for (const auto& [there, other] : places) {
      const bool same = here == there;
      const double cost =
          same && !by_node
              ? problem_.cost[problem_.nodes[node].zone * problem_.zones + problem_.nodes[node].zone]
              : std::max(problem_.distance(node, other), problem_.distance(other, node));
      if (cost <= most) continue;
      if (same && a == b)
        row({-MixedProgram::kInfinite, 1}, count(a, here));
      else
        far.add(count(b, there), 1);
    }
    if (far.terms.empty() && far.constant == 0) continue;
    const double all = class_of(b).size();
    if (is_fixed(a)) {
      row({-MixedProgram::kInfinite, 0}, far);
    } else {
      far.add(ones(a, here).first, all);
      row({-MixedProgram::kInfinite, all}, far);
    }
  }
}

}  // namespace evenkeel::optimum
