#include "scheduling/policies/network.h"

#include <algorithm>
#include <cmath>

#include "scheduling/filters/filter.h"
#include "scheduling/node_kernels.h"
#include "scheduling/pod_network.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

// The profile's scorers, the default profile's where it names none.
std::vector<ScorePlugin>& scorers_of(SchedulingOptions& options) {
  if (!options.profile.scorers) {
    options.profile.scorers.emplace();
    for (const Scorer& scorer : kube_default_scorers(options.kube))
      options.profile.scorers->push_back(
          {std::string(scorer.plugin), static_cast<std::int32_t>(scorer.weight)});
  }
  return *options.profile.scorers;
}

void enable_scorer(const std::string& name, std::int32_t weight, SchedulingOptions& options) {
  std::vector<ScorePlugin>& scorers = scorers_of(options);
  if (std::none_of(scorers.begin(), scorers.end(),
                   [&](const ScorePlugin& plugin) { return plugin.name == name; }))
    scorers.push_back({name, weight});
}

}  // namespace

void prepare_network(SchedulingOptions& options) {
  enable_filter(kNetworkFit.plugin, options.profile);
  enable_scorer("NetworkScore", Network::kNetworkWeight, options);
  if (!options.profile.topological_sort) options.profile.topological_sort.emplace();
  options.joint.on = true;
}

// Upstream's file disables NodeResourcesFit at multiPoint, and with its score its filter: nobody would then
// see to it that pods fit. Only the score competes with NetworkOverhead's, so only the score goes.
void prepare_diktyo(SchedulingOptions& options) {
  constexpr std::int32_t kUpstreamWeight = 5;
  enable_filter(kNetworkOverhead.plugin, options.profile);
  std::erase_if(scorers_of(options),
                [](const ScorePlugin& plugin) { return plugin.name == kResourceFit.plugin; });
  enable_scorer(std::string(kNetworkOverhead.plugin), kUpstreamWeight, options);
  if (!options.profile.topological_sort)
    options.profile.topological_sort =
        options.profile.network.given ? options.profile.network.namespaces : std::vector<std::string>{};
}

void Network::rate_load(const PlacementRequest& request, Column<float>& part) {
  part.assign(request.feasible.size(), 0.0F);
  if (!load_is_known(request)) return;
  const std::span<const float> opinion = load_.scores(request);
  const ScoreSpan span = span_of_scores(opinion.data(), request.feasible.data(), opinion.size());
  if (!(span.high > span.low)) return;
  const double low = span.low, width = static_cast<double>(span.high) - low;
  for (std::size_t i = 0; i < part.size(); ++i)
    if (request.feasible[i])
      part[i] =
          static_cast<float>(kLoadWeight * std::floor(100 * (static_cast<double>(opinion[i]) - low) / width));
}

std::span<const float> Network::scores(const PlacementRequest& request) {
  const std::span<const float> plugins = plugins_.scores(request);
  rate_load(request, part_);
  total_.assign(plugins.begin(), plugins.end());
  for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += part_[i];
  return total_;
}

std::optional<NodeId> Network::choose(const PlacementRequest& request, Random& random) {
  return pick_highest(scores(request), request.feasible, random);
}

ScoreSheet Network::explain(const PlacementRequest& request) {
  ScoreSheet sheet = plugins_.explain(request);
  if (load_is_known(request)) {
    rate_load(request, part_);
    sheet.terms.emplace_back("Load");
    sheet.weights.push_back(kLoadWeight);
    for (ScoreSheet::Row& row : sheet.rows) {
      row.parts.push_back(part_[row.node.slot]);
      row.total += part_[row.node.slot];
    }
    sheet.put_best_first();
  }
  const PodNetwork network(request.pod, request.cluster, request.options.profile.network);
  if (!network.missing().empty()) sheet.note = "the network is left out: " + network.missing();
  if (request.planned)
    sheet.note = "planned together with " + std::to_string(request.planned_with) + " others of its group";
  return sheet;
}

}  // namespace evenkeel::scheduling
