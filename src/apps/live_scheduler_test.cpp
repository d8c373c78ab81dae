#include "apps/live_scheduler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/shadow_recorder.h"
#include "base/file.h"
#include "kubernetes/scripted_cluster.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::ScriptedCluster;
using kubernetes::ScriptedConnection;
using nlohmann::json;

class LiveSchedulerTest : public ::testing::Test {
 protected:
  static LiveOptions options(const std::string& identity = "") {
    LiveOptions made;
    made.configuration.profiles = {kubernetes::default_profile()};
    made.configuration.profiles.front().scheduler_name = "evenkeel";
    made.configuration.leader_election.name = "evenkeel";
    made.identity = identity;
    made.events = false;
    return made;
  }
  std::unique_ptr<LiveScheduler> start(LiveOptions with) {
    auto opened = LiveScheduler::open(cluster.connection, std::move(with));
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }
  // All of them take turns, on one clock.
  void run(const std::vector<LiveScheduler*>& schedulers, Duration time) {
    const Time end = cluster.connection.now() + time;
    while (cluster.connection.now() < end)
      for (LiveScheduler* scheduler : schedulers)
        if (scheduler) scheduler->turn(cluster.connection.now() + 50ms);
  }
  std::vector<std::string> bound() {
    std::vector<std::string> all;
    for (const ApiRequest& request : cluster.sent("POST", "/binding")) {
      const json body = json::parse(request.body);
      all.push_back(body["metadata"]["name"].get<std::string>() + " to " +
                    body["target"]["name"].get<std::string>());
    }
    return all;
  }
  ScriptedCluster cluster;
};

TEST_F(LiveSchedulerTest, BindsWhatWaitsToANodeWithRoom) {
  cluster.add_node("small", "1");
  cluster.add_node("large", "8");
  cluster.add_pod("web", "4");
  const auto scheduler = start(options());
  run({scheduler.get()}, 1s);
  EXPECT_EQ(bound(), std::vector<std::string>{"web to large"});
}

TEST_F(LiveSchedulerTest, ChangesNothingInTheStateFolderWhileItOnlyWatches) {
  cluster.add_node("n1", "8");
  cluster.add_pod("web", "4");
  const std::filesystem::path state = testing::TempDir() + "only_watched_state";
  std::filesystem::remove_all(state);
  std::filesystem::create_directories(state / "learned");
  const std::string checkpoint = state / "learned" / "drs.checkpoint";
  std::ofstream(checkpoint) << "damaged";
  LiveOptions watching = options();
  kubernetes::SchedulerProfile& profile = watching.configuration.profiles.front();
  profile.score.push_back({"Evenkeel", 100});
  profile.evenkeel.policy = "drs";
  profile.evenkeel.learning.online = true;
  watching.state = state;
  watching.shadow = true;
  watching.learner.checkpoint_every = 1ms;
  std::string said;
  watching.log = [&](const std::string& line) { said += line + "\n"; };
  auto scheduler = start(std::move(watching));
  run({scheduler.get()}, 2s);
  scheduler->stop(1s);
  scheduler.reset();
  EXPECT_NE(said.find("learning begins without it"), std::string::npos) << said;
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(state))
    found.insert(entry.path().filename());
  EXPECT_EQ(found, (std::set<std::string>{"learned", "drs.checkpoint"}));
  EXPECT_EQ(read_file(checkpoint).value_or(""), "damaged");
  std::filesystem::remove_all(state);
}

TEST_F(LiveSchedulerTest, InShadowEvenPodsThatOthersBindAtOnceAreDecidedAbout) {
  cluster.add_node("n1", "8");
  cluster.add_node("n2", "8");
  ShadowRecorder recorder(true);
  LiveOptions watching = options();
  watching.shadow = true;
  watching.observer = &recorder;
  auto scheduler = start(std::move(watching));
  run({scheduler.get()}, 1s);
  for (const char* name : {"a", "b", "c"}) {
    json pod = ScriptedCluster::pod(name);
    cluster.put(kubernetes::types::pods(), pod);
    pod["spec"]["nodeName"] = "n1";  // before anybody has had time to think
    cluster.put(kubernetes::types::pods(), pod);
  }
  run({scheduler.get()}, 3s);
  const json report = json::parse(recorder.json())["ours_vs_actual"];
  EXPECT_EQ(report["decisions"], 3) << report.dump();
  EXPECT_TRUE(bound().empty());
}

