#include "scheduling/stage.h"

#include <gtest/gtest.h>

#include "cluster/test_objects.h"

namespace evenkeel::scheduling {
namespace {

Pod pod_called(const std::string& name) {
  Pod pod = test_pod({1, 1}, shape_asking(1, 1));
  pod.name = name;
  return pod;
}

TEST(Stage, GivesTheLearnedPolicyNobodyInShadowAndEverybodyInFull) {
  for (int i = 0; i < 100; ++i) {
    const Pod pod = pod_called("web-" + std::to_string(i));
    EXPECT_FALSE(learned_decides({Stage::shadow, 1.0, {"default"}}, pod));
    EXPECT_TRUE(learned_decides({Stage::full, 0.0, {}}, pod));
  }
}

TEST(Stage, GivesItAboutItsShareInCanary) {
  int chosen = 0;
  for (int i = 0; i < 10'000; ++i)
    chosen += learned_decides({Stage::canary, 0.1, {}}, pod_called("web-" + std::to_string(i)));
  EXPECT_NEAR(chosen, 1000, 100);
}

TEST(Stage, KeepsWhomItChoseWhenTheShareGrows) {
  for (int i = 0; i < 1000; ++i) {
    const Pod pod = pod_called("web-" + std::to_string(i));
    EXPECT_EQ(learned_decides({Stage::canary, 0.1, {}}, pod), learned_decides({Stage::canary, 0.1, {}}, pod));
    if (learned_decides({Stage::canary, 0.1, {}}, pod)) {
      EXPECT_TRUE(learned_decides({Stage::canary, 0.3, {}}, pod));
    }
  }
}

TEST(Stage, GivesItWholeNamespacesInCanary) {
  const Pod pod = pod_called("web-1");
  EXPECT_FALSE(learned_decides({Stage::canary, 0, {"shop"}}, pod));
  EXPECT_TRUE(learned_decides({Stage::canary, 0, {"shop", "default"}}, pod));
}

TEST(Stage, IsSpelledAsItIsRead) {
  for (const Stage stage : {Stage::shadow, Stage::canary, Stage::full})
    EXPECT_EQ(stage_named(name_of(stage)), stage);
  EXPECT_FALSE(stage_named("everywhere"));
  EXPECT_EQ(describe({Stage::canary, 0.125, {"a", "b"}}), "canary, 12.5 % of pods and namespaces a, b");
  EXPECT_EQ(describe({Stage::full, 0.1, {}}), "full");
}

}  // namespace
}  // namespace evenkeel::scheduling
