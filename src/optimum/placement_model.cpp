#include "optimum/placement_model.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/sort_stably.h"
#include "optimum/model_builder.h"

namespace evenkeel::optimum {

using scheduling::GroupProblem;

Result<PlacementModel> PlacementModel::build(const GroupProblem& problem,
                                             std::span<const std::uint32_t> application) {
  if (!application.empty() && application.size() != problem.pods.size())
    return invalid("an application for each pod is needed, or for none");
  for (const GroupProblem::Edge& edge : problem.edges) {
    if (edge.from >= problem.pods.size() || edge.to >= problem.pods.size())
      return invalid("an edge ends at a pod that is not there");
    if (!(edge.weight >= 0) || !std::isfinite(edge.weight) || !(edge.bandwidth >= 0))
      return invalid("the edge from pod " + std::to_string(edge.from) + " to " + std::to_string(edge.to) +
                     " has a weight or bandwidth that is no number of 0 or more");
    const bool both_move = problem.pods[edge.from].fixed == GroupProblem::kNowhere &&
                           problem.pods[edge.to].fixed == GroupProblem::kNowhere;
    if (both_move && !application.empty() && application[edge.from] != application[edge.to])
      return invalid("an edge between pods " + std::to_string(edge.from) + " and " + std::to_string(edge.to) +
                     " of different applications");
  }
  Result<CostTree> tree = cost_tree(problem);
  if (!tree) return tree.error();
  PlacementModel model;
  model.problem_ = problem;
  model.classes_ = classify(problem, application);
  ModelBuilder(problem, *std::move(tree), model).build();
  return model;
}

MixedProgram PlacementModel::least_latency(std::uint32_t applications) const {
  MixedProgram program = program_;
  if (applications == this->applications()) {
    for (const std::uint32_t column : accepted_) program.lower[column] = 1;
    return program;
  }
  std::vector<MixedProgram::Term> all;
  for (const std::uint32_t column : accepted_) all.push_back({column, 1});
  program.add_row({static_cast<double>(applications), MixedProgram::kInfinite}, all);
  return program;
}

MixedProgram PlacementModel::most_applications() const {
  MixedProgram program = program_;
  std::ranges::fill(program.cost, 0);
  for (const std::uint32_t column : accepted_) program.cost[column] = -1;
  program.offset = applications();
  program.step = 1;
  return program;
}

std::vector<double> PlacementModel::columns_of(const std::vector<std::uint32_t>& node_of) const {
  std::vector<std::uint8_t> whole(accepted_of_.size(), 1);
  for (const PodClasses::Class& each : classes_.classes)
    for (const std::uint32_t pod : each.pods)
      if (!each.is_fixed() && node_of[pod] == GroupProblem::kNowhere) whole[each.application] = 0;
  // Pods by class and node, under the names of nodes that the program has room for.
  const std::size_t nodes = problem_.nodes.size();
  std::vector<std::vector<std::uint32_t>> held(classes_.classes.size(), std::vector<std::uint32_t>(nodes));
  for (std::size_t one = 0; one < held.size(); ++one)
    for (const std::uint32_t pod : classes_.classes[one].pods)
      if (!classes_.classes[one].is_fixed() && whole[classes_.classes[one].application])
        ++held[one][node_of[pod]];
  for (const auto& siblings : alike_) {
    std::vector<std::pair<std::uint32_t, std::size_t>> order;  // pods, which
    for (std::size_t i = 0; i < siblings.size(); ++i) {
      std::uint32_t pods = 0;
      for (const auto& by_node : held)
        for (const std::uint32_t node : siblings[i]) pods += by_node[node];
      order.emplace_back(pods, i);
    }
    sort_stably(order, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& by_node : held) {
      const std::vector<std::uint32_t> before = by_node;
      for (std::size_t i = 0; i < siblings.size(); ++i)
        for (std::size_t j = 0; j < siblings[i].size(); ++j)
          by_node[siblings[i][j]] = before[siblings[order[i].second][j]];
    }
  }

  std::vector<double> value(program_.columns(), 0);
  for (std::size_t column = 0; column < meanings_.size(); ++column) {
    const Meaning& meaning = meanings_[column];
    switch (meaning.kind) {
      case Meaning::Kind::ones: {
        std::uint32_t there = 0;
        for (std::uint32_t one = 0; one < held.size(); ++one)
          if (meaning.a == one || meaning.a == GroupProblem::kNowhere)
            for (const std::uint32_t node : places_[meaning.b]) there += held[one][node];
        value[column] = there >= meaning.c ? 1 : 0;
        break;
      }
      case Meaning::Kind::accepted:
        value[column] = whole[meaning.a];
        break;
      case Meaning::Kind::both:
        value[column] = value[meaning.a] * value[meaning.b];
        break;
      case Meaning::Kind::least: {
        double least = program_.row_lower[meaning.a];
        const auto end = meaning.a + 1 < program_.rows()
                             ? static_cast<std::size_t>(program_.row_start[meaning.a + 1])
                             : program_.column.size();
        for (auto i = static_cast<std::size_t>(program_.row_start[meaning.a]); i < end; ++i) {
          const auto other = static_cast<std::size_t>(program_.column[i]);
          if (other != column) least -= program_.factor[i] * value[other];
        }
        value[column] = std::max(0.0, least);
        break;
      }
    }
  }
  return value;
}

std::vector<std::uint32_t> PlacementModel::node_of(std::span<const double> columns) const {
  std::vector<std::uint32_t> result(problem_.pods.size(), GroupProblem::kNowhere);
  for (std::size_t one = 0; one < classes_.classes.size(); ++one) {
    const PodClasses::Class& own = classes_.classes[one];
    std::size_t next = 0;
    for (std::uint32_t node = 0; node < problem_.nodes.size() && !own.is_fixed(); ++node) {
      const std::uint32_t first = ones_[one][2 * node], count = ones_[one][2 * node + 1];
      for (std::uint32_t k = 0; k < count; ++k)
        if (columns[first + k] > 0.5 && next < own.pods.size()) result[own.pods[next++]] = node;
    }
    if (own.is_fixed())
      for (const std::uint32_t pod : own.pods) result[pod] = own.fixed;
  }
  return result;
}

}  // namespace evenkeel::optimum
