#include "scheduling/policies/evenkeel.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/vector_clones.h"
#include "scheduling/node_kernels.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

constexpr float kReach = 2;  // in the network's units
constexpr std::size_t kAsked = 64;
constexpr double kVagueLife = 0.25;  // spread of the logarithm of its life
constexpr float kOutOfReach = std::numeric_limits<float>::lowest();
constexpr std::size_t kLanes = learning::CachedScorer::kLanes;

EVENKEEL_VECTOR_CLONES
void scale(const float* from, float unit, std::size_t n, float* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i] * unit;
}

// Blocks of kLanes with a score of at least `limit`.
EVENKEEL_VECTOR_CLONES
void mark_blocks(const float* scores, std::size_t n, float limit, std::uint8_t* wanted) {
  for (std::size_t from = 0; from < n; from += kLanes) {
    const std::size_t lanes = n - from < kLanes ? n - from : kLanes;
    int above = 0;
    for (std::size_t i = 0; i < lanes; ++i) above += scores[from + i] >= limit ? 1 : 0;
    wanted[from / kLanes] = above > 0 ? 1 : 0;
  }
}

EVENKEEL_VECTOR_CLONES
void add_within(const float* learned, float limit, std::size_t n, float* scores, std::uint8_t* within) {
  for (std::size_t i = 0; i < n; ++i) {
    within[i] = scores[i] >= limit ? 1 : 0;
    scores[i] += scores[i] >= limit ? learned[i] : 0.0F;
  }
}

// Behind all others, yet in horizon's order and on its scale: whoever weighs scores against others' would see
// nothing but the distance otherwise.
EVENKEEL_VECTOR_CLONES
void keep_behind(const std::uint8_t* within, float lowest, std::size_t n, float* scores) {
  for (std::size_t i = 0; i < n; ++i) {
    const float behind = scores[i] < lowest ? scores[i] : lowest;
    scores[i] = within[i] ? scores[i] : behind;
  }
}

// Where there are many nodes: a score that about kAsked of the feasible ones reach, from a sample.
float about_the_best(std::span<const float> scores, std::span<const std::uint8_t> feasible,
                     std::vector<float>& sample) {
  if (scores.size() < kManyNodes) return kOutOfReach;
  const std::size_t stride = scores.size() / kManyNodes;
  sample.clear();
  for (std::size_t i = 0; i < scores.size(); i += stride)
    if (feasible[i]) sample.push_back(scores[i]);
  const std::size_t reach_it = kAsked / stride;
  if (sample.size() <= reach_it) return kOutOfReach;
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(reach_it);
  std::nth_element(sample.begin(), at, sample.end(), std::greater<>());
  return *at;
}

// What was learnt counts as far as the pod's life can be told: fully where it is known to the percent, not at
// all where it may as well be half or twice as long, or nobody has seen one end.
float trust_in(const prediction::Lifetime& life) {
  if (life.endless) return 0;
  return static_cast<float>(std::clamp(1 - life.log_spread / kVagueLife, 0.0, 1.0));
}

}  // namespace

Result<std::unique_ptr<PlacementPolicy>> Evenkeel::make(const learning::Model* model) {
  using Made = Result<std::unique_ptr<PlacementPolicy>>;
  if (!model) return Made(std::make_unique<Horizon>());
  if (model->encoding != EvenkeelEncoding::kName)
    return invalid("the model's encoding is '" + model->encoding + "', evenkeel reads '" +
                   std::string(EvenkeelEncoding::kName) + "'");
  const learning::ModelNetwork* network = model->find("scorer");
  if (!network) return invalid("the model has no network 'scorer'");
  learning::SharedScorer scorer(EvenkeelEncoding::shape(network->shape.hidden));
  if (network->shape != scorer.network().shape())
    return invalid("the model's network 'scorer' takes " + std::to_string(network->shape.inputs) +
                   " features, evenkeel gives " + std::to_string(scorer.network().shape().inputs));
  std::copy(network->parameters.begin(), network->parameters.end(), scorer.parameters().begin());
  auto made = std::make_unique<Evenkeel>(scorer);
  made->check_.trained_on(model->inputs);
  return Made(std::move(made));
}

