#include "scheduling/policies/evenkeel.h"

#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {

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
  return Made(std::make_unique<Evenkeel>(scorer));
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
  learned_.assign(nodes, 0.0F);
  if (!request.history.lifetime(request.pod).endless) scorer_.score(item, summary, learned_);
  scores_.resize(nodes);
  const float unit = kBasePerNode * static_cast<float>(request.cluster.node_count());
  for (std::size_t i = 0; i < nodes; ++i) scores_[i] = unit * base[i] + learned_[i];
}

std::optional<NodeId> Evenkeel::choose(const PlacementRequest& request, Random& random) {
  if (!load_is_known(request)) return rule_.choose(request, random);
  rate(request);
  return pick_highest(scores_, request.feasible, random);
}

ScoreSheet Evenkeel::explain(const PlacementRequest& request) {
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
