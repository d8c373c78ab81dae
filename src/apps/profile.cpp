#include "apps/profile.h"

#include <algorithm>

#include "apps/live_learning.h"
#include "scheduling/policies/blended_scores.h"

namespace evenkeel::apps {
namespace {

using kubernetes::EnabledPlugin;
using kubernetes::SchedulerProfile;

constexpr std::string_view kOurs = "Evenkeel";

const EnabledPlugin* find(const std::vector<EnabledPlugin>& plugins, std::string_view name) {
  const auto at = std::find_if(plugins.begin(), plugins.end(),
                               [&](const EnabledPlugin& plugin) { return plugin.name == name; });
  return at == plugins.end() ? nullptr : &*at;
}

std::vector<std::string> names_of(const std::vector<EnabledPlugin>& plugins) {
  std::vector<std::string> names;
  for (const EnabledPlugin& plugin : plugins) names.push_back(plugin.name);
  return names;
}

std::vector<scheduling::ResourceWeight> weights_of(const std::vector<kubernetes::ResourceWeight>& weights) {
  std::vector<scheduling::ResourceWeight> all;
  for (const kubernetes::ResourceWeight& weight : weights) all.push_back({weight.name, weight.weight});
  return all;
}

}  // namespace

scheduling::Profile profile_of(const kubernetes::SchedulerConfiguration& configuration,
                               const SchedulerProfile& profile) {
  scheduling::Profile made;
  const SchedulerProfile usual = kubernetes::default_profile();
  if (profile.filter != usual.filter) made.filters = names_of(profile.filter);
  if (profile.pre_filter != usual.pre_filter) made.pre_filters = names_of(profile.pre_filter);
  std::vector<scheduling::ScorePlugin> scorers;
  for (const EnabledPlugin& plugin : profile.score)
    if (plugin.name != kOurs) scorers.push_back({plugin.name, plugin.weight});
  made.scorers = std::move(scorers);
  made.preemption = find(profile.post_filter, "DefaultPreemption") != nullptr;

  made.fit = profile.fit.strategy == kubernetes::ScoringStrategy::most_allocated
                 ? scheduling::FitStrategy::most_allocated
             : profile.fit.strategy == kubernetes::ScoringStrategy::requested_to_capacity_ratio
                 ? scheduling::FitStrategy::requested_to_capacity_ratio
                 : scheduling::FitStrategy::least_allocated;
  made.fit_resources = weights_of(profile.fit.resources);
  for (const kubernetes::ShapePoint& point : profile.fit.shape)
    made.fit_shape.push_back({point.utilization, point.score});
  made.ignored_resources = profile.fit.ignored_resources;
  made.ignored_resource_groups = profile.fit.ignored_groups;
  made.balanced_resources = weights_of(profile.balanced.resources);
  if (!profile.spread.system_defaults) made.default_spread = profile.spread.constraints;
  made.hard_pod_affinity_weight = profile.inter_pod.hard_weight;
  made.ignore_preferred_terms_of_existing_pods = profile.inter_pod.ignore_preferred_of_existing;
  made.added_affinity = profile.added_affinity;
  made.min_candidate_nodes_percentage = profile.preemption.candidates_percent;
  made.min_candidate_nodes_absolute = profile.preemption.candidates_at_least;
  made.network = {profile.network.namespaces, profile.network.weights_name, profile.network.topology_name,
                  profile.network.given};
  if (find(profile.queue_sort, "TopologicalSort")) made.topological_sort = profile.sort_namespaces;
  made.percentage_of_nodes_to_score = profile.percentage_of_nodes_to_score
                                          ? profile.percentage_of_nodes_to_score
                                          : configuration.percentage_of_nodes_to_score;
  return made;
}

std::vector<std::string> warnings_of(const kubernetes::SchedulerConfiguration& configuration) {
  std::vector<std::string> warnings;
  for (const SchedulerProfile& profile : configuration.profiles)
    if (!find(profile.filter, "NodeResourcesFit"))
      warnings.push_back(
          "profile " + profile.scheduler_name +
          ": NodeResourcesFit is disabled with its filter, so pods are placed whether or not they "
          "fit; to drop its score alone, disable it under score instead of multiPoint");
  return warnings;
}

Result<scheduling::PolicySetup> set_up_profile(const kubernetes::SchedulerConfiguration& configuration,
                                               const SchedulerProfile& profile,
                                               const scheduling::PolicyModels& models,
                                               LiveLearning* learning) {
  scheduling::SchedulingOptions options;
  options.profile = profile_of(configuration, profile);
  const EnabledPlugin* ours = find(profile.score, kOurs);
  if (!ours) {
    Result<scheduling::PolicySetup> setup = scheduling::set_up_policy("kube-default", options, models);
    if (setup) setup->name = profile.scheduler_name;
    return setup;
  }
  Result<scheduling::PolicySetup> setup = scheduling::set_up_policy(profile.evenkeel.policy, options, models);
  if (!setup) return setup;
  if (learning && profile.evenkeel.learning.online) {
    setup->name = profile.scheduler_name;
    if (const Status begun = learning->begin(profile, models, *setup); !begun) return begun.error();
    return setup;
  }
  setup->policy =
      std::make_unique<scheduling::BlendedScores>(std::string(kOurs), ours->weight, std::move(setup->policy));
  setup->name = profile.scheduler_name;
  return setup;
}

}  // namespace evenkeel::apps
