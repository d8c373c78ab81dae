#include <algorithm>

#include "optimum/model_builder.h"

namespace evenkeel::optimum {

using scheduling::GroupProblem;
using Kind = MixedProgram::Kind;

std::uint32_t ModelBuilder::place(const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> sorted = nodes;
  std::ranges::sort(sorted);
  const auto [at, is_new] =
      place_numbers_.try_emplace(sorted, static_cast<std::uint32_t>(model_.places_.size()));
  if (is_new) model_.places_.push_back(std::move(sorted));
  return at->second;
}

std::uint32_t ModelBuilder::zone_place(std::uint32_t zone) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < problem_.nodes.size(); ++node)
    if (problem_.nodes[node].zone == zone) nodes.push_back(node);
  return place(nodes);
}

bool ModelBuilder::holds(std::uint32_t place, std::uint32_t node) const {
  return std::ranges::binary_search(model_.places_[place], node);
}

double ModelBuilder::fixed_in(std::uint32_t one, std::uint32_t place) const {
  return is_fixed(one) && holds(place, class_of(one).fixed) ? class_of(one).size() : 0;
}

ModelBuilder::Linear ModelBuilder::count(std::uint32_t one, std::uint32_t place) {
  Linear sum;
  if (is_fixed(one)) {
    sum.constant = fixed_in(one, place);
    return sum;
  }
  const auto written = ones_.find({one, place});
  if (written != ones_.end()) {
    for (std::uint32_t k = 0; k < written->second.count; ++k) sum.add(written->second.first + k, 1);
    return sum;
  }
  for (const std::uint32_t node : model_.places_[place]) sum.add(count(one, node), 1);
  return sum;
}

ModelBuilder::Linear ModelBuilder::placed(std::uint32_t one) const {
  Linear sum;
  const PodClasses::Class& own = class_of(one);
  if (own.is_fixed())
    sum.constant = own.size();
  else
    sum.add(model_.accepted_[model_.accepted_of_[own.application]], own.size());
  return sum;
}

// Pairs of pods that are both there: a column for every two ones, below either. Of one class, the k-th brings
// k - 1 pairs.
ModelBuilder::Linear ModelBuilder::together(std::uint32_t a, std::uint32_t b, std::uint32_t place) {
  Linear sum;
  if (is_fixed(a) || is_fixed(b)) {
    const std::uint32_t there = is_fixed(a) ? a : b, other = is_fixed(a) ? b : a;
    sum.add(count(other, place), fixed_in(there, place));
    return sum;
  }
  const Ones of_a = ones(a, place);
  if (a == b) {
    for (std::uint32_t k = 1; k < of_a.count; ++k) sum.add(of_a.first + k, k);
    return sum;
  }
  if (a > b) return together(b, a, place);
  const Ones of_b = ones(b, place);
  const auto [known, is_new] = pairs_.try_emplace({a, b, place}, program_.columns());
  for (std::uint32_t k = 0; k < of_a.count; ++k)
    for (std::uint32_t l = 0; l < of_b.count; ++l) {
      const std::uint32_t pair = known->second + k * of_b.count + l;
      sum.add(pair, 1);
      if (!is_new) continue;
      program_.add_column({0, 1}, Kind::implied);
      model_.meanings_.push_back({Meaning::Kind::both, of_a.first + k, of_b.first + l});
      for (const std::uint32_t each : {of_a.first + k, of_b.first + l}) {
        Linear below;
        below.add(each, 1);
        below.add(pair, -1);
        row({0, MixedProgram::kInfinite}, below);
      }
    }
  return sum;
}

// Pairs of a pod here and one there.
ModelBuilder::Linear ModelBuilder::across(std::pair<std::uint32_t, std::uint32_t> from,
                                          std::pair<std::uint32_t, std::uint32_t> to) {
  Linear sum;
  if (is_fixed(from.first)) {
    sum.add(count(to.first, to.second), fixed_in(from.first, from.second));
  } else if (is_fixed(to.first)) {
    sum.add(count(from.first, from.second), fixed_in(to.first, to.second));
  } else {
    const Ones here = ones(from.first, from.second);
    const Linear there = count(to.first, to.second);
    const double most = most_in(to.first, to.second);
    if (there.terms.empty()) return sum;
    for (std::uint32_t k = 0; k < here.count; ++k) sum.add(at_least(there, 1, here.first + k, most), 1);
  }
  return sum;
}

// A column of its own that is no less than the weighted expression where the column `only_if` is 1; `most` is
// what the weighted expression can come to.
ModelBuilder::Linear ModelBuilder::at_least(const Linear& expression, double weight, std::uint32_t only_if,
                                            double most) {
  Linear above, value;
  const std::uint32_t column = program_.add_column({0, MixedProgram::kInfinite}, Kind::continuous);
  model_.meanings_.push_back({Meaning::Kind::least, program_.rows()});
  above.add(column, 1);
  above.add(expression, -weight);
  above.add(only_if, -most);
  row({-most, MixedProgram::kInfinite}, above);
  value.add(column, 1);
  return value;
}

void ModelBuilder::row(Range range, const Linear& expression) {
  // A column may stand in an expression more than once; solvers want it once.
  std::map<std::uint32_t, double> factors;
  for (const Term& term : expression.terms) factors[term.column] += term.factor;
  std::vector<Term> terms;
  for (const auto& [column, factor] : factors)
    if (factor != 0) terms.push_back({column, factor});
  program_.add_row({range.least - expression.constant, range.most - expression.constant}, terms);
}

}  // namespace evenkeel::optimum
