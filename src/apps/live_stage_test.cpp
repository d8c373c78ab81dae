#include "apps/live_stage.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/live_scheduler.h"
#include "kubernetes/scripted_cluster.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using kubernetes::ScriptedCluster;
using nlohmann::json;
using scheduling::Fallback;
using scheduling::Stage;

kubernetes::SchedulerProfile learned_profile() {
  kubernetes::SchedulerProfile profile = kubernetes::default_profile();
  profile.scheduler_name = "evenkeel";
  profile.score.push_back({"Evenkeel", 100});
  profile.evenkeel.policy = "evenkeel";
  return profile;
}

// Remembers the guard that it is shown.
class Watcher final : public LiveObserver {
 public:
  void serves(std::span<const LiveProfile> profiles) override { guard = guard_of(*profiles.front().policy); }
  scheduling::Guarded* guard = nullptr;
};

class LiveStageTest : public testing::Test {
 protected:
  void start(const std::string& stage = "full") {
    LiveOptions options;
    options.configuration.profiles = {learned_profile()};
    options.configuration.profiles.front().evenkeel.guard.stage = stage;
    options.configuration.leader_election.name = "evenkeel";
    options.observer = &watcher;
    options.log = [this](const std::string& line) { log += line + "\n"; };
    scheduler = *LiveScheduler::open(cluster.connection, std::move(options));
    run(1s);
  }
  void run(Duration time) {
    const Time end = cluster.connection.now() + time;
    while (cluster.connection.now() < end) scheduler->turn(cluster.connection.now() + 50ms);
  }
  void set(const std::string& text) {
    cluster.put(kubernetes::types::config_maps(),
                {{"metadata", {{"namespace", "kube-system"}, {"name", kubernetes::kStageConfigMap}}},
                 {"data", {{"evenkeel", text}}}});
    if (scheduler) run(1s);
  }
  std::optional<Stage> stage() const {
    const auto& settings = watcher.guard->stage();
    return settings ? std::optional(settings->stage) : std::nullopt;
  }
  std::vector<std::string> events() {
    std::vector<std::string> reasons;
    for (const auto& request : cluster.sent("POST", "/events"))
      reasons.push_back(json::parse(request.body)["reason"].get<std::string>());
    return reasons;
  }

  ScriptedCluster cluster;
  Watcher watcher;
  std::string log;
  std::unique_ptr<LiveScheduler> scheduler;
};

TEST_F(LiveStageTest, IsAsConfiguredWithoutAConfigMap) {
  start("shadow");
  EXPECT_EQ(stage(), Stage::shadow);
  EXPECT_NE(log.find("stage shadow, as configured"), std::string::npos) << log;
}

TEST_F(LiveStageTest, IsWhatTheConfigMapSaysBeforeAnythingIsDecided) {
  cluster.add_node("n1");
  cluster.add_pod("web");
  set("stage: shadow\n");
  start();
  EXPECT_EQ(stage(), Stage::shadow);
  EXPECT_EQ(watcher.guard->state().by_rule, 1U);
  EXPECT_EQ(cluster.sent("POST", "/binding").size(), 1U);
}

TEST_F(LiveStageTest, FollowsTheConfigMapAtOnce) {
  start("shadow");
  set("stage: canary\nshare: 0.5\nnamespaces: [shop]\n");
  EXPECT_EQ(stage(), Stage::canary);
  EXPECT_EQ(watcher.guard->stage()->namespaces, std::vector<std::string>{"shop"});
  set("stage: full\n");
  EXPECT_EQ(stage(), Stage::full);
}

