#include "apps/prometheus_source.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "kubernetes/scripted_connection.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;
using kubernetes::ApiRequest;
using kubernetes::ScriptedConnection;

std::string decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
    i += 2;
  }
  return plain;
}

// A Prometheus that answers a query by the first of these words that is in it.
class PrometheusTest : public ::testing::Test {
 protected:
  PrometheusTest() {
    connection.answer = [this](const ApiRequest& request) -> std::optional<kubernetes::ApiAnswer> {
      const std::string query = decoded(request.path.substr(request.path.find("query=") + 6));
      asked.push_back(query);
      if (is_down) return ScriptedConnection::silence();
      for (const auto& [word, rows] : series) {
        if (query.find(word) == std::string::npos) continue;
        if (rows.is_null()) return ScriptedConnection::refusal(500);
        json result = json::array();
        for (const json& row : rows) result.push_back({{"metric", row[0]}, {"value", {1000.0, row[1]}}});
        return ScriptedConnection::ok(
            json{{"status", "success"}, {"data", {{"resultType", "vector"}, {"result", result}}}}.dump());
      }
      return ScriptedConnection::ok(R"({"status":"success","data":{"resultType":"vector","result":[]}})");
    };
    set("timestamp(", {row("n1", "998"), row("n2", "995.5")});
    set("node_network_speed_bytes", {row("n1", "1.25e9")});
    set("node_cpu_seconds", {row("n1", "1.5"), row("n2", "3")});
    set("MemAvailable", {row("n1", "4000000000"), row("n2", "1e9")});
    set("node_network_receive", {row("n1", "1e6"), row("n2", "2e6")});
    set("node_network_transmit", {row("n1", "3e6"), row("n2", "4e6")});
    set("node_disk_read", {row("n1", "5e6"), row("n2", "6e6")});
    set("node_disk_written", {row("n1", "7e6"), row("n2", "8e6")});
  }
  static json row(const std::string& node, const std::string& value) {
    return json::array({json::object({{"instance", node + ":9100"}}), value});
  }
  // Not as one json: whether braces around a single one wrap or copy it, compilers disagree.
  void set(const std::string& word, const std::vector<json>& rows) {
    put(word, json::array());
    for (const json& row : rows) series.back().second.push_back(row);
  }
  void put(const std::string& word, json rows) {
    std::erase_if(series, [&](const auto& entry) { return entry.first == word; });
    series.emplace_back(word, std::move(rows));
  }
  Result<MetricsQuestions::Answer> ask() {
    std::optional<Result<MetricsQuestions::Answer>> got;
    questions.ask(connection, 5s, [&](Result<MetricsQuestions::Answer> answer) { got = std::move(answer); });
    connection.run_for(10s, [&] { return got.has_value(); });
    EXPECT_TRUE(got);
    return *std::move(got);
  }

  ScriptedConnection connection;
  PrometheusQuestions questions{{"", 1min, "job=\"node\""}};
  std::vector<std::pair<std::string, json>> series;
  std::vector<std::string> asked;
  bool is_down = false;
};

TEST_F(PrometheusTest, TellsTheSixMetricsOfEveryNodeAndHowOldTheyAre) {
  const auto answer = ask();
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->reading.nodes.size(), 2U);
  const NodeReport& first = answer->reading.nodes[0];
  EXPECT_EQ(first.node, "n1");
  EXPECT_EQ(first.total, (Usage{{1.5, 4e9, 1e6, 3e6, 5e6, 7e6}}));
  EXPECT_EQ(first.known, NodeReport::kAll);
  EXPECT_EQ(first.measured, connection.now() - 2s);
  EXPECT_EQ(answer->reading.nodes[1].measured, connection.now() - 4500ms);
  EXPECT_EQ(first.capacity[Dimension::transmit], 1.25e9);
  EXPECT_EQ(answer->reading.nodes[1].capacity[Dimension::transmit], 0);
  EXPECT_EQ(first.over, 1min);
  EXPECT_EQ(first.pods_known, NodeReport::Known{});  // no cAdvisor here
}

