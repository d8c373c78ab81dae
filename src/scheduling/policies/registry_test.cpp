#include "scheduling/policies/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "scheduling/policies/blended_scores.h"

namespace evenkeel::scheduling {
namespace {

std::string error_of(std::string_view spec) {
  const auto setup = set_up_policy(spec, {});
  return setup ? "no error" : setup.error().message;
}

TEST(PolicyRegistry, SetsUpEveryPolicyItNames) {
  std::set<std::string_view> names;
  for (const std::string_view name : policy_names()) {
    const auto setup = set_up_policy(name, {});
    ASSERT_TRUE(setup) << name;
    EXPECT_NE(setup->policy, nullptr) << name;
    EXPECT_EQ(setup->name, name);
    EXPECT_TRUE(names.insert(name).second) << name << " twice";
  }
  for (const char* name :
       {"random", "round-robin", "binpack", "kube-default", "greedy", "horizon", "shortest-first"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(PolicyRegistry, LaysSwitchesOverTheOptionsGiven) {
  SchedulingOptions given;
  given.moves.per_hour = 3;
  given.by_use.ceiling = 0.7;
  EXPECT_EQ(set_up_policy("horizon", given)->options.moves.per_hour, 3);
  EXPECT_EQ(set_up_policy("horizon+moves", given)->options.moves.per_hour, 12);
  const auto both = set_up_policy("horizon+moves=2.5+by-use=1.5", given);
  EXPECT_EQ(both->options.moves.per_hour, 2.5);
  EXPECT_TRUE(both->options.by_use.on);
  EXPECT_EQ(both->options.by_use.risk, 1.5);
  EXPECT_EQ(both->options.by_use.ceiling, 0.7);
  EXPECT_EQ(both->name, "horizon+moves=2.5+by-use=1.5");
  EXPECT_EQ(set_up_policy("kube-default-1.23", given)->options.kube, KubeVersion::v1_23);
  EXPECT_EQ(set_up_policy("shortest-first", given)->options.order, QueueOrder::shortest_first);
}

TEST(PolicyRegistry, MakesAPolicyOnePluginAmongKubeSchedulersWhereAsked) {
  const auto setup = set_up_policy("horizon+plugins=5", {});
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_NE(dynamic_cast<BlendedScores*>(setup->policy.get()), nullptr);
}

TEST(PolicyRegistry, NamesWhatItDoesNotKnow) {
  EXPECT_NE(error_of("horizn").find("no placement policy is called 'horizn'; there are random, "),
            std::string::npos);
  EXPECT_NE(error_of("").find("is called ''"), std::string::npos);
  EXPECT_NE(error_of("horizon+wings").find("'+wings' is unknown"), std::string::npos);
  for (const char* spec : {"horizon+moves=", "horizon+moves=-1", "horizon+by-use=many", "horizon+moves=1x"})
    EXPECT_NE(error_of(spec).find("expected a number of 0 or more"), std::string::npos) << spec;
  EXPECT_NE(error_of("horizon+"), "no error");
  EXPECT_NE(error_of("horizon++moves"), "no error");
}

TEST(PolicyRegistry, TellsWhatIsLearnedFromRules) {
  EXPECT_TRUE(is_learned("drs"));
  EXPECT_TRUE(is_learned("ppo-lrt+moves=3"));
  EXPECT_FALSE(is_learned("horizon+moves"));
  EXPECT_FALSE(is_learned("nonesuch"));
}

}  // namespace
}  // namespace evenkeel::scheduling
