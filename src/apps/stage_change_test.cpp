#include "apps/stage_change.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kubernetes/scripted_cluster.h"
#include "kubernetes/stage_watch.h"

namespace evenkeel::apps {
namespace {

using kubernetes::ScriptedCluster;
using kubernetes::ScriptedConnection;
using kubernetes::StageRecord;

StageChange to(std::optional<std::string> stage) {
  StageChange change;
  change.to = std::move(stage);
  return change;
}
StageChange back() {
  StageChange change;
  change.back = true;
  return change;
}
StageRecord at(const std::string& stage) {
  StageRecord record;
  record.advance({stage, 0, {}, "", ""});
  return record;
}

TEST(StageChange, GoesUpOneStageAtATime) {
  EXPECT_EQ(changed(at("shadow"), {}, "")->current.stage, "canary");
  EXPECT_EQ(changed(at("canary"), {}, "")->current.stage, "full");
  EXPECT_FALSE(changed(at("full"), {}, ""));
  EXPECT_FALSE(changed({}, {}, "")) << "nobody knows where from";
}

TEST(StageChange, GoesBackToWhatWasBefore) {
  StageChange canary = to("canary");
  canary.share = 0.3;
  canary.namespaces = {"shop"};
  const StageRecord first = *changed(at("shadow"), canary, "");
  const StageRecord full = *changed(first, {}, "");
  const StageRecord again = *changed(full, back(), "");
  EXPECT_EQ(again.current.stage, "canary");
  EXPECT_EQ(again.current.share, 0.3);
  EXPECT_EQ(again.current.namespaces, std::vector<std::string>{"shop"});
  EXPECT_EQ(changed(again, back(), "")->current.stage, "shadow");
  EXPECT_EQ(changed({}, back(), "")->current.stage, "shadow") << "the safe end";
}

TEST(StageChange, KeepsAShareToCanary) {
  StageChange change = to("full");
  change.share = 0.5;
  EXPECT_FALSE(changed(at("canary"), change, ""));
}

class WrittenStage : public testing::Test {
 protected:
  void put(const std::string& text) {
    cluster.put(kubernetes::types::config_maps(),
                {{"metadata", {{"namespace", "kube-system"}, {"name", kubernetes::kStageConfigMap}}},
                 {"data", {{"evenkeel", text}, {"other", "stage: full\n"}}}});
  }
  ScriptedCluster cluster;
};

TEST_F(WrittenStage, IsCreatedWhereThereIsNone) {
  const auto done = change_stage(cluster.connection, to("canary"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->after, "canary, 10 % of pods");
  ASSERT_EQ(cluster.sent("POST", "/configmaps").size(), 1U);
}

TEST_F(WrittenStage, IsReplacedWithTheVersionItWasReadAtAndTheOthersAsTheyWere) {
  put("stage: shadow\n");
  ASSERT_TRUE(change_stage(cluster.connection, {}));
  const auto puts = cluster.sent("PUT", "/configmaps/evenkeel-stage");
  ASSERT_EQ(puts.size(), 1U);
  const auto body = nlohmann::json::parse(puts[0].body);
  EXPECT_EQ(body["metadata"]["resourceVersion"], "1");
  EXPECT_EQ(body["data"]["other"], "stage: full\n");
  EXPECT_EQ(kubernetes::read_stage(body["data"]["evenkeel"].get<std::string>(), "x")->current.stage,
            "canary");
}

TEST_F(WrittenStage, IsThoughtAboutAgainWhereSomebodyWasQuicker) {
  put("stage: shadow\n");
  int refusals = 2;
  cluster.write = [&](const kubernetes::ApiRequest& request) -> std::optional<kubernetes::ApiAnswer> {
    if (request.method != "PUT" || refusals-- <= 0) return std::nullopt;
    return ScriptedConnection::refusal(409);
  };
  EXPECT_TRUE(change_stage(cluster.connection, {}));
  EXPECT_EQ(cluster.sent("PUT", "/configmaps").size(), 3U);
}

TEST_F(WrittenStage, OfADryRunIsNotWritten) {
  put("stage: shadow\n");
  StageChange change;
  change.dry_run = true;
  EXPECT_EQ(change_stage(cluster.connection, change)->after, "canary, 10 % of pods");
  EXPECT_TRUE(cluster.writes.empty());
}

TEST_F(WrittenStage, ThatIsDamagedIsReplacedOnlyByName) {
  put("stage: everywhere\n");
  EXPECT_FALSE(change_stage(cluster.connection, {}));
  EXPECT_TRUE(change_stage(cluster.connection, to("shadow")));
}

}  // namespace
}  // namespace evenkeel::apps
