#include "kubernetes/workload_scaler.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/yaml_file.h"
#include "kubernetes/scaling_convert.h"
#include "kubernetes/scaling_rules.h"
#include "kubernetes/yaml_to_json.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

json scaler(json spec) {
  spec["scaleTargetRef"] = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "web"}};
  if (!spec.contains("maxReplicas")) spec["maxReplicas"] = 10;
  return {{"metadata", {{"namespace", "shop"}, {"name", "web"}, {"uid", "u"}, {"generation", 3}}},
          {"spec", spec}};
}

std::string trouble_with(const json& spec) {
  const auto read = read_workload_scaler(scaler(spec).dump());
  return read ? "" : read.error().message;
}

TEST(WorkloadScaler, IsAPreviewOnCpuAtP95Of250MsUnlessItSaysOtherwise) {
  const auto read = read_workload_scaler(scaler({}).dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->key(), "shop/web");
  EXPECT_EQ(read->generation, 3);
  EXPECT_EQ(read->spec.mode, ScalerSpec::Mode::preview);
  EXPECT_EQ(read->spec.policy, "evenkeel");
  EXPECT_EQ(read->spec.min_replicas, 1);
  EXPECT_TRUE(read->spec.metrics.empty());
  EXPECT_FALSE(read->spec.behaviour);
  EXPECT_EQ(read->spec.level.bound, Duration(250ms));
  EXPECT_DOUBLE_EQ(read->spec.level.percentile, 0.95);
  EXPECT_EQ(read->spec.interval, Duration(15s));
}

TEST(WorkloadScaler, TakesMetricsAndBehaviourAsAnHpaHasThem) {
  const auto read = read_workload_scaler(
      scaler({{"mode", "Auto"},
              {"serviceLevel", {{"percentile", 99}, {"responseTime", "1.5s"}}},
              {"metrics",
               {{{"type", "Pods"},
                 {"pods",
                  {{"metric", {{"name", "rate"}, {"selector", {{"matchLabels", {{"verb", "GET"}}}}}}},
                   {"target", {{"type", "AverageValue"}, {"averageValue", "500m"}}}}}}}},
              {"behavior", {{"scaleDown", {{"stabilizationWindowSeconds", 60}, {"tolerance", "50m"}}}}}})
          .dump());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->spec.metrics.size(), 1U);
  EXPECT_EQ(read->spec.metrics[0].selector, "verb=GET");
  EXPECT_DOUBLE_EQ(read->spec.metrics[0].target, 0.5);
  EXPECT_EQ(read->spec.level.bound, Duration(1500ms));
  const ScalingBehaviour& behaviour = *read->spec.behaviour;
  EXPECT_EQ(behaviour.down.stabilisation, Duration(60s));
  EXPECT_DOUBLE_EQ(*behaviour.down.tolerance, 0.05);
  EXPECT_EQ(behaviour.down.limits.size(), 1U);
  // What was left out is as the API server fills it in.
  ASSERT_EQ(behaviour.up.limits.size(), 2U);
  EXPECT_EQ(behaviour.up.limits[0].value, 4);
  EXPECT_EQ(behaviour.up.limits[1].kind, ScalingRules::Limit::Kind::percent);
}

TEST(WorkloadScaler, NamesTheFirstFieldThatIsUnknownOrWrong) {
  EXPECT_NE(trouble_with({{"maxReplica", 3}}).find("maxReplica"), std::string::npos);
  EXPECT_NE(trouble_with({{"minReplicas", 11}}).find("spec.minReplicas"), std::string::npos);
  EXPECT_NE(trouble_with({{"mode", "Sometimes"}}).find("Preview, Auto, Paused"), std::string::npos);
  EXPECT_NE(trouble_with({{"serviceLevel", {{"percentile", 100}}}}).find("percentile"), std::string::npos);
  EXPECT_NE(trouble_with({{"metrics", {{{"type", "Resource"}}}}}).find("metrics[0].resource"),
            std::string::npos);
  EXPECT_NE(trouble_with({{"interval", "soon"}}).find("interval"), std::string::npos);
  EXPECT_NE(trouble_with({{"minReplicas", 11}}).find("shop/web"), std::string::npos);
}

