#include "optimum/pod_classes.h"

#include <algorithm>

namespace evenkeel::optimum {
namespace {

using scheduling::GroupProblem;
using Tie = PodClasses::Tie;

class Doubles {
 public:
  Doubles(const GroupProblem& problem, std::span<const std::uint32_t> application)
      : problem_(problem), application_(application), pods_(problem.pods.size()), ties_(pods_ * pods_) {
    for (const GroupProblem::Edge& edge : problem.edges) {
      if (edge.from == edge.to) continue;  // to itself: free
      Tie& tie = ties_[edge.from * pods_ + edge.to];
      tie.weight += edge.weight;
      tie.bandwidth += edge.bandwidth;
      tie.max_cost = std::min(tie.max_cost, edge.max_cost);
    }
    fold(is_symmetric(problem));
    rules_.resize(pods_, std::vector<std::uint8_t>(problem.apart.size()));
    for (std::size_t rule = 0; rule < problem.apart.size(); ++rule)
      for (const std::uint32_t pod : problem.apart[rule].pods) rules_[pod][rule] = 1;
  }

  const Tie& tie(std::uint32_t from, std::uint32_t to) const { return ties_[from * pods_ + to]; }
  std::uint32_t application(std::uint32_t pod) const { return application_.empty() ? 0 : application_[pod]; }

  // Whether the problem with the two exchanged is the same problem.
  bool are_doubles(std::uint32_t a, std::uint32_t b) const {
    const GroupProblem::Pod &one = problem_.pods[a], &other = problem_.pods[b];
    if (one.fixed != other.fixed || application(a) != application(b) || rules_[a] != rules_[b]) return false;
    if (one.request != other.request || one.allowed != other.allowed || one.bias != other.bias) return false;
    if (tie(a, b) != tie(b, a)) return false;
    for (std::uint32_t c = 0; c < pods_; ++c)
      if (c != a && c != b && (tie(a, c) != tie(b, c) || tie(c, a) != tie(c, b))) return false;
    return true;
  }

  static bool is_symmetric(const GroupProblem& problem) {
    for (std::uint32_t a = 0; a < problem.zones; ++a)
      for (std::uint32_t b = 0; b < a; ++b)
        if (problem.cost[a * problem.zones + b] != problem.cost[b * problem.zones + a]) return false;
    return true;
  }

 private:
  // Who of two sends does not matter where costs are the same both ways; how far apart they may be never
  // asks. More pods are doubles then: of all-to-all, all.
  void fold(bool symmetric) {
    for (std::uint32_t a = 0; a < pods_; ++a)
      for (std::uint32_t b = 0; b < a; ++b) {
        Tie &one = ties_[a * pods_ + b], &other = ties_[b * pods_ + a];
        one.max_cost = other.max_cost = std::min(one.max_cost, other.max_cost);
        if (symmetric) one.weight = other.weight = (one.weight + other.weight) / 2;
      }
  }

  const GroupProblem& problem_;
  std::span<const std::uint32_t> application_;
  std::size_t pods_;
  std::vector<Tie> ties_;
  std::vector<std::vector<std::uint8_t>> rules_;
};

}  // namespace

PodClasses classify(const GroupProblem& problem, std::span<const std::uint32_t> application) {
  const Doubles doubles(problem, application);
  PodClasses result;
  result.symmetric = Doubles::is_symmetric(problem);
  // Being doubles is an equivalence: one of the class speaks for all.
  for (std::uint32_t pod = 0; pod < problem.pods.size(); ++pod) {
    const auto own = std::ranges::find_if(
        result.classes, [&](const auto& known) { return doubles.are_doubles(known.pods.front(), pod); });
    if (own != result.classes.end())
      own->pods.push_back(pod);
    else
      result.classes.push_back({{pod}, doubles.application(pod), problem.pods[pod].fixed});
  }
  for (const auto& from : result.classes)
    for (const auto& to : result.classes) {
      const bool same = &from == &to;
      result.ties.push_back(same && from.size() < 2
                                ? Tie{}
                                : doubles.tie(from.pods.front(), same ? to.pods.back() : to.pods.front()));
    }
  return result;
}

}  // namespace evenkeel::optimum