TEST_F(LiveSchedulerTest, ServesEveryProfileAndLeavesOthersPodsAlone) {
  cluster.add_node("n1", "8");
  auto two = options();
  two.configuration.profiles.push_back(kubernetes::default_profile());
  two.configuration.profiles.back().scheduler_name = "second";
  for (const char* name : {"evenkeel", "second", "third"}) {
    json pod = ScriptedCluster::pod(name);
    pod["spec"]["schedulerName"] = name;
    cluster.put(kubernetes::types::pods(), pod);
  }
  const auto scheduler = start(two);
  run({scheduler.get()}, 1s);
  auto all = bound();
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<std::string>{"evenkeel to n1", "second to n1"}));
}

TEST_F(LiveSchedulerTest, TriesAgainAfterARefusal) {
  cluster.add_node("n1");
  cluster.add_pod("web");
  int refusals = 2;
  cluster.write = [&](const ApiRequest& request) -> std::optional<ApiAnswer> {
    if (request.path.ends_with("/binding") && refusals-- > 0) return ScriptedConnection::refusal(403);
    return std::nullopt;
  };
  const auto scheduler = start(options());
  run({scheduler.get()}, 30s);
  EXPECT_EQ(bound().size(), 3u);
  EXPECT_EQ(scheduler->scheduler().pending(), 0u);
}

TEST_F(LiveSchedulerTest, AStandbyFollowsAndWritesNothingUntilTheLeaderLetsGo) {
  cluster.add_node("n1", "8");
  auto a = start(options("a")), b = start(options("b"));
  run({a.get(), b.get()}, 5s);
  LiveScheduler* leader = a->leading() ? a.get() : b.get();
  LiveScheduler* standby = a->leading() ? b.get() : a.get();
  EXPECT_TRUE(leader->leading());
  EXPECT_FALSE(standby->leading());
  EXPECT_TRUE(standby->synced());

  cluster.add_pod("one");
  run({leader, standby}, 1s);
  EXPECT_EQ(bound(), std::vector<std::string>{"one to n1"});
  leader->stop(1s);
  cluster.add_pod("two");
  run({standby}, 6s);
  EXPECT_TRUE(standby->leading());
  EXPECT_EQ(bound().back(), "two to n1");
}

TEST_F(LiveSchedulerTest, ANewLeaderListsThePodsOnceMoreBeforeItBinds) {
  cluster.add_node("n1", "2");
  auto a = start(options("a"));
  run({a.get()}, 3s);
  auto b = start(options("b"));
  run({a.get(), b.get()}, 3s);
  ASSERT_FALSE(b->leading());
  // Its watch is late: what was bound last has not reached it.
  cluster.connection.streams.clear();
  json old = ScriptedCluster::pod("old", "2");
  old["spec"]["nodeName"] = "n1";
  cluster.put(kubernetes::types::pods(), old);
  cluster.add_pod("new", "2");
  a->stop(1s);
  run({b.get()}, 6s);
  EXPECT_TRUE(b->deciding());
  EXPECT_EQ(bound(), std::vector<std::string>{});
}

TEST_F(LiveSchedulerTest, ALeaderThatLostTheServerDecidesNothingMore) {
  cluster.add_node("n1", "8");
  auto a = start(options("a"));
  run({a.get()}, 3s);
  ASSERT_TRUE(a->deciding());
  cluster.write = [](const ApiRequest& request) -> std::optional<ApiAnswer> {
    if (request.path.find("/leases") != std::string::npos) return ScriptedConnection::silence();
    return std::nullopt;
  };
  run({a.get()}, 11s);
  EXPECT_FALSE(a->leading());
  cluster.add_pod("web");
  run({a.get()}, 5s);
  EXPECT_TRUE(bound().empty());
  cluster.write = nullptr;
  run({a.get()}, 10s);
  EXPECT_EQ(bound(), std::vector<std::string>{"web to n1"});
}

TEST_F(LiveSchedulerTest, AnnotatesWhatItBindsWithWhy) {
  cluster.add_node("n1", "8");
  cluster.add_pod("web");
  auto annotated = options();
  annotated.annotate = true;
  const auto scheduler = start(annotated);
  run({scheduler.get()}, 1s);
  const auto bindings = cluster.sent("POST", "/binding");
  ASSERT_EQ(bindings.size(), 1u);
  const std::string why = json::parse(bindings[0].body)["metadata"]["annotations"]["evenkeel.io/decision"];
  EXPECT_TRUE(why.starts_with("n1 ")) << why;
}

}  // namespace
}  // namespace evenkeel::apps
