#include "apps/scaling_models.h"

#include <gtest/gtest.h>

#include "apps/models.h"

namespace evenkeel::apps {
namespace {

TEST(ScalingModels, OfNoPolicyAreRefusedByItsNameBesideThoseThereAre) {
  const auto models = load_scaling_models({"nosuch=model.ekm"});
  ASSERT_FALSE(models);
  EXPECT_EQ(models.error().message,
            "nosuch=model.ekm: no scaling policy is called 'nosuch'; there are a-sarsa, dscaler, "
            "evenkeel, hpa");
}

TEST(ScalingModels, AreTakenByPolicyAndByEncodingAndLeftOutWhereAsked) {
  EXPECT_TRUE(load_scaling_models({})->contains("dscaler"));
  EXPECT_TRUE(load_scaling_models({"dscaler=dscaler"})->contains("dscaler"));
  EXPECT_FALSE(load_scaling_models({"dscaler=none"})->contains("dscaler"));
  EXPECT_TRUE(load_scaling_models({"dscaler=none", "dscaler"})->contains("dscaler"));
}

TEST(ScalingModels, MayBeFilesInFoldersWithAnEqualsSign) {
  const auto models = load_scaling_models({"no/rate=0.1/m.ekm"});
  ASSERT_FALSE(models);
  EXPECT_NE(models.error().message.find("No such file"), std::string::npos) << models.error().message;
}

TEST(Models, SayWhichPolicyUsesThemWhetherItPlacesOrScales) {
  EXPECT_EQ(policy_of_encoding("drs-double/4 nodes"), "drs-double");
  EXPECT_EQ(policy_of_encoding("dscaler"), "dscaler");
  EXPECT_EQ(policy_of_encoding("dscalers"), "");
  const auto model = load_model("dscaler");
  ASSERT_TRUE(model);
  const auto policy = check_model("", std::make_shared<const learning::Model>(*model), "dscaler");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(*policy, "dscaler");
}

TEST(Models, OfWhatScalesOrOfNothingAreRefusedWherePodsArePlaced) {
  const auto scales = load_models({"dscaler"});
  ASSERT_FALSE(scales);
  EXPECT_NE(scales.error().message.find("scales and places nothing"), std::string::npos);
  const auto unknown = load_models({"nosuch=model.ekm"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no policy is called 'nosuch'; there are"), std::string::npos)
      << unknown.error().message;
}

}  // namespace
}  // namespace evenkeel::apps
