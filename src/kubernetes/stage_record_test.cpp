#include "kubernetes/stage_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kubernetes/scripted_cluster.h"
#include "kubernetes/stage_watch.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;

StageRecord example() {
  StageRecord record;
  record.advance({"shadow", 0, {}, "2026-01-30T09:00:00Z", "ops@host"});
  record.advance({"canary", 0.25, {"shop", "a: b"}, "2026-01-31T09:00:00Z", "o\"ps"});
  return record;
}

TEST(StageRecord, IsReadAsItWasWritten) {
  const Result<StageRecord> again = read_stage(write_stage(example()), "x");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, example());
}

TEST(StageRecord, MayBeWrittenByHand) {
  const Result<StageRecord> record = read_stage("stage: full\n", "x");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->current.stage, "full");
}

TEST(StageRecord, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "full", "stage: everywhere", "stage: canary\nshare: 3", "share: 0.1",
                           "stage: full\nstages: 2", "stage: [", "history:\n- {stage: no}\nstage: full"})
    EXPECT_FALSE(read_stage(text, "x")) << text;
}

TEST(StageRecord, GoesBackThroughItsHistoryAndForgetsTheOldest) {
  StageRecord record = example();
  StageEntry now{"", 0, {}, "later", "me"};
  ASSERT_TRUE(record.go_back(now));
  EXPECT_EQ(record.current.stage, "shadow");
  EXPECT_EQ(record.current.by, "me");
  EXPECT_FALSE(record.go_back(now));
  for (int i = 0; i < 30; ++i) record.advance({"full", 0, {}, "", ""});
  EXPECT_EQ(record.history.size(), StageRecord::kMostHistory);
}

TEST(StageRecord, LeavesOtherProfilesAloneWhereOneIsDamaged) {
  const Result<StageRecords> records =
      read_stage_map(R"({"data": {"a": "stage: full", "b": "stage: nowhere"}})", "x");
  ASSERT_TRUE(records);
  EXPECT_TRUE(records->at("a"));
  EXPECT_FALSE(records->at("b"));
  EXPECT_FALSE(read_stage_map("[", "x"));
}

class WatchedStage : public testing::Test {
 protected:
  void set(const std::string& text) {
    cluster.put(types::config_maps(),
                {{"metadata", {{"namespace", "kube-system"}, {"name", kStageConfigMap}}},
                 {"data", {{"evenkeel", text}}}});
    run();
  }
  void run() {
    cluster.connection.run_for(1s, [] { return false; });
  }
  ScriptedCluster cluster;
  std::vector<StageWatch::Seen> seen;
  StageWatch watch{cluster.connection, "kube-system",
                   [this](const StageWatch::Seen& s) { seen.push_back(s); }, [](const std::string&) {}};
};

TEST_F(WatchedStage, IsToldOnceThereIsNone) {
  watch.start();
  run();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_FALSE(seen[0].exists);
}

TEST_F(WatchedStage, IsToldWhenItChangesAndWhenItEnds) {
  set("stage: shadow");
  watch.start();
  run();
  set("stage: full");
  set("stage: nowhere");
  cluster.remove(types::config_maps(), "kube-system", kStageConfigMap);
  run();
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[0].records.at("evenkeel")->current.stage, "shadow");
  EXPECT_EQ(seen[1].records.at("evenkeel")->current.stage, "full");
  EXPECT_FALSE(seen[2].records.at("evenkeel"));
  EXPECT_FALSE(seen[3].exists);
}

}  // namespace
}  // namespace evenkeel::kubernetes
