#include "kubernetes/scheduler_configuration.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

SchedulerConfiguration read(const std::string& rest) {
  const auto configuration = read_scheduler_configuration(std::string(kHead) + rest, "config.yaml");
  EXPECT_TRUE(configuration) << configuration.error().message;
  return configuration ? *configuration : SchedulerConfiguration{};
}
std::string error_of(const std::string& rest) {
  const auto configuration = read_scheduler_configuration(std::string(kHead) + rest, "config.yaml");
  return configuration ? "no error" : configuration.error().message;
}
std::vector<std::string> names(const std::vector<EnabledPlugin>& plugins) {
  std::vector<std::string> all;
  for (const EnabledPlugin& plugin : plugins) all.push_back(plugin.name);
  return all;
}

TEST(SchedulerConfiguration, IsTheDefaultProfileWhenItSaysNothing) {
  const SchedulerConfiguration configuration = read("");
  ASSERT_EQ(configuration.profiles.size(), 1U);
  const SchedulerProfile& profile = configuration.profiles[0];
  EXPECT_EQ(profile.scheduler_name, "default-scheduler");
  EXPECT_EQ(names(profile.filter),
            (std::vector<std::string>{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity",
                                      "NodePorts", "NodeResourcesFit", "VolumeRestrictions",
                                      "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
                                      "InterPodAffinity", "NodeDeclaredFeatures"}));
  EXPECT_EQ(profile.score[0], (EnabledPlugin{"TaintToleration", 3}));
  EXPECT_TRUE(profile.spread.system_defaults);
  EXPECT_EQ(configuration.leader_election.lease, std::chrono::seconds{15});
}

TEST(SchedulerConfiguration, PutsReconfiguredScoresFirstAndLeavesOutDisabledOnes) {
  const SchedulerProfile profile = read(R"(
profiles:
- schedulerName: mine
  plugins:
    score:
      enabled: [{name: ImageLocality, weight: 7}]
      disabled: [{name: TaintToleration}]
)")
                                       .profiles[0];
  EXPECT_EQ(profile.score[0], (EnabledPlugin{"ImageLocality", 7}));
  const auto scores = names(profile.score), filters = names(profile.filter);
  EXPECT_EQ(std::count(scores.begin(), scores.end(), "TaintToleration"), 0);
  EXPECT_EQ(std::count(filters.begin(), filters.end(), "TaintToleration"), 1);
}

TEST(SchedulerConfiguration, DisablesEverywhereByMultiPoint) {
  const SchedulerProfile profile = read(R"(
profiles:
- plugins: {multiPoint: {disabled: [{name: "*"}], enabled: [{name: PrioritySort}, {name: DefaultBinder},
            {name: NodeResourcesFit, weight: 4}]}}
)")
                                       .profiles[0];
  EXPECT_EQ(names(profile.filter), std::vector<std::string>{"NodeResourcesFit"});
  EXPECT_EQ(profile.score, (std::vector<EnabledPlugin>{{"NodeResourcesFit", 4}}));
}

TEST(SchedulerConfiguration, TakesOurPoliciesAsAPlugin) {
  const SchedulerProfile profile = read(R"(
profiles:
- plugins: {score: {enabled: [{name: Evenkeel, weight: 5}]}}
  pluginConfig: [{name: Evenkeel, args: {policy: horizon}}]
)")
                                       .profiles[0];
  EXPECT_EQ(profile.score.back(), (EnabledPlugin{"Evenkeel", 5}));
  EXPECT_EQ(profile.evenkeel.policy, "horizon");
}

// As scheduler-plugins' manifests/appgroup/scheduler-config.yaml has it.
constexpr const char* kNetworkAware = R"(
profiles:
- schedulerName: network-aware-scheduler
  plugins:
    multiPoint:
      enabled: [{name: NetworkOverhead, weight: 5}]
      disabled: [{name: NodeResourcesFit}]
    queueSort:
      enabled: [{name: TopologicalSort}]
      disabled: [{name: "*"}]
  pluginConfig:
  - name: TopologicalSort
    args: {namespaces: [default]}
  - name: NetworkOverhead
    args: {namespaces: [default, shops], weightsName: NetperfCosts, networkTopologyName: net-topology-test}
)";

