#include "scheduling/policies/drs_means.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookEvery = 5s;
constexpr double kMemory_s = 2 * 3600;   // in which the past loses all but 1/e of its weight
constexpr double kEndless_s = 600;       // how far ahead what runs for ever is counted
constexpr double kWorkScale = 1.0 / 20;  // both kinds of feature come to about one
constexpr double kNowScale = 20;
constexpr Eigen::Index kLookedAt = 16;  // nodes whose inputs are held against the trained ones

double expected_life_s(const prediction::Lifetime& life) {
  return life.endless ? kEndless_s : std::min(kEndless_s, life.median_s());
}

// Past its expected end a pod has about a fifth of its life before it: it must end some time.
double left_s(const prediction::Lifetime& life, double age_s) {
  const double whole = expected_life_s(life);
  return life.endless ? whole : std::max(whole - age_s, 0.2 * whole);
}

}  // namespace

learning::ScorerShape DrsMeans::shape(std::vector<int> hidden) {
  return {0, kNodeFeatures, 0, std::move(hidden)};
}

std::vector<NodeMetrics> deviation_changes(std::span<const NodeMetrics> values,
                                           std::span<const NodeMetrics> added) {
  std::vector<NodeMetrics> changes(values.size());
  const auto n = static_cast<double>(values.size());
  for (std::size_t d = 0; d < kDimensions; ++d) {
    double mean = 0, variance = 0;
    for (const NodeMetrics& node : values) mean += node[d] / n;
    for (const NodeMetrics& node : values) variance += (node[d] - mean) * (node[d] - mean) / n;
    const double before = std::sqrt(variance);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double a = added[i][d];
      const double after = variance + a * (2 * (values[i][d] - mean) + a * (1 - 1 / n)) / n;
      changes[i][d] = std::sqrt(std::max(0.0, after)) - before;
    }
  }
  return changes;
}

Result<std::unique_ptr<DrsMeans>> DrsMeans::from_model(const learning::Model& model) {
  if (model.encoding != kEncoding)
    return invalid("policy 'drs-means' needs a model of encoding 'drs-means', this one is of encoding '" +
                   model.encoding + "'");
  const learning::ModelNetwork* network = model.find("scorer");
  if (!network) return invalid("model: expected a network 'scorer', found none");
  learning::SharedScorer scorer(shape(network->shape.hidden));
  if (!(scorer.network().shape() == network->shape))
    return invalid("model: network 'scorer' has " + std::to_string(network->shape.inputs) + " inputs and " +
                   std::to_string(network->shape.outputs) + " outputs, expected " +
                   std::to_string(kNodeFeatures) + " and 1");
  std::copy(network->parameters.begin(), network->parameters.end(), scorer.parameters().begin());
  auto made = std::make_unique<DrsMeans>(std::move(scorer));
  made->check_.trained_on(model.inputs);
  return made;
}

learning::Model DrsMeans::model_of(const learning::SharedScorer& scorer) {
  learning::Model model;
  model.encoding = kEncoding;
  for (const auto& [what, scale] : {std::pair("change in deviation of work, ", kWorkScale),
                                    std::pair("change in deviation now, ", kNowScale)})
    for (const std::string_view dimension : kDimensionNames)
      model.normalisation.push_back({what + std::string(dimension), 0, 1 / scale});
  model.networks.push_back(
      {"scorer", scorer.network().shape(), {scorer.parameters().begin(), scorer.parameters().end()}});
  return model;
}

// Adds what the nodes did since the last look. Wherever a metric is no number, that time is left out.
void DrsMeans::look(const ClusterState& cluster, Time now) {
  const double passed = looked_ == Time::min() ? 0 : to_seconds(now - looked_);
  if (passed > 0) {
    const double fade = std::exp(-passed / kMemory_s);
    for (std::size_t i = 0; i < slots_.size(); ++i)
      for (std::size_t d = 0; d < kDimensions; ++d)
        done_[slots_[i]][d] = fade * done_[slots_[i]][d] + passed * now_[i][d];
  }
  looked_ = now;
  next_look_ = now + kLookEvery;

  slots_.clear();
  const std::size_t columns = cluster.columns().size();
  done_.resize(columns);
  known_.resize(columns);
  NodeMetrics mean{};
  double old = 0;
  for (std::uint32_t slot = 0; slot < columns; ++slot) {
    if (!cluster.has_node({slot})) {
      known_[slot] = 0;
      continue;
    }
    slots_.push_back(slot);
    if (!known_[slot]) continue;
    old += 1;
    for (std::size_t d = 0; d < kDimensions; ++d) mean[d] += done_[slot][d];
  }
  // A node that joins owes nothing: it starts from what the others did on average.
  for (const std::uint32_t slot : slots_) {
    if (known_[slot]) continue;
    for (std::size_t d = 0; d < kDimensions; ++d) done_[slot][d] = old > 0 ? mean[d] / old : 0;
    known_[slot] = 1;
  }
  auto metrics = node_metrics(cluster, slots_, {});
  if (metrics) {
    now_ = *std::move(metrics);
  } else {
    now_.clear();
    slots_.clear();
  }
}