TEST_F(LiveStageTest, IsTheRulesWhenTheMapIsDamagedOrGone) {
  cluster.add_node("n1");
  start();
  set("stage: full\n");
  set("stage: nowhere\n");
  EXPECT_EQ(stage(), std::nullopt);
  cluster.add_pod("web");
  run(1s);
  EXPECT_EQ(watcher.guard->state().reason, Fallback::stage_unknown);
  EXPECT_EQ(cluster.sent("POST", "/binding").size(), 1U) << "a fallback loses no pod";
  set("stage: full\n");
  EXPECT_EQ(stage(), Stage::full);
  cluster.remove(kubernetes::types::config_maps(), "kube-system", kubernetes::kStageConfigMap);
  run(1s);
  EXPECT_EQ(stage(), std::nullopt);
}

TEST_F(LiveStageTest, IsNotWaitedForForEverWhereNobodyMayRead) {
  cluster.add_node("n1");
  cluster.add_pod("web");
  cluster.write = [](const kubernetes::ApiRequest& request) -> std::optional<kubernetes::ApiAnswer> {
    if (request.path.find("configmaps") == std::string::npos) return std::nullopt;
    return kubernetes::ScriptedConnection::refusal(403);
  };
  start();
  EXPECT_TRUE(cluster.sent("POST", "/binding").empty());
  run(12s);
  EXPECT_EQ(cluster.sent("POST", "/binding").size(), 1U);
}

TEST_F(LiveStageTest, TellsPeopleOfAFallbackOnce) {
  cluster.add_node("n1");
  start();
  for (int i = 0; i < 3; ++i) {
    cluster.add_pod("web" + std::to_string(i));
    run(1s);
  }
  const auto all = events();
  EXPECT_EQ(std::count(all.begin(), all.end(), "PolicyFallback"), 1) << log;
  const auto sent = cluster.sent("POST", "/namespaces/kube-system/events");
  ASSERT_FALSE(sent.empty());
  const json event = json::parse(sent[0].body);
  EXPECT_EQ(event["regarding"]["kind"], "Lease");
  EXPECT_EQ(event["type"], "Warning");
  EXPECT_NE(event["note"].get<std::string>().find("metrics_missing"), std::string::npos);
}

TEST(LiveProfile, ServesByTheRuleWhereItsModelCannotBeHad) {
  kubernetes::SchedulerConfiguration configuration;
  kubernetes::SchedulerProfile profile = learned_profile();
  profile.evenkeel.model = "/nowhere/model.ekm";
  const auto setup = set_up_live_profile(configuration, profile, {});
  ASSERT_TRUE(setup) << setup.error().message;
  const scheduling::Guarded* guard = guard_of(*setup->policy);
  ASSERT_TRUE(guard);
  EXPECT_EQ(guard->state().reason, Fallback::no_model);
  EXPECT_NE(guard->state().why.find("/nowhere/model.ekm"), std::string::npos);
}

TEST(LiveProfile, RefusesAPolicyThatNobodyKnows) {
  kubernetes::SchedulerConfiguration configuration;
  kubernetes::SchedulerProfile profile = learned_profile();
  profile.evenkeel.policy = "evenkeal";
  EXPECT_FALSE(set_up_live_profile(configuration, profile, {}));
}

TEST(LiveProfile, LeavesRulesUnguardedAndEvictsNothingUnlessTold) {
  kubernetes::SchedulerConfiguration configuration;
  kubernetes::SchedulerProfile profile = learned_profile();
  profile.evenkeel.policy = "horizon";
  auto setup = set_up_live_profile(configuration, profile, {});
  ASSERT_TRUE(setup);
  EXPECT_FALSE(guard_of(*setup->policy));
  EXPECT_TRUE(setup->options.moves.rules.on);
  EXPECT_EQ(setup->options.moves.per_hour, 0);
  profile.evenkeel.moves.per_hour = 5;
  profile.evenkeel.moves.dry_run = true;
  setup = set_up_live_profile(configuration, profile, {});
  EXPECT_EQ(setup->options.moves.per_hour, 5);
  EXPECT_TRUE(setup->options.moves.dry_run);
}

}  // namespace
}  // namespace evenkeel::apps
