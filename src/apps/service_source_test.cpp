#include "apps/service_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "kubernetes/scripted_connection.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;
using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::ScalingLook;
using kubernetes::ScriptedConnection;
using kubernetes::WorkloadScaler;

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

ScalingLook look_at(const std::string& name, WorkloadScaler scaler = {}) {
  scaler.spec.name_space = "shop";
  scaler.spec.name = scaler.spec.target.name = name;
  ScalingLook look;
  look.scaler = std::make_shared<const WorkloadScaler>(std::move(scaler));
  look.report.amounts.resize(std::max<std::size_t>(1, look.scaler->spec.metrics.size()));
  for (const char* number : {"-1", "-2"}) {
    ReplicaReport replica;
    replica.name = name + number;
    replica.samples.resize(look.report.amounts.size());
    replica.requests.assign(look.report.amounts.size(), 0.5);
    look.report.replicas.push_back(std::move(replica));
  }
  return look;
}

// A Prometheus that takes joined queries apart and answers each by the first of these words in it.
class PrometheusMeterTest : public ::testing::Test {
 protected:
  PrometheusMeterTest() {
    connection.answer = [this](const ApiRequest& request) -> std::optional<ApiAnswer> {
      const std::string query = decoded(request.body.substr(request.body.find('=') + 1));
      asked.push_back(query);
      if (is_silent) return std::nullopt;
      if (is_down) return ScriptedConnection::silence();
      if (query.find("syntax error") != std::string::npos)
        return ScriptedConnection::refusal(400, "", "parse error");
      json result = json::array();
      const std::regex part("label_replace\\((.*?), \"evenkeel\", \"(\\d+)\", \"\", \"\"\\)");
      for (std::sregex_iterator one(query.begin(), query.end(), part), end; one != end; ++one)
        add(result, (*one)[1], {{"evenkeel", (*one)[2].str()}});
      if (query.find("label_replace") == std::string::npos) add(result, query, json::object());
      return ScriptedConnection::ok(
          json{{"status", "success"}, {"data", {{"resultType", "vector"}, {"result", result}}}}.dump());
    };
  }
  void add(json& result, const std::string& query, const json& labels) const {
    for (const auto& [word, rows] : series) {
      if (query.find(word) == std::string::npos) continue;
      for (const auto& [pod, value] : rows) {
        json metric = labels;
        if (!pod.empty()) metric["pod"] = pod;
        result.push_back({{"metric", metric}, {"value", {1000.0, value}}});
      }
      return;
    }
  }
  void measure(std::vector<ScalingLook>& looks) {
    bool done = false;
    meter.measure(looks, [&] { done = true; });
    connection.run_for(1min, [&] { return done; });
    EXPECT_TRUE(done);
  }

  ScriptedConnection connection;
  bool is_down = false, is_silent = false;
  std::vector<std::string> asked;
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> series = {
      {"max(timestamp(http", {{"", "990"}}},
      {"max by (pod) (timestamp(container", {{"web-1", "999"}, {"web-2", "940"}}},
      {"histogram_quantile", {{"", "0.2"}}},
      {"sum(rate(http", {{"", "120"}}},
      {"in_flight", {{"", "7"}}},
      {"sum by (pod) (rate(container_cpu", {{"web-1", "0.25"}, {"web-2", "0.5"}, {"stranger", "9"}}}};
  PrometheusMeter meter{connection, {}};
};

TEST_F(PrometheusMeterTest, FillsInWhatItIsToldAndWhenItWasMeasured) {
  std::vector<ScalingLook> looks;
  looks.push_back(look_at("web"));
  const Time now = connection.now();
  measure(looks);
  EXPECT_EQ(asked.size(), 1U);
  const ServiceReport& report = looks[0].report;
  EXPECT_DOUBLE_EQ(report.requests_per_s->value, 120);
  EXPECT_DOUBLE_EQ(report.response_s->value, 0.2);
  EXPECT_DOUBLE_EQ(report.in_flight->value, 7);
  EXPECT_EQ(report.response_s->measured, now - 10s);
  EXPECT_DOUBLE_EQ(report.replicas[1].samples[0]->value, 0.5);
  EXPECT_DOUBLE_EQ(report.replicas[1].samples[0]->request, 0.5);
  EXPECT_EQ(report.replicas[1].samples[0]->measured, now - 60s);
  EXPECT_EQ(looks[0].trouble, "");
}