void Evenkeel::rate(const PlacementRequest& request) {
  const std::span<const float> base = rule_.rate(request);
  const bool average_is_same = encoding_.update(request, rule_);
  const std::size_t nodes = base.size();
  std::array<float, EvenkeelEncoding::kNode> features;
  const auto refresh = [&](std::uint32_t slot) {
    if (!request.cluster.has_node({slot})) return;
    encoding_.node(request, rule_, {slot}, features);
    scorer_.set_node(slot, features);
  };
  const bool grown = scorer_.size() != nodes;
  if (grown) scorer_.resize(nodes);
  if (grown || !average_is_same) {
    for (std::uint32_t slot = 0; slot < nodes; ++slot) refresh(slot);
  } else {
    for (const std::uint32_t slot : rule_.forecasts().renewed()) refresh(slot);
  }
  std::array<float, EvenkeelEncoding::kItem> item;
  std::array<float, EvenkeelEncoding::kSummary> summary;
  encoding_.item(request, rule_, item);
  encoding_.summary(request, rule_, summary);
  const float unit = kBasePerNode * static_cast<float>(request.cluster.node_count());
  scores_.resize(nodes);
  scale(base.data(), unit, nodes, scores_.data());
  learned_.assign(nodes, 0.0F);
  const float highest = highest_score(scores_.data(), request.feasible.data(), nodes);
  look_at_inputs(request, item, summary, highest);
  const float trust = trust_in(request.history.lifetime(request.pod));
  if (trust <= 0) return;

  // Nodes that horizon finds far worse than its best stay behind, unasked.
  const float reach = std::max(highest - kReach, about_the_best(scores_, request.feasible, sample_));
  wanted_.resize((nodes + kLanes - 1) / kLanes);
  mark_blocks(scores_.data(), nodes, reach, wanted_.data());
  scorer_.score(item, summary, learned_, wanted_);
  scale(learned_.data(), trust, nodes, learned_.data());
  within_.resize(nodes);
  add_within(learned_.data(), reach, nodes, scores_.data(), within_.data());
  const float lowest = span_of_scores(scores_.data(), within_.data(), nodes).low;
  keep_behind(within_.data(), lowest - 1, nodes, scores_.data());
}

// The pod, all nodes together, and of the nodes the one that horizon likes best: it stands for those between
// which it will be decided.
void Evenkeel::look_at_inputs(const PlacementRequest& request, std::span<const float> item,
                              std::span<const float> summary, float highest) {
  constexpr double kLimit = EvenkeelEncoding::kFeatureLimit;
  check_.look(0, item, kLimit);
  check_.look(EvenkeelEncoding::kItem + EvenkeelEncoding::kNode, summary, kLimit);
  for (std::uint32_t slot = 0; slot < scores_.size(); ++slot) {
    if (!request.feasible[slot] || scores_[slot] < highest) continue;
    std::array<float, EvenkeelEncoding::kNode> features;
    encoding_.node(request, rule_, {slot}, features);
    check_.look(EvenkeelEncoding::kItem, features, kLimit);
    return;
  }
}

std::span<const float> Evenkeel::scores(const PlacementRequest& request) {
  check_.begin();
  if (!load_is_known(request)) return rule_.scores(request);
  rate(request);
  check_.found().finite = all_finite(scores_.data(), scores_.size());
  return scores_;
}

std::optional<NodeId> Evenkeel::choose(const PlacementRequest& request, Random& random) {
  return pick_highest(scores(request), request.feasible, random);
}

ScoreSheet Evenkeel::explain(const PlacementRequest& request) {
  check_.begin();
  if (!load_is_known(request)) return rule_.explain(request);
  rate(request);
  ScoreSheet sheet{{"horizon", "learned"}, {}};
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot])
      sheet.rows.push_back({{slot},
                            {static_cast<double>(scores_[slot]) - static_cast<double>(learned_[slot]),
                             static_cast<double>(learned_[slot])},
                            scores_[slot]});
  sheet.put_best_first();
  return sheet;
}

Evenkeel::Encoded Evenkeel::encode(const PlacementRequest& request, Horizon& horizon,
                                   EvenkeelEncoding& encoding) {
  const std::span<const float> base = horizon.rate(request);
  encoding.update(request, horizon);
  Encoded encoded;
  encoded.item.resize(EvenkeelEncoding::kItem);
  encoded.summary.resize(EvenkeelEncoding::kSummary);
  encoding.item(request, horizon, encoded.item);
  encoding.summary(request, horizon, encoded.summary);
  const float unit = kBasePerNode * static_cast<float>(request.cluster.node_count());
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    encoded.nodes.push_back({slot});
    encoded.base.push_back(unit * base[slot]);
    encoded.features.resize(encoded.features.size() + EvenkeelEncoding::kNode);
    encoding.node(request, horizon, {slot}, std::span(encoded.features).last(EvenkeelEncoding::kNode));
  }
  return encoded;
}

}  // namespace evenkeel::scheduling
