#include "apps/prometheus_source.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "kubernetes/http_url.h"
#include "kubernetes/json_field.h"

namespace evenkeel::apps {
namespace {

using About = PrometheusQuestions::About;

constexpr const char* kByNode = "by (instance, node, nodename, kubernetes_node) ";
constexpr const char* kByPod = "by (namespace, pod) ";
// What carries a pod's traffic a second time on its way, and what never leaves the machine.
constexpr const char* kRealLinks =
    "device!~\"lo|(veth|cali|cni|flannel|cilium|lxc|docker|br-|virbr|kube|tunl|vxlan|ovs|dummy|nodelocal).*"
    "\"";
constexpr const char* kRealDisks = "device!~\"(loop|ram|zram|dm-|md|sr|fd).*\"";

std::string window_text(Duration window) {
  return std::to_string(
             std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::seconds>(window).count())) +
         "s";
}

// "a,b", without what is empty.
std::string both(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "," + b;
}

std::string without_port(const std::string& instance) {
  if (instance.starts_with('[')) return instance.substr(1, instance.find(']') - 1);
  const auto colon = instance.rfind(':');
  const bool is_bare_address = instance.find(':') != colon;  // of IPv6, without a port
  return colon == std::string::npos || is_bare_address ? instance : instance.substr(0, colon);
}

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

std::string node_of_series(const std::map<std::string, std::string>& labels) {
  for (const char* label : {"node", "nodename", "kubernetes_node"})
    if (const auto at = labels.find(label); at != labels.end() && !at->second.empty()) return at->second;
  const auto at = labels.find("instance");
  return at == labels.end() ? "" : without_port(at->second);
}

Result<std::vector<PrometheusSample>> read_instant_vector(std::string_view json) {
  using kubernetes::JsonField;
  const auto document = kubernetes::JsonDocument::parse(json, "Prometheus' answer");
  if (!document) return document.error();
  kubernetes::JsonReading reading("Prometheus' answer");
  const JsonField root(reading, document->root());
  if (root.text_at("status") != "success")
    return unavailable("Prometheus says: " + root.text_at("error", "nothing").substr(0, 200));
  const JsonField data = root.at("data");
  if (data.text_at("resultType") != "vector") return invalid("Prometheus' answer is not an instant vector");
  std::vector<PrometheusSample> samples;
  for (const JsonField& item : data.at("result").items()) {
    PrometheusSample sample;
    for (const auto& [label, value] : item.at("metric").entries())
      sample.labels[std::string(label)] = value.text();
    const std::vector<JsonField> pair = item.at("value").items();
    if (pair.size() != 2) {
      item.fail_at("value", "expected a time and a value");
      break;
    }
    sample.at = pair[0].number();
    sample.value = parse_number(pair[1].text()).value_or(std::nan(""));  // "NaN", "+Inf": no amounts
    samples.push_back(std::move(sample));
  }
  if (reading.error()) return *reading.error();
  return samples;
}

std::vector<PrometheusQuestions::Query> PrometheusQuestions::queries() const {
  const std::string& mine = options_.selector;
  const std::string over = "[" + window_text(options_.window) + "]))";
  const auto rate = [&](const std::string& by, const std::string& metric, const std::string& selector) {
    return "sum " + by + "(rate(" + metric + "{" + selector + "}" + over;
  };
  const auto node_rate = [&](const char* metric, const char* selector) {
    return rate(kByNode, metric, both(selector, mine));
  };
  const std::string containers = "pod!=\"\",container!=\"\"", pods = "pod!=\"\"";
  const std::string total = "node_memory_MemTotal_bytes{" + mine + "}";
  return {
      {About::stamp, Dimension::cpu, "max " + std::string(kByNode) + "(timestamp(" + total + "))"},
      {About::network_speed, Dimension::receive,
       "sum " + std::string(kByNode) + "(node_network_speed_bytes{" + both(kRealLinks, mine) + "} > 0)"},
      {About::node, Dimension::cpu, node_rate("node_cpu_seconds_total", "mode!~\"idle|iowait|steal\"")},
      {About::node, Dimension::memory,
       "sum " + std::string(kByNode) + "(" + total + " - node_memory_MemAvailable_bytes{" + mine + "})"},
      {About::node, Dimension::receive, node_rate("node_network_receive_bytes_total", kRealLinks)},
      {About::node, Dimension::transmit, node_rate("node_network_transmit_bytes_total", kRealLinks)},
      {About::node, Dimension::read, node_rate("node_disk_read_bytes_total", kRealDisks)},
      {About::node, Dimension::write, node_rate("node_disk_written_bytes_total", kRealDisks)},
      {About::pod, Dimension::cpu, rate(kByPod, "container_cpu_usage_seconds_total", containers)},
      {About::pod, Dimension::memory,
       "sum " + std::string(kByPod) + "(container_memory_working_set_bytes{" + containers + "})"},
      {About::pod, Dimension::receive, rate(kByPod, "container_network_receive_bytes_total", pods)},
      {About::pod, Dimension::transmit, rate(kByPod, "container_network_transmit_bytes_total", pods)},
      {About::pod, Dimension::read, rate(kByPod, "container_fs_reads_bytes_total", containers)},
      {About::pod, Dimension::write, rate(kByPod, "container_fs_writes_bytes_total", containers)},
  };
}

// One set of questions under way, and what came of each.
struct PrometheusQuestions::Round {
  std::vector<Query> queries;
  std::vector<std::optional<std::vector<PrometheusSample>>> answers;
  std::size_t open = 0;
  Time now{};
  Answer answer;
  Done done;
};

void PrometheusQuestions::ask(kubernetes::ApiConnection& connection, Duration within, Done done) {
  auto round = std::make_shared<Round>();
  round->queries = queries();
  round->answers.resize(round->queries.size());
  round->open = round->queries.size();
  round->done = std::move(done);
  for (std::size_t i = 0; i < round->queries.size(); ++i) {
    kubernetes::ApiRequest request;
    request.path =
        options_.prefix + "/api/v1/query?query=" + kubernetes::percent_encoded(round->queries[i].text);
    request.timeout = within;
    request.waits_its_turn = false;
    connection.call(std::move(request), [this, round, i, &connection](const kubernetes::ApiAnswer& answer) {
      round->now = connection.now();
      answered(round, i, answer);
    });
  }
}

void PrometheusQuestions::answered(const std::shared_ptr<Round>& round, std::size_t query,
                                   const kubernetes::ApiAnswer& answer) {
  if (!answer.ok()) {
    round->answer.trouble.push_back(answer.error().message);
  } else if (auto samples = read_instant_vector(answer.body)) {
    round->answers[query] = *std::move(samples);
  } else {
    round->answer.trouble.push_back(samples.error().message);
  }
  if (--round->open == 0) finish(*round);
}

void PrometheusQuestions::finish(Round& round) {
  if (!round.answers.front()) return round.done(unavailable(round.answer.trouble.front()));
  std::map<std::string, NodeReport> nodes;
  std::map<std::pair<std::string, std::string>, Usage> pods;
  NodeReport::Known pods_known{};
  Answer& answer = round.answer;

  // Only what was scraped since we last asked is news.
  for (const PrometheusSample& sample : *round.answers.front()) {
    const std::string name = node_of_series(sample.labels);
    if (name.empty() || !is_amount(sample.value)) {
      ++answer.refused["unnamed"];
      continue;
    }
    double& last = last_stamps_[name];
    if (sample.value <= last && last - sample.value < 3600) continue;  // much less: its clock was set back
    last = sample.value;
    NodeReport& report = nodes[name];
    report.node = name;
    report.known = {};
    report.over = options_.window;
    report.measured = round.now - from_seconds(std::clamp(sample.at - sample.value, 0.0, 1e6));
  }
  for (std::size_t i = 1; i < round.queries.size(); ++i) {
    if (!round.answers[i]) continue;
    const Query& query = round.queries[i];
    const auto d = static_cast<std::size_t>(query.dimension);
    if (query.about == About::pod && !round.answers[i]->empty()) pods_known[d] = true;
    for (const PrometheusSample& sample : *round.answers[i]) {
      if (!is_amount(sample.value)) {
        ++answer.refused["invalid"];
        continue;
      }
      if (query.about == About::pod) {
        const auto name_space = sample.labels.find("namespace"), pod = sample.labels.find("pod");
        if (name_space == sample.labels.end() || pod == sample.labels.end()) continue;
        pods[{name_space->second, pod->second}].of[d] = sample.value;
        continue;
      }
      const auto at = nodes.find(node_of_series(sample.labels));
      if (at == nodes.end()) continue;
      NodeReport& report = at->second;
      if (query.about == About::network_speed) {
        report.capacity[Dimension::receive] = report.capacity[Dimension::transmit] = sample.value;
      } else {
        report.total.of[d] = sample.value;
        report.known[d] = true;
      }
    }
  }
  for (auto& [name, report] : nodes) {
    report.pods_known = pods_known;
    answer.reading.nodes.push_back(std::move(report));
  }
  for (auto& [name, usage] : pods) answer.reading.pods.push_back({"", name.first, name.second, usage});
  round.done(std::move(answer));
}

}  // namespace evenkeel::apps