TEST_F(PrometheusMeterTest, LeavesAbsentWhatIsMissingOrNoNumber) {
  series[2].second = {{"", "NaN"}};
  series[3].second = {};
  series[5].second = {{"web-2", "0.5"}};
  std::vector<ScalingLook> looks;
  looks.push_back(look_at("web"));
  measure(looks);
  EXPECT_FALSE(looks[0].report.response_s);
  EXPECT_FALSE(looks[0].report.requests_per_s);
  EXPECT_FALSE(looks[0].report.replicas[0].samples[0]);  // its time alone is no sample
  EXPECT_TRUE(looks[0].report.replicas[1].samples[0]);
}

TEST_F(PrometheusMeterTest, AsksAboutAThousandWorkloadsInAHundredthAsManyQueries) {
  std::vector<ScalingLook> looks;
  for (int i = 0; i < 1000; ++i) looks.push_back(look_at("web"));
  measure(looks);
  EXPECT_LE(asked.size(), 100U);
  for (const ScalingLook& look : looks) ASSERT_TRUE(look.report.requests_per_s);
}

TEST_F(PrometheusMeterTest, AQueryThatIsNoneCostsNobodyElseTheirAnswer) {
  WorkloadScaler wrong;
  wrong.sources.request_rate = "syntax error";
  std::vector<ScalingLook> looks;
  looks.push_back(look_at("web"));
  looks.push_back(look_at("shop", wrong));
  measure(looks);
  EXPECT_TRUE(looks[0].report.requests_per_s);
  EXPECT_EQ(looks[0].trouble, "");
  EXPECT_FALSE(looks[1].report.requests_per_s);
  EXPECT_TRUE(looks[1].report.in_flight);
  EXPECT_NE(looks[1].trouble.find("parse error"), std::string::npos);
}

TEST_F(PrometheusMeterTest, NeverJoinsAnOwnersWordsWithAnothersQueries) {
  WorkloadScaler sly;
  sly.sources.labels = R"(a="b"}[1m])), "evenkeel", "0", "", "") or label_replace(vector(9)";
  std::vector<ScalingLook> looks;
  looks.push_back(look_at("web"));
  looks.push_back(look_at("shop", sly));
  measure(looks);
  for (const std::string& query : asked)
    EXPECT_FALSE(query.find("vector(9)") != std::string::npos && query.find("web-1") != std::string::npos);
}

TEST_F(PrometheusMeterTest, EndsInTimeAndSaysWhyWhereNobodyAnswers) {
  for (bool* way : {&is_down, &is_silent}) {
    *way = true;
    std::vector<ScalingLook> looks;
    looks.push_back(look_at("web"));
    const Time begun = connection.now();
    measure(looks);
    EXPECT_LE(connection.now() - begun, Duration(5s));
    EXPECT_FALSE(looks[0].report.requests_per_s);
    EXPECT_NE(looks[0].trouble, "");
    *way = false;
  }
}

TEST(ServiceQueries, FillInWhomTheyAreAbout) {
  WorkloadScaler scaler;
  scaler.spec.level.percentile = 0.99;
  const ScalingLook look = look_at("web.v1", scaler);
  EXPECT_EQ(
      filled_in("a{n=\"$namespace\",w=\"$workload\",p=~\"$pods\"}[$window] > $percentile $5", look, 2min),
      "a{n=\"shop\",w=\"web.v1\",p=~\"web\\\\.v1-1|web\\\\.v1-2\"}[120s] > 0.99 $5");
}

TEST(ServiceQueries, OfIstioAreByWorkload) {
  WorkloadScaler scaler;
  scaler.sources.ready_made = "istio";
  std::vector<std::string> trouble;
  const auto queries = service_queries(look_at("web", scaler), {}, trouble);
  EXPECT_EQ(queries.at(0).text,
            "sum(rate(istio_requests_total{reporter=\"destination\",destination_workload_namespace=\"shop\","
            "destination_workload=\"web\"}[60s]))");
  EXPECT_NE(queries.at(1).text.find("/ 1000"), std::string::npos);
}

TEST(ServiceQueries, OfAMetricOfTheWholeAreItsOwners) {
  WorkloadScaler scaler;
  MetricTarget queue;
  queue.source = MetricTarget::Source::external;
  queue.name = "queue";
  scaler.spec.metrics = {queue};
  std::vector<std::string> trouble;
  (void)service_queries(look_at("web", scaler), {}, trouble);
  ASSERT_EQ(trouble.size(), 1U);
  scaler.sources.metrics["queue"] = "sum(queue{for=\"$workload\"})";
  trouble.clear();
  const auto queries = service_queries(look_at("web", scaler), {}, trouble);
  EXPECT_TRUE(trouble.empty());
  EXPECT_EQ(queries.back().text, "sum(queue{for=\"web\"})");
  EXPECT_EQ(queries.back().about, ServiceQuery::About::amount);
}

}  // namespace
}  // namespace evenkeel::apps
