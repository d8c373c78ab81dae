#include "apps/metrics_api_source.h"

#include <gtest/gtest.h>

#include "kubernetes/metrics_api.h"
#include "kubernetes/scripted_connection.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using kubernetes::ApiRequest;
using kubernetes::ScriptedConnection;

class MetricsApiTest : public ::testing::Test {
 protected:
  MetricsApiTest() {
    connection.answer = [this](const ApiRequest& request) -> std::optional<kubernetes::ApiAnswer> {
      if (request.path == kubernetes::kPodMetrics && !pods_allowed) return ScriptedConnection::refusal(403);
      if (request.path == kubernetes::kPodMetrics)
        return ScriptedConnection::ok(R"({"items":[{"metadata":{"namespace":"shop","name":"web"},
          "timestamp":"2025-11-16T08:00:00Z","containers":[{"usage":{"cpu":"1","memory":"1Gi"}}]}]})");
      if (nodes.empty()) return ScriptedConnection::refusal(503);
      return ScriptedConnection::ok(R"({"items":[)" + nodes + "]}");
    };
  }
  static std::string node(const std::string& name, const std::string& second) {
    return R"({"metadata":{"name":")" + name + R"("},"timestamp":"2025-11-16T07:59:)" + second +
           R"(Z","window":"15s","usage":{"cpu":"2","memory":"1Gi"}})";
  }
  Result<MetricsQuestions::Answer> ask() {
    std::optional<Result<MetricsQuestions::Answer>> got;
    questions.ask(connection, 5s, [&](Result<MetricsQuestions::Answer> answer) { got = std::move(answer); });
    connection.run_for(10s, [&] { return got.has_value(); });
    return *std::move(got);
  }

  ScriptedConnection connection;
  MetricsApiQuestions questions;
  std::string nodes = node("n1", "50");
  bool pods_allowed = true;
};

TEST_F(MetricsApiTest, TellsNodesAndPodsInCpuAndMemory) {
  const auto answer = ask();
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->reading.nodes.size(), 1U);
  EXPECT_EQ(answer->reading.nodes[0].known, NodeReport::kCpuAndMemory);
  EXPECT_EQ(answer->reading.nodes[0].over, 15s);
  ASSERT_EQ(answer->reading.pods.size(), 1U);
  EXPECT_EQ(answer->reading.pods[0].usage[Dimension::cpu], 1);
}

TEST_F(MetricsApiTest, ASampleIsNewWhenItsDateHasMovedWhateverTheServersClockSays) {
  EXPECT_TRUE(ask());
  EXPECT_TRUE(ask()->reading.nodes.empty());
  nodes = node("n1", "10");  // its clock was set back
  const auto answer = ask();
  ASSERT_EQ(answer->reading.nodes.size(), 1U);
  EXPECT_EQ(answer->reading.nodes[0].measured, connection.now());
}

TEST_F(MetricsApiTest, WithoutTheRightToSeePodsNodesAreToldAsAWhole) {
  pods_allowed = false;
  const auto answer = ask();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->reading.nodes[0].pods_known, NodeReport::Known{});
  EXPECT_EQ(answer->trouble.size(), 1U);
}

TEST_F(MetricsApiTest, AServerWithoutMetricsIsAFailure) {
  nodes.clear();
  EXPECT_FALSE(ask());
}

}  // namespace
}  // namespace evenkeel::apps
