#include "autoscaling/policies/registry.h"

#include <gtest/gtest.h>

#include "autoscaling/test_services.h"

namespace evenkeel::autoscaling {
namespace {

TEST(ScalingPolicies, AreMadeByName) {
  for (const std::string_view name : scaling_policy_names()) {
    const auto made = make_scaling_policy(name, {}, nullptr);
    ASSERT_TRUE(made) << name << ": " << made.error().message;
  }
  const auto none = make_scaling_policy("hpaa", {}, nullptr);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("hpa"), std::string::npos);
}

TEST(ScalingPolicies, RefuseArgumentsTheyDoNotKnowOrCannotRead) {
  EXPECT_FALSE(make_scaling_policy("hpa", {{"tolerence", "0.1"}}, nullptr));
  EXPECT_FALSE(make_scaling_policy("hpa", {{"tolerance", "much"}}, nullptr));
  EXPECT_FALSE(make_scaling_policy("hpa", {{"initialReadinessDelay", "soon"}}, nullptr));
  EXPECT_TRUE(make_scaling_policy("hpa", {{"initialReadinessDelay", "10s"}}, nullptr));
}

TEST(ScalingPolicies, HpaGoesByItsArguments) {
  const ScalerSpec spec = test_spec();
  const ServiceReport report = test_report({0.7, 0.7});
  const ScalingRequest request{{}, spec, report, {}, {}, 2, kNow};
  Random random(1);
  EXPECT_EQ((*make_scaling_policy("hpa", {}, nullptr))->recommend(request, random).replicas, 3);
  EXPECT_EQ(
      (*make_scaling_policy("hpa", {{"tolerance", "0.5"}}, nullptr))->recommend(request, random).replicas, 2);
}

}  // namespace
}  // namespace evenkeel::autoscaling
