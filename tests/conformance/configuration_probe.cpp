// What a KubeSchedulerConfiguration comes to in our reading of it, as the judge describes it in
// kube-scheduler's: a line of JSON {"describe": text} in, a line of JSON out.
#include <iostream>
#include <nlohmann/json.hpp>

#include "kubernetes/scheduler_configuration.h"

namespace {

using namespace evenkeel::kubernetes;
using Json = nlohmann::json;

Json names(const std::vector<EnabledPlugin>& plugins) {
  Json all = Json::array();
  for (const EnabledPlugin& plugin : plugins) all.push_back(plugin.name);
  return all;
}

Json weights(const std::vector<ResourceWeight>& resources) {
  Json all = Json::array();
  for (const ResourceWeight& resource : resources) all.push_back({resource.name, resource.weight});
  return all;
}

Json percentage(const std::optional<std::int32_t>& value) { return value ? Json(*value) : Json(nullptr); }

double seconds(evenkeel::Duration duration) { return std::chrono::duration<double>(duration).count(); }

Json describe(const SchedulerProfile& profile) {
  Json score = Json::array(), shape = Json::array(), constraints = Json::array();
  for (const EnabledPlugin& plugin : profile.score) score.push_back({plugin.name, plugin.weight});
  for (const ShapePoint& point : profile.fit.shape) shape.push_back({point.utilization, point.score});
  for (const auto& constraint : profile.spread.constraints)
    constraints.push_back({constraint.max_skew, constraint.topology_key,
                           constraint.do_not_schedule ? "DoNotSchedule" : "ScheduleAnyway"});
  static constexpr const char* kStrategies[] = {"LeastAllocated", "MostAllocated",
                                                "RequestedToCapacityRatio"};
  return {{"schedulerName", profile.scheduler_name},
          {"percentageOfNodesToScore", percentage(profile.percentage_of_nodes_to_score)},
          {"preFilter", names(profile.pre_filter)},
          {"filter", names(profile.filter)},
          {"postFilter", names(profile.post_filter)},
          {"queueSort", names(profile.queue_sort)},
          {"bind", names(profile.bind)},
          {"score", score},
          {"fit",
           {kStrategies[static_cast<int>(profile.fit.strategy)], weights(profile.fit.resources), shape,
            profile.fit.ignored_resources, profile.fit.ignored_groups}},
          {"balanced", weights(profile.balanced.resources)},
          {"spread", {profile.spread.system_defaults ? "System" : "List", constraints}},
          {"interPod", {profile.inter_pod.hard_weight, profile.inter_pod.ignore_preferred_of_existing}},
          {"preemption", {profile.preemption.candidates_percent, profile.preemption.candidates_at_least}},
          {"bindTimeout", seconds(profile.volume_bind_timeout)},
          {"addedAffinity", profile.added_affinity.has_value()}};
}

Json describe(const SchedulerConfiguration& configuration) {
  const LeaderElection& election = configuration.leader_election;
  Json profiles = Json::array();
  for (const SchedulerProfile& profile : configuration.profiles) profiles.push_back(describe(profile));
  return {{"parallelism", configuration.parallelism},
          {"percentageOfNodesToScore", percentage(configuration.percentage_of_nodes_to_score)},
          {"backoff", {configuration.initial_backoff_s, configuration.max_backoff_s}},
          {"leaderElection",
           {election.elect, seconds(election.lease), seconds(election.renew_deadline),
            seconds(election.retry_period), election.name_space, election.name}},
          {"clientConnection",
           {configuration.client.kubeconfig, configuration.client.qps, configuration.client.burst}},
          {"profiles", profiles}};
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::string text = Json::parse(line).at("describe");
    const auto read = read_scheduler_configuration(text, "configuration");
    std::cout << (read ? Json{{"configuration", describe(*read)}} : Json{{"error", read.error().message}})
              << std::endl;
  }
}