TEST(SchedulerConfiguration, TakesUpstreamsNetworkAwareProfileAsItIsWritten) {
  const SchedulerProfile profile = read(kNetworkAware).profiles[0];
  EXPECT_EQ(names(profile.queue_sort), std::vector<std::string>{"TopologicalSort"});
  EXPECT_EQ(profile.score.back(), (EnabledPlugin{"NetworkOverhead", 5}));
  EXPECT_EQ(profile.filter.back().name, "NetworkOverhead");
  EXPECT_EQ(profile.pre_filter.back().name, "NetworkOverhead");
  const auto filters = names(profile.filter);
  EXPECT_EQ(std::count(filters.begin(), filters.end(), "NodeResourcesFit"), 0);  // the user wrote so
  EXPECT_EQ(profile.network.namespaces, (std::vector<std::string>{"default", "shops"}));
  EXPECT_EQ(profile.network.weights_name, "NetperfCosts");
  EXPECT_EQ(profile.network.topology_name, "net-topology-test");
}

TEST(SchedulerConfiguration, FillsInUpstreamsArgumentsAndRefusesContradictoryOnes) {
  const SchedulerProfile profile = read(R"(
profiles:
- plugins: {filter: {enabled: [{name: NodeNetworkCostFit}]}, score: {enabled: [{name: NetworkMinCost, weight: 2}]}}
  pluginConfig: [{name: NetworkMinCost, args: {}}, {name: TopologicalSort, args: {}}]
)")
                                       .profiles[0];
  EXPECT_EQ(profile.network.namespaces, std::vector<std::string>{"default"});
  EXPECT_EQ(profile.network.weights_name, "UserDefined");
  EXPECT_EQ(profile.network.topology_name, "nt-default");
  EXPECT_NE(error_of(R"(
profiles:
- pluginConfig: [{name: NetworkOverhead, args: {networkTopologyName: a}}, {name: NetworkFit, args: {networkTopologyName: b}}]
)")
                .find("expected the same as the profile's other network plugins have"),
            std::string::npos);
  EXPECT_NE(error_of("profiles: [{pluginConfig: [{name: NetworkOverhead, args: {weights: a}}]}]")
                .find("unknown field"),
            std::string::npos);
}

TEST(SchedulerConfiguration, SaysHowAPolicyLearns) {
  const auto learning = [](const std::string& text) {
    return read("profiles: [{pluginConfig: [{name: Evenkeel, args: {policy: drs, learning: " + text + "}}]}]")
        .profiles[0]
        .evenkeel.learning;
  };
  EXPECT_FALSE(learning("{}").online);
  EXPECT_EQ(learning("{}").explore, 0.02);
  EXPECT_EQ(learning("{}").reward_after, std::chrono::seconds{5});
  const LearningArguments all = learning(
      "{online: true, explore: 0.5, rewardAfter: 1m30s, neverExplore: {namespaces: [a, b], "
      "priorityAtLeast: 7}}");
  EXPECT_TRUE(all.online);
  EXPECT_EQ(all.explore, 0.5);
  EXPECT_EQ(all.reward_after, std::chrono::seconds{90});
  EXPECT_EQ(all.never_explore_namespaces, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all.never_explore_priority, 7);
  for (const char* wrong : {"{offline: true}", "{explore: 2}", "{explore: -0.1}", "{rewardAfter: soon}",
                            "{rewardAfter: 20m}", "{neverExplore: {names: []}}"})
    EXPECT_FALSE(read_scheduler_configuration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: "
        "[{pluginConfig: [{name: Evenkeel, args: {learning: " +
            std::string(wrong) + "}}]}]",
        "test"))
        << wrong;
}

TEST(SchedulerConfiguration, ReadsArguments) {
  const SchedulerProfile profile = read(R"(
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      ignoredResourceGroups: [example.com]
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}, {name: example.com/gpu}]}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 0}
  - name: PodTopologySpread
    args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 5}
)")
                                       .profiles[0];
  EXPECT_EQ(profile.fit.strategy, ScoringStrategy::most_allocated);
  EXPECT_EQ(profile.fit.resources, (std::vector<ResourceWeight>{{"cpu", 3}, {"example.com/gpu", 1}}));
  EXPECT_EQ(profile.fit.ignored_groups, std::vector<std::string>{"example.com"});
  EXPECT_EQ(profile.inter_pod.hard_weight, 0);
  EXPECT_FALSE(profile.spread.system_defaults);
  EXPECT_EQ(profile.spread.constraints.size(), 1U);
  EXPECT_EQ(profile.preemption.candidates_percent, 5);
}

