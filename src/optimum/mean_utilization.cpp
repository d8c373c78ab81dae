#include "optimum/mean_utilization.h"

#include <algorithm>
#include <cmath>

#include "optimum/utilization_field.h"

namespace evenkeel::optimum {
namespace {

Usage product(Usage a, const Usage& b) {
  for (std::size_t d = 0; d < kDimensions; ++d) a.of[d] *= b.of[d];
  return a;
}

constexpr std::size_t kMostCuts = 4096;

}  // namespace

MeanUtilization::MeanUtilization(const PlanProblem& problem) : problem_(problem) {
  const std::vector<double> cuts = time_cuts(problem, kMostCuts);
  for (const PlanPod& pod : problem.pods) {
    Usage& mean = pods_.emplace_back();
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const double middle = (cuts[i] + cuts[i + 1]) / 2;
      if (pod.start_s <= middle && middle < pod.end_s)
        mean +=
            pod.demand_at(middle, problem.step_s) * ((cuts[i + 1] - cuts[i]) / (cuts.back() - cuts.front()));
    }
  }
  for (const PlanNode& node : problem.nodes) {
    Usage& unit = per_unit_.emplace_back();
    for (std::size_t d = 0; d < kDimensions; ++d)
      if (node.capacity.of[d] > 0) unit.of[d] = 1 / node.capacity.of[d];
  }
  per_unit_.emplace_back();
  refresh({});
}

// What a change adds to one of its two nodes, as a share of capacity.
Usage MeanUtilization::added_to(const Change& change, std::size_t node) const {
  Usage moved = pods_[change.pod];
  if (change.other != kNobody) moved -= pods_[change.other];
  return product(moved, per_unit_[node]) * (node == change.from ? -1.0 : 1.0);
}

double MeanUtilization::difference(const Change& change) {
  const Usage from = nodes_[change.from], to = nodes_[change.to];
  const double before = value();
  make(change);
  const double after = value();
  nodes_[change.from] = from;
  nodes_[change.to] = to;
  return after - before;
}

void MeanUtilization::make(const Change& change) {
  nodes_[change.from] += added_to(change, change.from);
  nodes_[change.to] += added_to(change, change.to);
}

void MeanUtilization::refresh(const Assignment& assignment) {
  nodes_.clear();
  for (std::size_t n = 0; n < problem_.nodes.size(); ++n)
    nodes_.push_back(product(problem_.nodes[n].base, per_unit_[n]));
  nodes_.emplace_back();
  for (std::size_t pod = 0; pod < assignment.size(); ++pod)
    if (assignment[pod] != kNowhere)
      nodes_[assignment[pod]] += product(pods_[pod], per_unit_[assignment[pod]]);
}

double MeanUtilization::value() const {
  const auto n = static_cast<double>(problem_.nodes.size());
  Usage sum, squares;
  for (std::size_t i = 0; i < problem_.nodes.size(); ++i) {
    sum += nodes_[i];
    squares += product(nodes_[i], nodes_[i]);
  }
  double total = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double mean = sum.of[d] / n;
    total += std::sqrt(std::max(0.0, squares.of[d] / n - mean * mean));
  }
  return total / kDimensions;
}

}  // namespace evenkeel::optimum