TEST(ConvertHpa, MeansTheSameAsTheHpa) {
  const json hpa = {
      {"apiVersion", "autoscaling/v2"},
      {"kind", "HorizontalPodAutoscaler"},
      {"metadata", {{"name", "web"}}},
      {"spec",
       {{"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "web"}}},
        {"minReplicas", 2},
        {"maxReplicas", 9},
        {"metrics",
         {{{"type", "Resource"},
           {"resource",
            {{"name", "cpu"}, {"target", {{"type", "Utilization"}, {"averageUtilization", 70}}}}}},
          {{"type", "External"},
           {"external",
            {{"metric", {{"name", "queue"}, {"selector", {{"matchLabels", {{"on", "yes"}, {"n", "1"}}}}}}},
             {"target", {{"type", "Value"}, {"value", "10k"}}}}}}}},
        {"behavior", {{"scaleUp", {{"selectPolicy", "Disabled"}}}}}}}};
  std::vector<std::string> others;
  const auto converted = convert_manifest(hpa.dump(), "file", others);
  ASSERT_TRUE(converted) << converted.error().message;
  ASSERT_EQ(converted->size(), 1U);
  EXPECT_EQ(converted->front().remarks.size(), 1U);  // about the external metric
  const std::string yaml = write_workload_scaler(converted->front());
  const auto file = YamlFile::parse(yaml, "made");
  ASSERT_TRUE(file) << yaml;
  const auto again = read_workload_scaler(yaml_to_json(file->root()));
  ASSERT_TRUE(again) << again.error().message << yaml;
  EXPECT_EQ(again->spec, converted->front().scaler.spec) << yaml;
  EXPECT_EQ(again->spec.policy, "hpa");
  EXPECT_EQ(again->spec.metrics[1].selector, "n=1,on=yes");
  EXPECT_EQ(again->spec.behaviour->up.select, ScalingRules::Select::disabled);
}

TEST(ConvertHpa, TakesOldVersionsAndListsAndNamesWhatItLeavesOut) {
  const std::string text = R"(
apiVersion: v1
kind: List
items:
- apiVersion: autoscaling/v1
  kind: HorizontalPodAutoscaler
  metadata: {name: old, annotations: {autoscaling.alpha.kubernetes.io/metrics: "[]"}}
  spec: {scaleTargetRef: {kind: ReplicationController, name: rc}, maxReplicas: 3, targetCPUUtilizationPercentage: 55}
- {apiVersion: v1, kind: Service, metadata: {name: other}}
)";
  std::vector<std::string> others;
  const auto converted = convert_manifest(text, "file", others);
  ASSERT_TRUE(converted) << converted.error().message;
  ASSERT_EQ(converted->size(), 1U);
  EXPECT_DOUBLE_EQ(converted->front().scaler.spec.metrics.at(0).target, 0.55);
  EXPECT_EQ(converted->front().scaler.spec.target.api_version, "v1");
  ASSERT_EQ(converted->front().remarks.size(), 1U);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_NE(others[0].find("Service"), std::string::npos);
  std::vector<std::string> none;
  const auto wrong = convert_manifest(
      "{kind: HorizontalPodAutoscaler, apiVersion: autoscaling/v2beta1, metadata: "
      "{name: x}, spec: {scaleTargetRef: {kind: A, name: b}, maxReplicas: 1}}",
      "file", none);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("autoscaling/v2beta1"), std::string::npos);
}

TEST(ScaleTarget, IsTheSameInEveryVersionOfItsGroup) {
  EXPECT_TRUE(is_same_target({"apps/v1", "Deployment", "web"}, {"apps/v1beta1", "Deployment", "web"}));
  EXPECT_FALSE(is_same_target({"apps/v1", "Deployment", "web"}, {"v1", "Deployment", "web"}));
}

}  // namespace
}  // namespace evenkeel::kubernetes
