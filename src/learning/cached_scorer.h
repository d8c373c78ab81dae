#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learning/shared_scorer.h"

namespace evenkeel::learning {

// A trained SharedScorer, fast over thousands of nodes: in float, with each node's share of the first layer
// kept and recomputed only when the node changes. Scores are the scorer's to float precision, and the same
// bit for bit on every machine, however wide its vectors.
class CachedScorer {
 public:
  explicit CachedScorer(const SharedScorer& scorer);

  // New nodes begin with all features zero.
  void resize(std::size_t nodes);
  std::size_t size() const { return nodes_; }
  void set_node(std::size_t node, std::span<const float> features);

  // scores[i] belongs to node i; one per node.
  void score(std::span<const float> item, std::span<const float> summary, std::span<float> scores) const {
    score(item, summary, scores, {});
  }
  // The same for the blocks of kLanes nodes that are wanted (a byte each; none given: all). What is left out
  // keeps the score it has.
  void score(std::span<const float> item, std::span<const float> summary, std::span<float> scores,
             std::span<const std::uint8_t> wanted) const;

  static constexpr std::size_t kLanes = 16;  // nodes scored side by side

 private:
  struct Layer {
    std::size_t inputs, outputs;
    std::vector<float> weights, biases;  // a run of inputs per output
  };

  ScorerShape shape_;
  std::size_t width_;  // of the first layer
  std::vector<float> item_, node_, summary_,
      bias_;  // the first layer in its parts: a run of outputs per feature
  std::vector<Layer> rest_;
  std::size_t nodes_ = 0;
  std::vector<float> shares_;  // by blocks of kLanes nodes: per first-layer output, the lanes side by side
};

}  // namespace evenkeel::learning
