#include "apps/live_cluster.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

namespace evenkeel::apps {
namespace {

using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::ApiStatus;

// Answers by path, at once, in JSON; what it has no answer for is an empty list.
class ScriptedServer final : public kubernetes::ApiConnection {
 public:
  Time now() const override { return {}; }
  void call(ApiRequest request, Done done) override {
    asked.push_back(request.path);
    const std::string collection = request.path.substr(0, request.path.find('?'));
    auto& answers = script[collection];
    ApiAnswer answer{
        200, kubernetes::WireFormat::json, R"({"metadata":{"resourceVersion":"1"},"items":[]})", {}};
    if (!answers.empty()) {
      answer = answers.front();
      answers.pop_front();
    }
    done(std::move(answer));
  }
  StreamId stream(const ApiRequest&, StreamHandlers) override { return 0; }
  void cancel(StreamId) override {}
  TimerId call_after(Duration, std::function<void()>) override { return 0; }
  void cancel_timer(TimerId) override {}
  bool run_for(Duration, const std::function<bool()>& done) override { return done(); }

  void says(const std::string& collection, const std::string& items, const std::string& more = "") {
    script[collection].push_back(
        {200,
         kubernetes::WireFormat::json,
         R"({"metadata":{"resourceVersion":"1","continue":")" + more + R"("},"items":[)" + items + "]}",
         {}});
  }
  void refuses(const std::string& collection, int code) {
    script[collection].push_back({code, kubernetes::WireFormat::json, "", ApiStatus{code, "", "no", 0}});
  }

  std::map<std::string, std::deque<ApiAnswer>> script;
  std::vector<std::string> asked;
};

std::string node(const std::string& name) {
  return R"({"metadata":{"name":")" + name +
         R"("},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})";
}

TEST(LiveCluster, ListsEveryKindPageByPage) {
  ScriptedServer server;
  server.says("/api/v1/nodes", node("n1"), "more");
  server.says("/api/v1/nodes", node("n2"));
  server.says("/api/v1/pods",
              R"({"metadata":{"name":"web","namespace":"shop","uid":"u"},"spec":{"containers":[]}})");
  const auto listed = list_cluster(server);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->objects.size(), 3U);
  EXPECT_TRUE(listed->left_out.empty());
  EXPECT_EQ(server.asked[1], "/api/v1/nodes?limit=500&continue=more");
  const auto cluster = OfflineCluster::build(listed->objects, "test");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->state().node_count(), 2U);
  EXPECT_NE(cluster->find("shop/web"), nullptr);
  for (const char* kind :
       {"/apis/policy/v1/poddisruptionbudgets?limit=500", "/apis/storage.k8s.io/v1/csinodes?limit=500",
        "/apis/metrics.k8s.io/v1beta1/nodes?limit=500"})
    EXPECT_NE(std::find(server.asked.begin(), server.asked.end(), kind), server.asked.end()) << kind;
}

TEST(LiveCluster, BeginsAListAgainThatGrewTooOldBetweenPages) {
  ScriptedServer server;
  server.says("/api/v1/nodes", node("n1"), "more");
  server.refuses("/api/v1/nodes", 410);
  server.says("/api/v1/nodes", node("n1") + "," + node("n2"));
  const auto listed = list_cluster(server);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->objects.size(), 2U);
  EXPECT_EQ(server.asked[2], "/api/v1/nodes?limit=0");
}

TEST(LiveCluster, NamesWhatItMayNotSeeAndWhatItCannotRead) {
  ScriptedServer server;
  server.says("/api/v1/nodes",
              node("n1") + R"(,{"metadata":{"name":"odd"},"status":{"allocatable":{"cpu":"many"}}})");
  server.refuses("/apis/storage.k8s.io/v1/csinodes", 403);
  server.refuses("/apis/metrics.k8s.io/v1beta1/nodes", 503);
  server.refuses("/apis/policy/v1/poddisruptionbudgets", 404);
  const auto listed = list_cluster(server);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->objects.size(), 1U);
  ASSERT_EQ(listed->left_out.size(), 3U);
  EXPECT_NE(listed->left_out[0].find("odd"), std::string::npos) << listed->left_out[0];
  EXPECT_NE(listed->left_out[1].find("listing csinodes: HTTP 403"), std::string::npos) << listed->left_out[1];
}

TEST(LiveCluster, GivesUpWithoutNodesOrPods) {
  for (const char* needed : {"/api/v1/nodes", "/api/v1/pods"}) {
    ScriptedServer server;
    server.refuses(needed, 403);
    const auto listed = list_cluster(server);
    ASSERT_FALSE(listed) << needed;
    EXPECT_NE(listed.error().message.find("HTTP 403"), std::string::npos);
  }
}

}  // namespace
}  // namespace evenkeel::apps
