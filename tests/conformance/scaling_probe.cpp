// What the autoscaler and its `hpa` make of workloads and time, in the words of the scaling judge: a line of
// JSON in, a line of JSON out (scaling_judge/main.go).
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "autoscaling/autoscaler.h"
#include "autoscaling/policies/hpa.h"
#include "base/kube_quantity.h"

namespace {

using namespace evenkeel;
using namespace evenkeel::autoscaling;
using Json = nlohmann::json;

constexpr ScalerId kScaler{0, 1};

double amount(const Json& quantity) {
  return static_cast<double>(*parse_quantity_milli(quantity.get<std::string>())) / 1000;
}

Duration seconds(const Json& given) { return from_seconds(given.get<double>()); }

MetricTarget read_metric(const Json& given) {
  using Source = MetricTarget::Source;
  static const std::map<std::string, std::pair<Source, std::string>> kSources = {
      {"Resource", {Source::resource, "resource"}},
      {"ContainerResource", {Source::container_resource, "containerResource"}},
      {"Pods", {Source::pods, "pods"}},
      {"Object", {Source::object, "object"}},
      {"External", {Source::external, "external"}}};
  const auto& [source, field] = kSources.at(given.at("type"));
  const Json& said = given.at(field);
  MetricTarget metric;
  metric.source = source;
  metric.name = said.contains("metric") ? said["metric"]["name"] : said["name"];
  metric.container = said.value("container", "");
  const Json& target = said.at("target");
  if (target.contains("averageUtilization")) {
    metric.kind = MetricTarget::Kind::utilisation;
    metric.target = target["averageUtilization"].get<int>() / 100.0;
  } else {
    const bool average = target.contains("averageValue");
    metric.kind = average ? MetricTarget::Kind::average_value : MetricTarget::Kind::value;
    metric.target = amount(target[average ? "averageValue" : "value"]);
  }
  return metric;
}

ScalingRules read_rules(const Json& given) {
  ScalingRules rules;
  for (const Json& policy : given.value("policies", Json::array()))
    rules.limits.push_back(
        {policy["type"] == "Pods" ? ScalingRules::Limit::Kind::pods : ScalingRules::Limit::Kind::percent,
         policy["value"], seconds(policy["periodSeconds"])});
  const std::string select = given.value("selectPolicy", "Max");
  rules.select = select == "Max"   ? ScalingRules::Select::most
                 : select == "Min" ? ScalingRules::Select::least
                                   : ScalingRules::Select::disabled;
  if (given.contains("stabilizationWindowSeconds"))
    rules.stabilisation = seconds(given["stabilizationWindowSeconds"]);
  if (given.contains("tolerance"))
    rules.tolerance =
        static_cast<double>(*parse_quantity_milli(given["tolerance"].get<std::string>())) * 0.001;
  return rules;
}

ScalerSpec read_spec(const Json& given) {
  ScalerSpec spec;
  spec.policy = "hpa";
  spec.mode = ScalerSpec::Mode::automatic;
  spec.min_replicas = given["minReplicas"];
  spec.max_replicas = given["maxReplicas"];
  spec.interval = std::chrono::milliseconds{10};  // every tick is to be decided about, whenever it comes
  spec.stale_after = std::chrono::hours{1};       // the judge knows no such thing
  for (const Json& metric : given["metrics"]) spec.metrics.push_back(read_metric(metric));
  if (given.contains("behavior"))
    spec.behaviour = {read_rules(given["behavior"].value("scaleUp", Json::object())),
                      read_rules(given["behavior"].value("scaleDown", Json::object()))};
  return spec;
}

ReplicaReport read_pod(const Json& given, const Json& requests, Time now) {
  using Phase = ReplicaReport::Phase;
  static const std::map<std::string, Phase> kPhases = {{"Pending", Phase::pending},
                                                       {"Running", Phase::running},
                                                       {"Failed", Phase::failed},
                                                       {"Succeeded", Phase::succeeded}};
  ReplicaReport replica;
  replica.name = given["name"];
  replica.phase = kPhases.at(given["phase"]);
  replica.leaves = given["leaves"];
  replica.ready = given["ready"] == true;
  if (!given["ready"].is_null()) replica.ready_changed = now - seconds(given["changed"]);
  if (!given["started"].is_null()) replica.started = now - seconds(given["started"]);
  for (const Json& sample : given["samples"]) {
    std::optional<ReplicaReport::Sample> read;
    if (!sample.is_null())
      read = {sample["value"].get<double>() / 1000, 0, now - seconds(sample["age"]),
              seconds(sample["window"])};
    replica.samples.push_back(read);
  }
  for (const Json& request : requests) replica.requests.push_back(request.get<double>() / 1000);
  return replica;
}

ServiceReport read_report(const Json& tick, std::int32_t replicas, Time now) {
  ServiceReport report;
  report.measured = now;
  report.wanted = replicas;
  report.there = tick.value("status", replicas);
  std::size_t pods = tick["pods"].size();
  if (tick["follow"] == true) pods = std::min(pods, static_cast<std::size_t>(replicas));
  for (std::size_t i = 0; i < pods; ++i)
    report.replicas.push_back(read_pod(tick["pods"][i], tick["requests"], now));
  for (const Json& given : tick["amounts"])
    report.amounts.push_back(given.is_null()
                                 ? std::nullopt
                                 : std::optional(ServiceReport::Amount{given.get<double>() / 1000, now}));
  return report;
}

bool has(const ScalingDecision& decision, std::initializer_list<std::string_view> rules) {
  return std::any_of(decision.reasons.begin(), decision.reasons.end(), [&](const ScalingReason& reason) {
    return std::find(rules.begin(), rules.end(), reason.rule) != rules.end();
  });
}

Json answer(const Json& given) {
  Autoscaler autoscaler;
  Hpa hpa;
  Random random(1);
  Time now{std::chrono::hours{1000}};
  std::int32_t replicas = given["replicas"];
  Json verdicts = Json::array();
  for (const Json& tick : given["ticks"]) {
    if (tick.contains("spec")) autoscaler.observe(ScalerSet{kScaler, read_spec(tick["spec"])}, now);
    now += seconds(tick["after"]);
    if (tick.contains("replicas")) replicas = tick["replicas"];
    autoscaler.observe(ServiceReported{kScaler, read_report(tick, replicas, now)}, now);
    const std::optional<ScalingRequest> request = autoscaler.next(now);
    if (!request) return {{"error", "it was not asked"}};
    ScalingDecision decided;
    bool bounded_at_once = false;
    for (const ScalingAction& action : autoscaler.commit(*request, hpa.recommend(*request, random))) {
      if (const auto* scale = std::get_if<ScaleWorkload>(&action)) {
        if (scale->from != replicas) return {{"error", "it goes by another number of replicas"}};
        if (tick.value("refuse", false)) {
          autoscaler.observe(ScaleFailed{kScaler, "refused"}, now);
        } else {
          replicas = scale->to;
          autoscaler.observe(Scaled{kScaler, replicas}, now);
        }
      } else {
        decided = std::get<TellDecision>(action).decision;
        bounded_at_once = decided.decided_by == "bounds";
      }
    }
    verdicts.push_back({{"replicas", replicas},
                        {"failed", has(decided, {"hold"})},
                        {"stabilised", has(decided, {"stabilisation"})},
                        {"limited", !bounded_at_once && has(decided, {"limit", "bounds"})}});
  }
  return {{"id", given["id"]}, {"verdicts", verdicts}};
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << answer(Json::parse(line)).dump() << std::endl;
  return 0;
}
