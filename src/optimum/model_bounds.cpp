#include <algorithm>

#include "optimum/densest.h"
#include "optimum/model_builder.h"

// What the relaxation would not know by itself: without these rows it spreads every pod over all nodes and
// finds them all together. None of them excludes a placement.
namespace evenkeel::optimum {

using Part = CostTree::Part;

// What the pods there that can move have among themselves.
ModelBuilder::Linear ModelBuilder::weight_in(std::uint32_t place) {
  Linear sum;
  for (std::uint32_t a = 0; a < classes(); ++a)
    for (std::uint32_t b = a; b < classes(); ++b) {
      const double weight = model_.classes_.weight(a, b);
      if (weight > 0 && !is_fixed(a) && !is_fixed(b)) sum.add(together(a, b, place), weight);
    }
  return sum;
}

// So many pods save so much among themselves at most, whichever they are.
void ModelBuilder::bound_savings(std::uint32_t place) {
  DensestQuestion question;
  question.pods = most_in(kAll, place);
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
  std::vector<double>& best = densest_[place];
  best = densest(model_.classes_, question);
  Linear spare;
  if (!best.empty()) {
    const Ones all = ones(kAll, place);
    for (std::uint32_t k = 1; k <= all.count && k < best.size(); ++k)
      spare.add(all.first + k - 1, best[k] - best[k - 1]);
    for (std::uint32_t k = static_cast<std::uint32_t>(best.size()); k <= all.count; ++k)
      program_.upper[all.first + k - 1] = 0;  // so many can never be there
    spare.add(weight_in(place), -1);
    row({0, MixedProgram::kInfinite}, spare);
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

// The most that so many pods in a part can save there and below, however they are shared among its children.
void ModelBuilder::bound_parts() {
  for (const Part& part : tree_.parts)
    if (part.saving > 0 && densest_[place(part.nodes)].empty()) return;  // too large to be looked at
  bound_part(static_cast<std::uint32_t>(tree_.parts.size() - 1));
}

ModelBuilder::PartBound ModelBuilder::bound_part(std::uint32_t number) {
  const Part& part = tree_.parts[number];
  const bool is_root = number + 1 == tree_.parts.size();
  const std::size_t all = most_in(kAll, place(part.nodes));
  PartBound bound{{0}, {}};
  if (part.kind == Part::Kind::node) bound.most.assign(all + 1, 0);
  for (const std::uint32_t child : part.children) {
    const PartBound below = bound_part(child);
    std::vector<double> together(std::min(all + 1, bound.most.size() + below.most.size() - 1), 0);
    for (std::size_t i = 0; i < bound.most.size(); ++i)
      for (std::size_t j = 0; j < below.most.size() && i + j < together.size(); ++j)
        together[i + j] = std::max(together[i + j], bound.most[i] + below.most[j]);
    bound.most = std::move(together);
    bound.saved.add(below.saved, 1);
  }
  if (part.saving > 0) {
    const std::vector<double>& best = densest_.at(place(part.nodes));
    bound.most.resize(std::min(bound.most.size(), best.size()));
    for (std::size_t k = 0; k < bound.most.size(); ++k) bound.most[k] += part.saving * best[k];
    bound.saved.add(weight_in(place(part.nodes)), part.saving);
  }
  if (part.children.size() < 2 || bound.saved.terms.empty()) return bound;
  Linear spare;
  if (is_root) {
    spare.constant = *std::ranges::max_element(bound.most);
  } else {
    const Ones here = ones(kAll, place(part.nodes));
    for (std::uint32_t k = 1; k <= here.count && k < bound.most.size(); ++k)
      spare.add(here.first + k - 1, bound.most[k] - bound.most[k - 1]);
    for (auto k = static_cast<std::uint32_t>(bound.most.size()); k <= here.count; ++k)
      program_.upper[here.first + k - 1] = 0;
  }
  spare.add(bound.saved, -1);
  row({0, MixedProgram::kInfinite}, spare);
  return bound;
}

}  // namespace evenkeel::optimum
