#include "kubernetes/scale_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "kubernetes/scripted_connection.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

// A Deployment from 2 to 5 replicas; `at` is what reading it says.
class ScaleWriterTest : public ::testing::Test {
 protected:
  ScaleWriterTest() {
    connection.answer = [this](const ApiRequest& request) -> std::optional<ApiAnswer> {
      if (request.is_wanted && !request.is_wanted()) return ApiAnswer{};
      if (request.method == "GET")
        return readable ? ScriptedConnection::ok(scale()) : ScriptedConnection::silence();
      if (request.method == "PATCH") return ScriptedConnection::refusal(403);
      ++puts;
      last_put = json::parse(request.body);
      if (answers.empty()) return ScriptedConnection::ok();
      const ApiAnswer answer = answers.front();
      answers.erase(answers.begin());
      return answer;
    };
  }
  std::string scale() const {
    return json{{"kind", "Scale"},
                {"metadata", {{"resourceVersion", version}}},
                {"spec", {{"replicas", at}}},
                {"status", {{"replicas", at}, {"selector", "app=web"}}}}
        .dump();
  }
  void begin(Time not_after = Time::max()) {
    writer.scale(
        {{"apps/v1", "Deployment", "deployments"}, "shop", "web", "7", 2, 5, leave_first, marked, not_after},
        [this](const Status& done) { ended = done ? "done" : done.error().message; });
    connection.run(1min);
  }

  ScriptedConnection connection;
  bool leads = true, readable = true;
  int at = 2, puts = 0;
  std::string version = "8", ended;
  json last_put;
  std::vector<ApiAnswer> answers;
  std::vector<PodReference> leave_first, marked;
  std::vector<std::string> troubles;
  ScaleWriter writer{connection, [this] { return leads; },
                     [this](const std::string& what) { troubles.push_back(what); }};
};

TEST_F(ScaleWriterTest, WritesOnceWithTheVersionItWasDecidedOn) {
  begin();
  EXPECT_EQ(ended, "done");
  EXPECT_EQ(puts, 1);
  EXPECT_EQ(last_put["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(last_put["spec"]["replicas"], 5);
  EXPECT_EQ(writer.outstanding(), 0U);
}

TEST_F(ScaleWriterTest, WritesAgainWithTheNewVersionWhereOnlySomethingElseChanged) {
  answers = {ScriptedConnection::refusal(409), ScriptedConnection::refusal(409)};
  begin();
  EXPECT_EQ(ended, "done");
  EXPECT_EQ(puts, 3);
  EXPECT_EQ(last_put["metadata"]["resourceVersion"], "8");
}

TEST_F(ScaleWriterTest, LeavesAloneWhatAnotherHasScaledMeanwhile) {
  answers = {ScriptedConnection::refusal(409)};
  at = 3;
  begin();
  EXPECT_EQ(ended, "it is at 3 by now, not at 2");
  EXPECT_EQ(puts, 1);
}

TEST_F(ScaleWriterTest, TakesALostAnswerForDoneWhereItIsDone) {
  answers = {ScriptedConnection::silence()};
  at = 5;
  begin();
  EXPECT_EQ(ended, "done");
  EXPECT_EQ(puts, 1);
}

TEST_F(ScaleWriterTest, RepeatsNothingThatMayStillBeOnItsWay) {
  answers = {ScriptedConnection::silence()};
  begin();
  EXPECT_EQ(ended, "no answer");
  EXPECT_EQ(puts, 1);
}

TEST_F(ScaleWriterTest, EndsWhereNobodyCanSayWhatBecameOfIt) {
  answers = {ScriptedConnection::silence()};
  readable = false;
  begin();
  connection.run(10min);
  EXPECT_NE(ended, "");
  EXPECT_EQ(puts, 1);
  EXPECT_EQ(writer.outstanding(), 0U);
}

TEST_F(ScaleWriterTest, SendsNothingForWhoLeadsNoMoreOrIsTooLate) {
  leads = false;
  begin();
  EXPECT_EQ(ended, "no longer leading");
  leads = true;
  begin(connection.now() - 1s);
  EXPECT_EQ(ended, "no longer leading");
  EXPECT_EQ(puts, 0);
}

TEST_F(ScaleWriterTest, ScalesEvenWherePodsMayNotBeMarked) {
  leave_first = {{"shop", "web-1", "u1"}, {"shop", "web-2", "u2"}};
  begin();
  EXPECT_EQ(ended, "done");
  ASSERT_GE(connection.requests.size(), 3U);
  EXPECT_EQ(connection.requests[0].method, "PATCH");
  EXPECT_NE(connection.requests[0].body.find("pod-deletion-cost\":\"-1000000000"), std::string::npos);
  EXPECT_NE(connection.requests[1].body.find("pod-deletion-cost\":\"-999999999"), std::string::npos);
  EXPECT_EQ(connection.requests[2].method, "PUT");
  EXPECT_EQ(connection.requests.size(), 3U);
  EXPECT_EQ(troubles.size(), 2U);  // they could not be marked, and somebody may want to know
}

TEST_F(ScaleWriterTest, TakesItsMarksBackWhereNothingWasScaled) {
  leave_first = {{"shop", "web-1", "u1"}};
  answers = {ScriptedConnection::refusal(403)};
  begin();
  EXPECT_EQ(ended, "HTTP 403: no");
  ASSERT_EQ(connection.requests.size(), 3U);
  const json undone = json::parse(connection.requests[2].body);
  EXPECT_TRUE(undone["metadata"]["annotations"][kDeletionCost].is_null());
  EXPECT_EQ(undone["metadata"]["uid"], "u1");
  EXPECT_EQ(writer.outstanding(), 0U);
}

TEST_F(ScaleWriterTest, TakesMarksBackFromPodsThatStayed) {
  marked = {{"shop", "web-0", "u0"}};
  begin();
  EXPECT_EQ(ended, "done");
  ASSERT_EQ(connection.requests.size(), 2U);
  EXPECT_TRUE(json::parse(connection.requests[0].body)["metadata"]["annotations"][kDeletionCost].is_null());
  EXPECT_EQ(connection.requests[1].method, "PUT");
}

TEST(LeavingCost, IsOursAndNobodyElses) {
  EXPECT_TRUE(is_leaving_cost(leaving_cost(0)));
  EXPECT_TRUE(is_leaving_cost(leaving_cost(5'000'000)));
  for (const char* owners : {"", "0", "-1", "-1000", "-2147483648", "100", "-1000000000x"})
    EXPECT_FALSE(is_leaving_cost(owners)) << owners;
}

}  // namespace
}  // namespace evenkeel::kubernetes