TEST_F(PrometheusTest, ASampleThatWasNotScrapedAnewIsNoNews) {
  EXPECT_EQ(ask()->reading.nodes.size(), 2U);
  EXPECT_TRUE(ask()->reading.nodes.empty());
  set("timestamp(", {row("n1", "999"), row("n2", "995.5")});
  const auto answer = ask();
  ASSERT_EQ(answer->reading.nodes.size(), 1U);
  EXPECT_EQ(answer->reading.nodes[0].node, "n1");
}

TEST_F(PrometheusTest, MissingAndImpossibleValuesAreNotKnownAndCounted) {
  set("node_cpu_seconds", {row("n1", "NaN"), row("n2", "-0.5")});
  set("node_disk_read", {row("n2", "+Inf")});
  put("node_network_receive", nullptr);  // HTTP 500
  const auto answer = ask();
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->reading.nodes.size(), 2U);
  EXPECT_EQ(answer->reading.nodes[0].known, (NodeReport::Known{false, true, false, true, false, true}));
  EXPECT_EQ(answer->reading.nodes[1].known, (NodeReport::Known{false, true, false, true, false, true}));
  EXPECT_EQ(answer->refused.at("invalid"), 3U);
  EXPECT_EQ(answer->trouble.size(), 1U);
}

TEST_F(PrometheusTest, PodsAreToldWhereCAdvisorIsScraped) {
  const auto pod = [](const char* name, const char* value) {
    return json::array({json::object({{"namespace", "shop"}, {"pod", name}}), value});
  };
  set("container_cpu_usage", {pod("web-1", "0.5"), pod("web-2", "0.25")});
  set("container_memory_working_set", {pod("web-1", "1e9")});
  const auto answer = ask();
  ASSERT_EQ(answer->reading.pods.size(), 2U);
  EXPECT_EQ(answer->reading.pods[0].name, "web-1");
  EXPECT_EQ(answer->reading.pods[0].usage, (Usage{{0.5, 1e9, 0, 0, 0, 0}}));
  EXPECT_EQ(answer->reading.nodes[0].pods_known, NodeReport::kCpuAndMemory);
}

TEST_F(PrometheusTest, OneThatIsDownIsAFailureAndItsReturnIsNot) {
  is_down = true;
  EXPECT_FALSE(ask());
  is_down = false;
  EXPECT_EQ(ask()->reading.nodes.size(), 2U);
}

TEST_F(PrometheusTest, AnswersThatAreNoneDoNoHarm) {
  for (const char* text :
       {"", "[]", "{}", "null", "<html>", R"({"status":"error","error":"bad_data"})",
        R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
        R"({"status":"success","data":{"resultType":"vector","result":[{"value":[1]}]}})",
        R"({"status":"success","data":{"resultType":"vector","result":[{"value":["x",1]}]}})"})
    EXPECT_FALSE(read_instant_vector(text)) << text;
  const auto samples = read_instant_vector(
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1.5,"2"]}]}})");
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->front().value, 2);
}

TEST_F(PrometheusTest, RatesAndSelectorsAreInEveryQuestion) {
  EXPECT_TRUE(ask());
  ASSERT_EQ(asked.size(), questions.queries().size());
  const auto has = [](const std::string& query, const char* word) {
    return query.find(word) != std::string::npos;
  };
  for (const std::string& query : asked) {
    EXPECT_TRUE(!has(query, "node_") || has(query, "job=\"node\"")) << query;
    EXPECT_TRUE(!has(query, "_total") || has(query, "[60s]")) << query;
  }
}

TEST(NodeOfSeries, GoesByLabelsThatNameItElseByTheInstance) {
  EXPECT_EQ(node_of_series({{"node", "w1"}, {"instance", "10.0.0.1:9100"}}), "w1");
  EXPECT_EQ(node_of_series({{"kubernetes_node", "w2"}, {"instance", "10.0.0.1:9100"}}), "w2");
  EXPECT_EQ(node_of_series({{"instance", "10.0.0.1:9100"}}), "10.0.0.1");
  EXPECT_EQ(node_of_series({{"instance", "worker-1"}}), "worker-1");
  EXPECT_EQ(node_of_series({{"instance", "[fd00::1]:9100"}}), "fd00::1");
  EXPECT_EQ(node_of_series({{"instance", "fd00::1"}}), "fd00::1");
  EXPECT_EQ(node_of_series({}), "");
}

}  // namespace
}  // namespace evenkeel::apps
