#pragma once
#include <span>
#include <vector>

#include "base/random.h"
#include "learning/network.h"
#include "learning/real.h"

namespace evenkeel::learning {

struct ScorerShape {
  int item = 0;     // features of what is to be placed
  int node = 0;     // features of one place
  int summary = 0;  // features of all places together
  std::vector<int> hidden{32};

  bool operator==(const ScorerShape&) const = default;
};

// One small network rates every node from (item, node, summary of all nodes), so that one model serves any
// number of nodes in any order: permuting the nodes permutes the scores and changes nothing else (the
// per-node half of DeepSets, Zaheer et al. 2017; the summary is their pooled half, made by the caller).
//
// In the first layer the three parts add up, W [item; node; summary] = W_i item + W_n node + W_s summary: a
// node's share changes only when the node does. CachedScorer makes use of that; here, for training, the three
// are simply stacked.
class SharedScorer {
 public:
  explicit SharedScorer(ScorerShape shape);  // all parameters zero
  SharedScorer(ScorerShape shape, Random& random);

  const ScorerShape& shape() const { return shape_; }
  const Network& network() const { return network_; }
  std::span<Real> parameters() { return network_.parameters(); }
  std::span<const Real> parameters() const { return network_.parameters(); }

  // `nodes` has a column per node; a score per node comes back.
  Vector forward(std::span<const Real> item, const Matrix& nodes, std::span<const Real> summary) const;
  Vector forward(std::span<const Real> item, const Matrix& nodes, std::span<const Real> summary,
                 Network::Trace& trace) const;

  // Adds d loss / d parameters to `gradient`, given d loss / d scores.
  void backward(const Network::Trace& trace, const Vector& score_gradient, std::span<Real> gradient) const;

 private:
  Matrix stacked(std::span<const Real> item, const Matrix& nodes, std::span<const Real> summary) const;

  ScorerShape shape_;
  Network network_;
};

}  // namespace evenkeel::learning
