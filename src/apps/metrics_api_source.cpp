#include "apps/metrics_api_source.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kubernetes/metrics_api.h"

namespace evenkeel::apps {

struct MetricsApiQuestions::Round {
  std::optional<Result<kubernetes::MetricsList<NodeReport>>> nodes;
  std::optional<Result<kubernetes::MetricsList<kubernetes::PodUsageItem>>> pods;
  Done done;
};

void MetricsApiQuestions::ask(kubernetes::ApiConnection& connection, Duration within, Done done) {
  auto round = std::make_shared<Round>();
  round->done = std::move(done);
  const auto get = [&](const char* path, auto take) {
    kubernetes::ApiRequest request;
    request.path = path;
    request.timeout = within;
    request.waits_its_turn = false;
    connection.call(std::move(request),
                    [this, round, take, &connection](const kubernetes::ApiAnswer& answer) {
                      take(*round, answer);
                      if (round->nodes && round->pods) finish(*round, connection.now());
                    });
  };
  get(kubernetes::kNodeMetrics, [](Round& to, const kubernetes::ApiAnswer& answer) {
    if (answer.ok())
      to.nodes = kubernetes::read_node_metrics_list(answer.body);
    else
      to.nodes = answer.error();
  });
  get(kubernetes::kPodMetrics, [](Round& to, const kubernetes::ApiAnswer& answer) {
    if (answer.ok())
      to.pods = kubernetes::read_pod_metrics_list(answer.body);
    else
      to.pods = answer.error();
  });
}

void MetricsApiQuestions::finish(Round& round, Time now) {
  if (!*round.nodes) return round.done(round.nodes->error());
  Answer answer;
  const bool pods_told = static_cast<bool>(*round.pods);
  if (!pods_told) answer.trouble.push_back(round.pods->error().message);
  const std::size_t unreadable = (*round.nodes)->unreadable + (pods_told ? (*round.pods)->unreadable : 0);
  if (unreadable > 0) answer.refused["malformed"] += unreadable;
  for (NodeReport& report : (*round.nodes)->items) {
    const Time stamp = report.measured;
    const auto [last, is_first] = last_stamps_.try_emplace(report.node, stamp);
    if (!is_first && std::exchange(last->second, stamp) == stamp) continue;
    // Of the first there is nothing but its date; the later ones are new since we last asked.
    report.measured = is_first ? std::min(stamp, now) : now;
    answer.reading.nodes.push_back(std::move(report));
  }
  if (pods_told)
    for (kubernetes::PodUsageItem& pod : (*round.pods)->items)
      answer.reading.pods.push_back(std::move(pod.part));
  else
    for (NodeReport& report : answer.reading.nodes) report.pods_known = {};
  round.done(std::move(answer));
}

}  // namespace evenkeel::apps
