#include "optimum/request_ledger.h"

#include <algorithm>

namespace evenkeel::optimum {
namespace {

struct Edge {
  double at_s;
  bool starts;  // ends come first: who goes makes room for who comes at that very moment
  bool operator<(const Edge& other) const {
    return at_s != other.at_s ? at_s < other.at_s : starts < other.starts;
  }
};

// Starts that are followed by an end before the next start, and the last one.
std::vector<double> fullest_moments(const PlanProblem& problem) {
  std::vector<Edge> edges;
  for (const PlanPod& pod : problem.pods) {
    edges.push_back({pod.start_s, true});
    edges.push_back({pod.end_s, false});
  }
  for (const PlanNode& node : problem.nodes)
    for (const auto& [from, to] : node.away) {
      edges.push_back({from, true});
      edges.push_back({to, false});
    }
  std::sort(edges.begin(), edges.end());
  std::vector<double> moments;
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (edges[i].starts && (i + 1 == edges.size() || !edges[i + 1].starts)) moments.push_back(edges[i].at_s);
  return moments;
}

}  // namespace

RequestLedger::RequestLedger(const PlanProblem& problem) : problem_(problem) {
  const std::vector<double> moments = fullest_moments(problem);
  const auto moment_at = [&](double at_s) {
    return static_cast<std::size_t>(std::lower_bound(moments.begin(), moments.end(), at_s) - moments.begin());
  };
  moments_ = moments.size();
  if (!problem.nodes.empty()) kinds_ = problem.nodes.front().room.size();
  for (const PlanPod& pod : problem.pods) spans_.push_back({moment_at(pod.start_s), moment_at(pod.end_s)});
  left_.reserve(problem.nodes.size() * moments_ * kinds_);
  for (const PlanNode& node : problem.nodes)
    for (const double at_s : moments) {
      const bool away = std::any_of(node.away.begin(), node.away.end(),
                                    [&](const auto& gap) { return gap.first <= at_s && at_s < gap.second; });
      for (const double room : node.room) left_.push_back(away ? -kForever : room);
    }
}

bool RequestLedger::has_room(std::size_t pod, std::size_t node) const {
  const PlanPod& plan = problem_.pods[pod];
  if (!plan.allowed.empty() && !plan.allowed[node]) return false;
  const Span span = spans_[pod];
  for (std::size_t kind = 0; kind < kinds_; ++kind) {
    const double asked = plan.requests[kind];
    if (asked <= 0) continue;
    for (std::size_t moment = span.first; moment < span.last; ++moment)
      if (left_[(node * moments_ + moment) * kinds_ + kind] < asked) return false;
  }
  return true;
}

void RequestLedger::count(std::size_t pod, std::size_t node, double sign) {
  if (node == problem_.nodes.size()) return;
  const Span span = spans_[pod];
  for (std::size_t moment = span.first; moment < span.last; ++moment)
    for (std::size_t kind = 0; kind < kinds_; ++kind)
      left_[(node * moments_ + moment) * kinds_ + kind] -= sign * problem_.pods[pod].requests[kind];
}

bool RequestLedger::fits(const Change& change) {
  if (change.other == kNobody) return has_room(change.pod, change.to);
  count(change.pod, change.from, -1);
  count(change.other, change.to, -1);
  const bool fits = has_room(change.pod, change.to) && has_room(change.other, change.from);
  count(change.pod, change.from, 1);
  count(change.other, change.to, 1);
  return fits;
}

void RequestLedger::make(const Change& change) {
  count(change.pod, change.from, -1);
  count(change.pod, change.to, 1);
  if (change.other == kNobody) return;
  count(change.other, change.to, -1);
  count(change.other, change.from, 1);
}

}  // namespace evenkeel::optimum
