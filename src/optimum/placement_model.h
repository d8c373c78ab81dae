// The placement of applications as a mixed-integer program: section IV of Diktyo's paper (eq. 1-13), stated
// so that a solver proves it in seconds. docs/algorithms/optimum.md derives it.
//
// Decided is how many pods of a class of doubles are on each node (pod_classes.h), in ones: column k is 1
// where at least k are there. Latency is what all pods together would pay at the root of the cost tree, less
// what pairs save for each part of the tree that holds both (cost_tree.h); a pair's saving is a column below
// both ones.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/mixed_program.h"
#include "optimum/cost_tree.h"
#include "optimum/pod_classes.h"
#include "scheduling/group_problem.h"

namespace evenkeel::optimum {

class PlacementModel {
 public:
  // `application`: which of the pods belong together, from 0 (eq. 1): placed are all of its pods or none.
  // Empty: one application. Refused: costs that are no numbers, weights below 0, edges between applications.
  static Result<PlacementModel> build(const scheduling::GroupProblem& problem,
                                      std::span<const std::uint32_t> application);

  // Latency and bias of what is placed, eq. 12, at least `applications` of them being placed (eq. 13).
  MixedProgram least_latency(std::uint32_t applications) const;
  // Eq. 11: the objective is the number of applications that are not placed.
  MixedProgram most_applications() const;

  // Applications with pods that wait; those whose pods are all there already are no question.
  std::uint32_t applications() const { return static_cast<std::uint32_t>(accepted_.size()); }

  // The columns that such a plan is; pods of applications that are not placed whole count as placed nowhere.
  std::vector<double> columns_of(const std::vector<std::uint32_t>& node_of) const;
  // The plan that such columns are, kNowhere for what is not placed.
  std::vector<std::uint32_t> node_of(std::span<const double> columns) const;

 private:
  friend class ModelBuilder;
  // What a column is, to be worked out from a plan.
  struct Meaning {
    enum class Kind : std::uint8_t { ones, accepted, both, least };
    Kind kind = Kind::ones;
    // ones: class (or all of them), set of nodes, k. accepted: application. both: two columns. least: the row
    // that it is just large enough for.
    std::uint32_t a = 0, b = 0, c = 0;
  };

  scheduling::GroupProblem problem_;
  PodClasses classes_;
  std::vector<std::vector<std::uint32_t>> places_;  // sets of nodes that columns speak of
  // Interchangeable sets of nodes: of each row, the earlier ones hold no fewer pods than the later.
  std::vector<std::vector<std::vector<std::uint32_t>>> alike_;
  MixedProgram program_;
  std::vector<Meaning> meanings_;
  std::vector<std::vector<std::uint32_t>> ones_;  // classes x nodes: first column and how many
  std::vector<std::uint32_t> accepted_;           // column of each application
  std::vector<std::uint32_t> accepted_of_;  // by number of application: index into accepted_, or kNowhere
};

}  // namespace evenkeel::optimum