std::vector<EvictPod> DrsMeans::review(const Retrospect& seen, Random&) {
  look(seen.cluster, seen.now);
  return {};
}

// What the node's pods will yet do, as far as anyone can tell.
NodeMetrics DrsMeans::under_way(const PlacementRequest& request, NodeId node) const {
  NodeMetrics work{};
  const NodeColumns& columns = request.cluster.columns();
  for (const PodId id : request.cluster.pods_on(node)) {
    const PodRecord& record = *request.cluster.pod(id);
    const double age = record.started ? to_seconds(request.now - record.since) : 0;
    const double left = left_s(request.history.lifetime(record.pod), age);
    for (std::size_t d = 0; d < kDimensions; ++d)
      work[d] += left * record.expected.mean.of[d] * static_cast<double>(columns.per_unit[d][node.slot]);
  }
  return work;
}

// False: there is no model, or nothing to go by.
bool DrsMeans::rate(const PlacementRequest& request) {
  check_.begin();
  if (!scorer_) return false;
  check_.found().silent = "no node has metrics that are fresh and numbers";
  if (!load_is_known(request)) return false;
  look(request.cluster, request.now);
  if (slots_.empty()) return false;
  const double life = expected_life_s(request.history.lifetime(request.pod));
  const NodeColumns& columns = request.cluster.columns();
  std::vector<NodeMetrics> work(slots_.size()), added(slots_.size()), added_work(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    work[i] = under_way(request, {slots_[i]});
    for (std::size_t d = 0; d < kDimensions; ++d) {
      work[i][d] += done_[slots_[i]][d];
      added[i][d] = request.demand.mean.of[d] * static_cast<double>(columns.per_unit[d][slots_[i]]);
      added_work[i][d] = added[i][d] * life;
    }
  }
  const std::vector<NodeMetrics> then = deviation_changes(work, added_work),
                                 now = deviation_changes(now_, added);
  features_.resize(kNodeFeatures, static_cast<Eigen::Index>(slots_.size()));
  for (std::size_t i = 0; i < slots_.size(); ++i)
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const auto column = static_cast<Eigen::Index>(i), row = static_cast<Eigen::Index>(d);
      features_(row, column) = kWorkScale * then[i][d];
      features_(row + static_cast<Eigen::Index>(kDimensions), column) = kNowScale * now[i][d];
    }
  if (!features_.allFinite()) return false;
  check_.found().silent = {};
  const Eigen::Index stride = std::max<Eigen::Index>(1, features_.cols() / kLookedAt);
  for (Eigen::Index column = 0; column < features_.cols(); column += stride)
    check_.look(0, std::span<const double>(features_.col(column).data(), kNodeFeatures), 0);
  const learning::Vector scores = scorer_->forward({}, features_, {});
  check_.found().finite = scores.allFinite();
  scores_.assign(request.feasible.size(), std::numeric_limits<float>::lowest());
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i] < scores_.size())
      scores_[slots_[i]] = static_cast<float>(scores[static_cast<Eigen::Index>(i)]);
  return true;
}

std::optional<NodeId> DrsMeans::choose(const PlacementRequest& request, Random& random) {
  if (!rate(request)) return fallback_.choose(request, random);
  return pick_highest(scores_, request.feasible, random);
}

ScoreSheet DrsMeans::explain(const PlacementRequest& request) {
  // Looking adds up time: what it changes is put back.
  const auto looked = looked_, next_look = next_look_;
  const auto done = done_;
  const bool rated = rate(request);
  ScoreSheet sheet;
  if (rated) {
    sheet.terms.emplace_back("score");
    for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
      if (request.feasible[slot]) sheet.rows.push_back({{slot}, {scores_[slot]}, scores_[slot]});
    sheet.put_best_first();
  }
  looked_ = looked;
  next_look_ = next_look;
  done_ = done;
  return rated ? sheet : fallback_.explain(request);
}

}  // namespace evenkeel::scheduling
