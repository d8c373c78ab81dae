#include "learning/cached_scorer.h"

#include <algorithm>

#include "base/check.h"
#include "base/vector_clones.h"

namespace evenkeel::learning {
namespace {

std::vector<float> floats(std::span<const Real> values) {
  std::vector<float> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](Real v) { return static_cast<float>(v); });
  return result;
}

void add_weighted(std::span<const float> features, const std::vector<float>& weights, std::span<float> sums) {
  for (std::size_t f = 0; f < features.size(); ++f)
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += weights[f * sums.size() + k] * features[f];
}

// out[j] = relu(sum_k weights[j][k] * in[k] + biases[j]), sixteen nodes at a time; the last layer keeps its
// sign.
EVENKEEL_VECTOR_CLONES
void dense_block(const float* weights, const float* biases, std::size_t inputs, std::size_t outputs,
                 bool last, const float* in, float* out) {
  for (std::size_t j = 0; j < outputs; ++j) {
    Floats16 sum = Floats16{} + biases[j], value;
    for (std::size_t k = 0; k < inputs; ++k) {
      load(value, in + 16 * k);
      sum += value * weights[j * inputs + k];
    }
    if (!last) sum = sum > 0 ? sum : Floats16{};
    std::memcpy(out + 16 * j, &sum, sizeof(sum));
  }
}

EVENKEEL_VECTOR_CLONES
void first_layer(const float* shares, const float* common, std::size_t width, float* out) {
  Floats16 value;
  for (std::size_t k = 0; k < width; ++k) {
    load(value, shares + 16 * k);
    value += common[k];
    value = value > 0 ? value : Floats16{};
    std::memcpy(out + 16 * k, &value, sizeof(value));
  }
}

// The usual shape, one hidden layer, in one go: nothing leaves the registers but the scores.
EVENKEEL_VECTOR_CLONES
void score_blocks(const float* shares, const float* common, const float* weights, float bias,
                  std::size_t width, std::size_t blocks, float* scores) {
  for (std::size_t b = 0; b < blocks; ++b) {
    Floats16 sum = Floats16{} + bias, value;
    for (std::size_t k = 0; k < width; ++k) {
      load(value, shares + 16 * (b * width + k));
      value += common[k];
      sum += (value > 0 ? value : Floats16{}) * weights[k];
    }
    std::memcpy(scores + 16 * b, &sum, sizeof(sum));
  }
}

}  // namespace

CachedScorer::CachedScorer(const SharedScorer& scorer) : shape_(scorer.shape()) {
  const Network& network = scorer.network();
  const Network::Layer& first = network.layers().front();
  width_ = static_cast<std::size_t>(first.outputs);
  // Weights lie a column per input, so the three parts are three runs.
  const auto part = [&](int from, int count) {
    return floats(network.parameters().subspan(first.weights + static_cast<std::size_t>(from) * width_,
                                               static_cast<std::size_t>(count) * width_));
  };
  item_ = part(0, shape_.item);
  node_ = part(shape_.item, shape_.node);
  summary_ = part(shape_.item + shape_.node, shape_.summary);
  bias_ = floats(network.parameters().subspan(first.biases, width_));
  for (std::size_t i = 1; i < network.layers().size(); ++i) {
    const Network::Layer& from = network.layers()[i];
    Layer to{static_cast<std::size_t>(from.inputs), static_cast<std::size_t>(from.outputs), {}, {}};
    to.weights.resize(to.inputs * to.outputs);
    for (std::size_t k = 0; k < to.inputs; ++k)
      for (std::size_t j = 0; j < to.outputs; ++j)
        to.weights[j * to.inputs + k] =
            static_cast<float>(network.parameters()[from.weights + k * to.outputs + j]);
    to.biases = floats(network.parameters().subspan(from.biases, to.outputs));
    rest_.push_back(std::move(to));
  }
}

void CachedScorer::resize(std::size_t nodes) {
  // A node that leaves takes its share with it: its lane may be another's one day.
  for (std::size_t node = nodes; node < nodes_; ++node)
    set_node(node, std::vector<float>(static_cast<std::size_t>(shape_.node)));
  nodes_ = nodes;
  shares_.resize((nodes + kLanes - 1) / kLanes * kLanes * width_);
}

void CachedScorer::set_node(std::size_t node, std::span<const float> features) {
  EVENKEEL_CHECK(node < nodes_ && static_cast<int>(features.size()) == shape_.node);
  std::vector<float> share(width_);
  add_weighted(features, node_, share);
  float* const lane = shares_.data() + node / kLanes * kLanes * width_ + node % kLanes;
  for (std::size_t k = 0; k < width_; ++k) lane[k * kLanes] = share[k];
}

void CachedScorer::score(std::span<const float> item, std::span<const float> summary, std::span<float> scores,
                         std::span<const std::uint8_t> wanted) const {
  EVENKEEL_CHECK(static_cast<int>(item.size()) == shape_.item && scores.size() == nodes_);
  EVENKEEL_CHECK(static_cast<int>(summary.size()) == shape_.summary);
  std::vector<float> common = bias_;
  add_weighted(item, item_, common);
  add_weighted(summary, summary_, common);

  std::size_t widest = width_;
  for (const Layer& layer : rest_) widest = std::max(widest, layer.outputs);
  std::vector<float> in(widest * kLanes), out(widest * kLanes);
  const std::size_t whole = rest_.size() == 1 ? nodes_ / kLanes : 0;
  const auto is_wanted = [&](std::size_t block) { return wanted.empty() || wanted[block] != 0; };
  for (std::size_t from = 0; from < whole;) {  // runs of wanted blocks
    std::size_t to = from;
    while (to < whole && is_wanted(to)) ++to;
    if (to > from)
      score_blocks(shares_.data() + from * kLanes * width_, common.data(), rest_[0].weights.data(),
                   rest_[0].biases[0], width_, to - from, scores.data() + from * kLanes);
    from = to + 1;
  }
  for (std::size_t begin = whole * kLanes; begin < nodes_; begin += kLanes) {
    if (!is_wanted(begin / kLanes)) continue;
    first_layer(shares_.data() + begin * width_, common.data(), width_, in.data());
    for (const Layer& layer : rest_) {
      dense_block(layer.weights.data(), layer.biases.data(), layer.inputs, layer.outputs,
                  &layer == &rest_.back(), in.data(), out.data());
      std::swap(in, out);
    }
    std::copy_n(in.data(), std::min(kLanes, nodes_ - begin), scores.data() + begin);
  }
}

}  // namespace evenkeel::learning
