#include "apps/autoscaler_configuration.h"

#include "base/yaml_file.h"
#include "kubernetes/json_field.h"
#include "kubernetes/scheduler_profile.h"
#include "kubernetes/yaml_to_json.h"

namespace evenkeel::apps {
namespace {

using kubernetes::duration_at;
using kubernetes::JsonField;
using kubernetes::refuse_unknown_fields;

void read_election(const JsonField& field, AutoscalerConfiguration& into) {
  if (!field) return;
  refuse_unknown_fields(field, {"leaderElect", "resourceName", "resourceNamespace", "leaseDuration",
                                "renewDeadline", "retryPeriod"});
  into.elect = field.flag_at("leaderElect", true);
  into.lease_name = field.text_at("resourceName", into.lease_name);
  into.lease_namespace = field.text_at("resourceNamespace", into.lease_namespace);
  into.lease = duration_at(field, "leaseDuration", into.lease);
  into.renew_deadline = duration_at(field, "renewDeadline", into.renew_deadline);
  into.retry_period = duration_at(field, "retryPeriod", into.retry_period);
  if (into.lease <= into.renew_deadline) field.fail_at("leaseDuration", "expected more than renewDeadline");
  if (into.renew_deadline <= into.retry_period)
    field.fail_at("renewDeadline", "expected more than retryPeriod");
}

void read_metrics(const JsonField& field, AutoscalerConfiguration& into) {
  if (!field) return;
  refuse_unknown_fields(field, {"prometheus", "prometheusCA", "prometheusTokenFile", "window", "within",
                                "template", "metricsAPI"});
  into.metrics.prometheus = field.text_at("prometheus");
  into.metrics.prometheus_ca = field.text_at("prometheusCA");
  into.metrics.prometheus_token_file = field.text_at("prometheusTokenFile");
  into.metrics.prometheus_window = field.text_at("window", into.metrics.prometheus_window);
  into.metrics.metrics_api = field.flag_at("metricsAPI");
  into.metrics_within = duration_at(field, "within", into.metrics_within);
  if (into.metrics_within <= Duration{}) field.fail_at("within", "expected more than nothing");
  into.ready_made = field.choice_at<std::string>(
      "template",
      {{"istio", "istio"}, {"http-histogram", "http-histogram"}, {"cadvisor", "cadvisor"}, {"none", "none"}},
      into.ready_made);
}

}  // namespace

Result<AutoscalerConfiguration> read_autoscaler_configuration(std::string_view text, const std::string& name,
                                                              const std::vector<std::string>& overrides) {
  Result<YamlFile> file = YamlFile::parse(text, name);
  if (!file) return file.error();
  for (const std::string& assignment : overrides)
    if (const Status set = file->set(assignment); !set) return invalid("--set " + set.error().message);
  const auto document = kubernetes::JsonDocument::parse(kubernetes::yaml_to_json(file->root()), name);
  if (!document) return document.error();
  kubernetes::JsonReading reading(name);
  const JsonField root(reading, document->root());
  if (!root.is_map()) return invalid(name + ": expected an AutoscalerConfiguration, found no map");
  refuse_unknown_fields(
      root, {"apiVersion", "kind", "clientConnection", "leaderElection", "metrics", "preview", "events",
             "policy", "listen", "listenTokenFile", "state", "room", "leaving"});
  if (root.text_at("apiVersion") != "evenkeel.io/v1alpha1")
    root.fail_at("apiVersion", "expected evenkeel.io/v1alpha1, found '" + root.text_at("apiVersion") + "'");
  if (root.text_at("kind") != "AutoscalerConfiguration")
    root.fail_at("kind", "expected AutoscalerConfiguration, found '" + root.text_at("kind") + "'");
  AutoscalerConfiguration read;
  if (const JsonField client = root.at("clientConnection")) {
    refuse_unknown_fields(client, {"kubeconfig", "context", "qps", "burst"});
    read.kubeconfig = client.text_at("kubeconfig");
    read.context = client.text_at("context");
    read.qps = client.at("qps").number();
    read.burst = client.int32_at("burst");
    if (read.qps < 0 || read.burst < 0) client.fail("expected qps and burst of 0 or more");
  }
  read_election(root.at("leaderElection"), read);
  read_metrics(root.at("metrics"), read);
  read.preview = root.flag_at("preview");
  read.events = root.flag_at("events", true);
  read.policy = root.text_at("policy");
  read.listen = root.text_at("listen");
  read.token_file = root.text_at("listenTokenFile");
  read.state = root.text_at("state");
  read.asks_for_room = root.choice_at<bool>("room", {{"scheduler", true}, {"ignore", false}}, true);
  read.names_leavers = root.choice_at<bool>("leaving", {{"balance", true}, {"any", false}}, true);
  if (reading.error()) return *reading.error();
  return read;
}

}  // namespace evenkeel::apps
