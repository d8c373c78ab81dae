#include "controllers/group_status.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "controllers/test_groups.h"

namespace evenkeel::controllers {
namespace {

using namespace std::chrono_literals;

NetworkPod pod(const std::string& workload, PodPhase phase = PodPhase::running, Time created = Time(9s)) {
  NetworkPod made;
  made.name = workload + "-1";
  made.workload = workload;
  made.phase = phase;
  made.created = created;
  return made;
}

const NetworkCondition& condition(const AppGroupStatus& status, const std::string& type) {
  for (const NetworkCondition& one : status.conditions)
    if (one.type == type) return one;
  static const NetworkCondition kNone;
  return kNone;
}

TEST(GroupStatus, CountsRunningPodsAndKnowsWhenTheFirstWasMade) {
  const NetworkPod a = pod("web"), b = pod("db", PodPhase::pending, Time(5s)),
                   c = pod("db", PodPhase::failed);
  const NetworkPod* pods[] = {&a, &b, &c};
  const AppGroupStatus status = status_of(make_group("KahnSort", {{"web", {"db"}}, {"db", {}}}), pods);
  EXPECT_EQ(status.running, 1);
  EXPECT_EQ(status.first_pod, Time(5s));
  for (const NetworkCondition& one : status.conditions) EXPECT_TRUE(one.is_true) << one.type << one.message;
}

TEST(GroupStatus, ListsTheOrderBySelectorWithIndicesFromOne) {
  const AppGroupStatus status = status_of(online_boutique("KahnSort"), {});
  ASSERT_EQ(status.order.size(), 11U);
  EXPECT_EQ(status.order[0].workload.selector, "P1");
  EXPECT_EQ(status.order[0].index, 1);
  EXPECT_EQ(status.order[1].workload.selector, "P10");
  EXPECT_EQ(status.order[1].index, 2);
  EXPECT_EQ(status.order[2].workload.selector, "P11");
  EXPECT_EQ(status.order[2].index, 11);
  EXPECT_FALSE(status.first_pod.has_value());
}

TEST(GroupStatus, NamesACycleAnUnknownWordAndWorkloadsWithoutPods) {
  const AppGroupStatus round =
      status_of(make_group("KahnSort", {{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}}), {});
  EXPECT_EQ(condition(round, "TopologySorted").reason, "Cyclic");
  EXPECT_NE(condition(round, "TopologySorted").message.find("a -> b -> c -> a"), std::string::npos);
  EXPECT_EQ(condition(round, "WorkloadsFound").reason, "PodsMissing");
  EXPECT_NE(condition(round, "WorkloadsFound").message.find("a, b, c"), std::string::npos);
  const AppGroupStatus odd = status_of(make_group("Sorted", {{"a", {}}}), {});
  EXPECT_TRUE(condition(odd, "TopologySorted").is_true);
  EXPECT_EQ(condition(odd, "TopologySorted").reason, "UnknownAlgorithm");
}

TEST(GroupStatus, NamesPodsWhoseLabelMeansNothingAndSpecsThatContradictThemselves) {
  const NetworkPod stranger = pod("typo");
  const NetworkPod* pods[] = {&stranger};
  EXPECT_EQ(condition(status_of(make_group("KahnSort", {{"web", {}}}), pods), "WorkloadsFound").reason,
            "UnknownWorkload");
  EXPECT_EQ(condition(status_of(make_group("KahnSort", {{"web", {"nobody"}}}), {}), "Valid").reason,
            "UnknownDependency");
  AppGroup twice = make_group("KahnSort", {{"web", {"db", "db"}}, {"db", {}}, {"web", {}}});
  twice.workloads[0].dependencies[0].min_bandwidth = {5};
  const NetworkCondition valid = condition(status_of(twice, {}), "Valid");
  EXPECT_EQ(valid.reason, "Contradictory");
  EXPECT_NE(valid.message.find("web: listed more than once"), std::string::npos);
  EXPECT_NE(valid.message.find("web -> db"), std::string::npos);
}

TEST(GroupStatus, SurvivesAThousandSeededGroupsOfAnyShapeAndSaysSomethingOfEach) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    std::vector<std::pair<std::string, std::vector<std::string>>> spec;
    for (std::uint64_t i = random.below(40); i > 0; --i) {
      std::vector<std::string> next;
      for (std::uint64_t j = random.below(6); j > 0; --j)
        next.push_back("w" + std::to_string(random.below(30)));
      spec.emplace_back(random.chance(0.05) ? "" : "w" + std::to_string(random.below(30)), next);
    }
    AppGroup group = make_group("AlternateTarjan", spec, {static_cast<std::int64_t>(random.bits() >> 1)});
    std::vector<NetworkPod> pods;
    for (std::uint64_t i = random.below(20); i > 0; --i)
      pods.push_back(pod("w" + std::to_string(random.below(40))));
    std::vector<const NetworkPod*> lent;
    for (const NetworkPod& one : pods) lent.push_back(&one);
    const AppGroupStatus status = status_of(group, lent);
    ASSERT_EQ(status.conditions.size(), 3U);
    std::set<std::int32_t> indices;
    std::set<std::string> selectors;
    for (const AppGroupStatus::Rank& rank : status.order) {
      indices.insert(rank.index);
      selectors.insert(rank.workload.selector);
    }
    ASSERT_EQ(indices.size(), status.order.size()) << seed;
    ASSERT_EQ(selectors.size(), status.order.size()) << seed;
    for (const NetworkCondition& one : status.conditions) ASSERT_LT(one.message.size(), 2'000U);
  }
}

}  // namespace
}  // namespace evenkeel::controllers
