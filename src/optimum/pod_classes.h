// Pods of a group that are each other's doubles: exchanging any two of a class changes nothing, so how many
// of a class are on a node is all there is to decide. Replicas of a workload usually are one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/group_problem.h"

namespace evenkeel::optimum {

struct PodClasses {
  // What one pod of the one class sends to one of the other.
  struct Tie {
    double weight = 0, bandwidth = 0;
    double max_cost = scheduling::GroupProblem::kUnlimited;
    bool operator==(const Tie&) const = default;
  };
  struct Class {
    std::vector<std::uint32_t> pods;
    std::uint32_t application = 0;
    std::uint32_t fixed = scheduling::GroupProblem::kNowhere;  // all of them are there
    bool is_fixed() const { return fixed != scheduling::GroupProblem::kNowhere; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(pods.size()); }
  };
  std::vector<Class> classes;
  std::vector<Tie> ties;  // classes x classes, from row to column; the diagonal: among its own, each way
  // Costs are the same both ways: so is every weight then, half of what a pair has.
  bool symmetric = false;

  const Tie& tie(std::size_t from, std::size_t to) const { return ties[from * classes.size() + to]; }
  // Of a pair of pods, both ways; of two of the same class as well.
  double weight(std::size_t a, std::size_t b) const { return tie(a, b).weight + tie(b, a).weight; }
};

// `application`: of each pod; empty: all of one.
PodClasses classify(const scheduling::GroupProblem& problem, std::span<const std::uint32_t> application);

}  // namespace evenkeel::optimum
