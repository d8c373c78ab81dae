#include <algorithm>

#include "optimum/model_builder.h"

namespace evenkeel::optimum {

using Part = CostTree::Part;

// Eq. 12. Every pair pays the root's cost and saves what its parts save; what costs have above the tree's is
// paid by pairs of zones.
void ModelBuilder::add_latency() {
  for (std::uint32_t a = 0; a < classes(); ++a)
    for (std::uint32_t b = a; b < classes(); ++b) {
      if (model_.classes_.weight(a, b) <= 0) continue;
      if (is_fixed(a) && is_fixed(b)) {
        add_settled_pair(a, b);
        continue;
      }
      add_savings(a, b);
      if (!tree_.exact) add_remainder(a, b);
    }
  for (const Part& part : tree_.parts)
    if (part.saving > 0) bound_savings(place(part.nodes));
  bound_parts();
}

void ModelBuilder::add_objective(const Linear& expression, double factor) {
  for (const Term& term : expression.terms) program_.cost[term.column] += factor * term.factor;
  program_.offset += factor * expression.constant;
}

void ModelBuilder::add_settled_pair(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t at = class_of(a).fixed, there = class_of(b).fixed;
  const double of_a = class_of(a).size(), of_b = class_of(b).size();
  if (a == b)
    program_.offset += of_a * (of_a - 1) * tie(a, a).weight * problem_.same_node;
  else
    program_.offset +=
        of_a * of_b *
        (tie(a, b).weight * problem_.distance(at, there) + tie(b, a).weight * problem_.distance(there, at));
}

void ModelBuilder::add_savings(std::uint32_t a, std::uint32_t b) {
  const double weight = model_.classes_.weight(a, b), root = tree_.root().height;
  // Of a fixed and another class the other says whether they are there at all.
  const std::uint32_t chosen = is_fixed(a) ? b : a, other = is_fixed(a) ? a : b;
  const double pairs = a == b ? (class_of(a).size() - 1) / 2.0 : class_of(other).size();
  add_objective(placed(chosen), weight * root * pairs);
  for (const Part& part : tree_.parts)
    if (part.saving > 0) add_objective(together(a, b, place(part.nodes)), -weight * part.saving);
}

void ModelBuilder::add_remainder(std::uint32_t a, std::uint32_t b) {
  // The class that is written in ones is the smaller one, or the one that can move.
  if (is_fixed(b) || (!is_fixed(a) && class_of(b).size() < class_of(a).size())) std::swap(a, b);
  const auto remains = [&](std::uint32_t here, std::uint32_t there) {
    const double out = tree_.remainder[here * problem_.zones + there];
    const double back = tree_.remainder[there * problem_.zones + here];
    return tie(a, b).weight * out + tie(b, a).weight * back;
  };
  std::vector<std::uint32_t> zones;
  for (std::uint32_t zone = 0; zone < problem_.zones; ++zone)
    if (std::ranges::any_of(problem_.nodes, [&](const auto& node) { return node.zone == zone; }))
      zones.push_back(zone);
  for (const std::uint32_t here : zones) {
    if (a == b && remains(here, here) > 0)
      add_objective(together(a, a, zone_place(here)), remains(here, here));
    Linear far;
    double dearest = 0;
    for (const std::uint32_t there : zones) {
      if (remains(here, there) <= 0 || (a == b && there <= here)) continue;
      far.add(count(b, zone_place(there)), remains(here, there));
      dearest = std::max(dearest, remains(here, there));
    }
    if (far.terms.empty()) continue;
    if (is_fixed(a)) {
      add_objective(far, fixed_in(a, zone_place(here)));
      continue;
    }
    const Ones ones_here = ones(a, zone_place(here));
    for (std::uint32_t k = 0; k < ones_here.count; ++k)
      add_objective(at_least(far, 1, ones_here.first + k, dearest * class_of(b).size()), 1);
  }
}

}  // namespace evenkeel::optimum