TEST(SchedulerConfiguration, ReadsTheRestOfAFileAsKubeadmWritesIt) {
  const SchedulerConfiguration configuration = read(R"(
clientConnection: {acceptContentTypes: "", burst: 100, contentType: application/vnd.kubernetes.protobuf,
                   kubeconfig: /etc/kubernetes/scheduler.conf, qps: 50}
delayCacheUntilActive: false
enableContentionProfiling: true
enableProfiling: true
leaderElection: {leaderElect: true, leaseDuration: 1m0s, renewDeadline: 10s, resourceLock: leases,
                 resourceName: kube-scheduler, resourceNamespace: kube-system, retryPeriod: 2s}
parallelism: 8
percentageOfNodesToScore: 50
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
)");
  EXPECT_EQ(configuration.client.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(configuration.leader_election.lease, std::chrono::seconds{60});
  EXPECT_EQ(configuration.percentage_of_nodes_to_score, 50);
  EXPECT_EQ(configuration.max_backoff_s, 20);
}

TEST(SchedulerConfiguration, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(error_of("profiles: [{schedulerNam: x}]").substr(0, 56),
            "config.yaml: profiles[0].schedulerNam: unknown field; th");
  EXPECT_EQ(error_of("profiles: [{plugins: {score: {enabled: [{name: Nonesuch}]}}}]"),
            "config.yaml: profiles[0].plugins.score.enabled[0].name: no plugin is called 'Nonesuch' here");
  EXPECT_EQ(
      error_of("profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {kind: OtherArgs}}]}]"),
      "config.yaml: profiles[0].pluginConfig[0].args.kind: expected NodeResourcesFitArgs, found 'OtherArgs'");
  EXPECT_EQ(error_of("profiles: [{plugins: {queueSort: {disabled: [{name: PrioritySort}]}}}]"),
            "config.yaml: profiles[0].plugins.queueSort: expected one plugin, found 0");
  EXPECT_NE(error_of("extenders: [{urlPrefix: http://x}]").find("extenders are not honoured"),
            std::string::npos);
  EXPECT_EQ(error_of("leaderElection: {leaseDuration: soon}"),
            "config.yaml: leaderElection.leaseDuration: expected a duration such as 15s, found 'soon'");
  EXPECT_NE(error_of("profiles: [{schedulerName: a}, {schedulerName: a}]")
                .find("is the name of an earlier profile"),
            std::string::npos);
  EXPECT_EQ(error_of("profiles: [{schedulerName: a}, {}]"),
            "config.yaml: profiles[1].schedulerName: expected a name, found nothing");
  EXPECT_EQ(error_of("profiles: [{plugins: {score: {enabled: [{name: NodeName}]}}}]"),
            "config.yaml: profiles[0].plugins.score.enabled: plugin 'NodeName' has nothing to say there");
  EXPECT_EQ(error_of("clientConnection: {burst: -1}"),
            "config.yaml: clientConnection.burst: expected 0 or more, found -1");
}

TEST(SchedulerConfiguration, WeighsByThePointAndElseByOne) {
  const SchedulerProfile profile = read(R"(
profiles:
- plugins:
    multiPoint: {enabled: [{name: ImageLocality, weight: 9}]}
    score: {enabled: [{name: TaintToleration}], disabled: [{name: NodeAffinity}]}
)")
                                       .profiles[0];
  EXPECT_EQ(profile.score[0], (EnabledPlugin{"TaintToleration", 1}));
  EXPECT_EQ(profile.score.back(), (EnabledPlugin{"ImageLocality", 9}));
}

TEST(SchedulerConfiguration, LeavesAllOfMultiPointOutOfAPointThatDisablesAll) {
  const SchedulerProfile profile = read(
                                       "profiles: [{plugins: {score: {disabled: [{name: '*'}], enabled: "
                                       "[{name: NodeAffinity, weight: 3}]}}}]")
                                       .profiles[0];
  EXPECT_EQ(profile.score, (std::vector<EnabledPlugin>{{"NodeAffinity", 3}}));
  EXPECT_EQ(profile.filter.size(), 13U);
}

}  // namespace
}  // namespace evenkeel::kubernetes
