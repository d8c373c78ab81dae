#include <algorithm>

#include "optimum/densest.h"
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

// So many pods save so much among themselves at most, whichever they are.
void ModelBuilder::bound_savings(std::uint32_t place) {
  DensestQuestion question;
  question.pods = most_in(kAll, place);
  bool any = false;
  for (std::uint32_t one = 0; one < classes(); ++one)
    question.most.push_back(is_fixed(one) ? 0 : most_in(one, place));
  std::vector<std::uint32_t> zones;
  for (const std::uint32_t node : model_.places_[place]) zones.push_back(problem_.nodes[node].zone);
  std::ranges::sort(zones);
  const auto different_zones = std::ranges::unique(zones).begin() - zones.begin();
  for (std::uint32_t rule = 0; rule < problem_.apart.size(); ++rule) {
    DensestQuestion::Limit limit;
    limit.most = problem_.apart[rule].by_zone ? static_cast<std::uint32_t>(different_zones)
                                              : static_cast<std::uint32_t>(model_.places_[place].size());
    for (std::uint32_t one = 0; one < classes(); ++one)
      if (question.most[one] > 0 && std::ranges::count(rules_of_[one], rule)) limit.classes.push_back(one);
    if (!limit.classes.empty()) question.limits.push_back(std::move(limit));
  }
  const std::vector<double> best = densest(model_.classes_, question);
  Linear spare;
  if (!best.empty()) {
    const Ones all = ones(kAll, place);
    for (std::uint32_t k = 1; k <= all.count && k < best.size(); ++k)
      spare.add(all.first + k - 1, best[k] - best[k - 1]);
    for (std::uint32_t k = static_cast<std::uint32_t>(best.size()); k <= all.count; ++k)
      program_.upper[all.first + k - 1] = 0;  // so many can never be there
    for (std::uint32_t a = 0; a < classes(); ++a)
      for (std::uint32_t b = a; b < classes(); ++b) {
        const double weight = model_.classes_.weight(a, b);
        if (weight <= 0 || is_fixed(a) || is_fixed(b)) continue;
        spare.add(together(a, b, place), -weight);
        any = true;
      }
    if (any) row({0, MixedProgram::kInfinite}, spare);
  }
  bound_neighbours(place, question.pods);
}

// Where a pod is, there is room for so many others.
void ModelBuilder::bound_neighbours(std::uint32_t place, std::uint32_t most) {
  for (std::uint32_t one = 0; one < classes(); ++one) {
    if (is_fixed(one)) continue;
    const Ones own = ones(one, place);
    for (std::uint32_t k = 0; k < own.count; ++k) {
      Linear room;
      double could = 0;
      const double left = std::max(0.0, static_cast<double>(most) - (k + 1));
      room.add(own.first + k, left);
      for (std::uint32_t other = 0; other < classes(); ++other) {
        if (other == one || is_fixed(other) || model_.classes_.weight(one, other) <= 0) continue;
        const Ones theirs = ones(other, place);
        together(one, other, place);
        const std::uint32_t first = pairs_.at({std::min(one, other), std::max(one, other), place});
        for (std::uint32_t l = 0; l < theirs.count; ++l)
          room.add(one < other ? first + k * theirs.count + l : first + l * own.count + k, -1);
        could += theirs.count;
      }
      if (could > left) row({0, MixedProgram::kInfinite}, room);
    }
  }
}

}  // namespace evenkeel::optimum
