// CPU and memory of pods out of the metrics API, and several meters as one.
#include <algorithm>
#include <map>
#include <utility>

#include "apps/service_source.h"
#include "kubernetes/http_url.h"
#include "kubernetes/metrics_api.h"

namespace evenkeel::apps {
namespace {

using kubernetes::PodUsageItem;
using kubernetes::ScalingLook;
using Pods = std::map<std::string, const PodUsageItem*>;

std::optional<double> value_of(const PodUsageItem& pod, const MetricTarget& metric) {
  const bool is_resource = metric.source == MetricTarget::Source::resource ||
                           metric.source == MetricTarget::Source::container_resource;
  if (!is_resource || (metric.name != "cpu" && metric.name != "memory")) return std::nullopt;
  const Dimension dimension = metric.name == "cpu" ? Dimension::cpu : Dimension::memory;
  if (metric.container.empty()) return pod.part.usage[dimension];
  for (const auto& container : pod.containers)
    if (container.name == metric.container) return container.usage[dimension];
  return std::nullopt;
}

void take(ScalingLook& look, const Pods& pods, Time now) {
  const std::vector<MetricTarget> cpu(1);
  const std::vector<MetricTarget>& metrics =
      look.scaler->spec.metrics.empty() ? cpu : look.scaler->spec.metrics;
  for (ReplicaReport& replica : look.report.replicas) {
    const auto at = pods.find(replica.name);
    if (at == pods.end()) continue;
    for (std::size_t i = 0; i < metrics.size(); ++i)
      if (const auto value = value_of(*at->second, metrics[i]))
        replica.samples[i] = ReplicaReport::Sample{*value, replica.requests[i],
                                                   std::min(at->second->stamp, now), at->second->window};
  }
}

}  // namespace

void MetricsApiMeter::measure(std::vector<ScalingLook>& looks, std::function<void()> done) {
  ++counts_.rounds;
  std::map<std::string, std::vector<std::size_t>> by_namespace;
  for (std::size_t i = 0; i < looks.size(); ++i)
    if (!looks[i].report.replicas.empty()) by_namespace[looks[i].scaler->spec.name_space].push_back(i);
  if (by_namespace.empty()) return done();
  const auto open = std::make_shared<std::size_t>(by_namespace.size());
  const auto trouble = std::make_shared<std::string>();
  for (auto& [name_space, of] : by_namespace) {
    ++counts_.questions;
    kubernetes::ApiRequest request;
    request.path =
        "/apis/metrics.k8s.io/v1beta1/namespaces/" + kubernetes::percent_encoded(name_space) + "/pods";
    request.timeout = within_;
    request.waits_its_turn = false;
    connection_.call(std::move(request), [this, &looks, mine = std::move(of), open, trouble, done,
                                          self = std::weak_ptr(alive_)](const kubernetes::ApiAnswer& answer) {
      if (!self.lock()) return;
      using List = kubernetes::MetricsList<PodUsageItem>;
      const auto list =
          answer.ok() ? kubernetes::read_pod_metrics_list(answer.body) : Result<List>(answer.error());
      if (list) {
        counts_.refused += list->unreadable;
        Pods pods;
        for (const PodUsageItem& pod : list->items) pods[pod.part.name] = &pod;
        for (const std::size_t i : mine) take(looks[i], pods, connection_.now());
      } else {
        ++counts_.failures;
        *trouble = list.error().message;
        for (const std::size_t i : mine)
          if (looks[i].trouble.empty()) looks[i].trouble = "metrics API: " + *trouble;
      }
      if (--*open > 0) return;
      if (*trouble != said_) log_("metrics API: " + (trouble->empty() ? "answers again" : *trouble));
      said_ = *trouble;
      done();
    });
  }
}

void ServiceMeters::measure(std::vector<ScalingLook>& looks, std::function<void()> done) {
  if (meters_.empty()) return done();
  const auto open = std::make_shared<std::size_t>(meters_.size());
  const auto shared_done = std::make_shared<std::function<void()>>(std::move(done));
  for (const auto& meter : meters_)
    meter->measure(looks, [open, shared_done] {
      if (--*open == 0) (*shared_done)();
    });
}

}  // namespace evenkeel::apps
