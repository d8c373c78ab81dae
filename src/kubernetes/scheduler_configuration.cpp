#include "kubernetes/scheduler_configuration.h"

#include <limits>
#include <set>

#include "base/numbers.h"
#include "base/yaml_file.h"
#include "kubernetes/scheduler_profile.h"
#include "kubernetes/yaml_to_json.h"

namespace evenkeel::kubernetes {
namespace {

// Go's spelling of durations: 15s, 1m30s, 250ms, 1.5h.
std::optional<Duration> parse_go_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr Unit kUnits[] = {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9},
                                    {"h", 3600},  {"m", 60},    {"s", 1}};
  double sign = 1, total = 0;
  if (text.starts_with('-') || text.starts_with('+')) {
    sign = text.front() == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  if (text == "0") return Duration{};
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t length = number_length(text);
    const auto number = parse_number(text.substr(0, length));
    if (length == 0 || !number) return std::nullopt;
    text.remove_prefix(length);
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits)
      if (!unit && text.starts_with(candidate.name)) unit = &candidate;
    if (!unit) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += *number * unit->seconds;
  }
  if (total < 0 || total > 1e9) return std::nullopt;
  return from_seconds(sign * total);
}

}  // namespace

Duration duration_at(const JsonField& map, std::string_view key, Duration fallback) {
  const JsonField field = map.at(key);
  if (!field) return fallback;
  const std::string text = field.text();
  const auto duration = parse_go_duration(text);
  if (!duration) field.fail("expected a duration such as 15s, found '" + text + "'");
  return duration.value_or(Duration{}) == Duration{} ? fallback : *duration;  // 0 is what is filled in
}

namespace {

LeaderElection read_leader_election(const JsonField& field) {
  refuse_unknown_fields(field, {"leaderElect", "leaseDuration", "renewDeadline", "retryPeriod",
                                "resourceLock", "resourceName", "resourceNamespace"});
  LeaderElection election;
  election.elect = field.flag_at("leaderElect", true);
  election.lease = duration_at(field, "leaseDuration", election.lease);
  election.renew_deadline = duration_at(field, "renewDeadline", election.renew_deadline);
  election.retry_period = duration_at(field, "retryPeriod", election.retry_period);
  const auto text_at = [&](std::string_view key, std::string& into) {
    if (std::string text = field.text_at(key); !text.empty()) into = std::move(text);
  };
  text_at("resourceLock", election.resource_lock);
  text_at("resourceName", election.name);
  text_at("resourceNamespace", election.name_space);
  if (!election.elect) return election;
  if (election.resource_lock != "leases")
    field.fail_at("resourceLock", "expected leases, found '" + election.resource_lock + "'");
  for (const auto& [key, duration] : {std::pair{"leaseDuration", election.lease},
                                      {"renewDeadline", election.renew_deadline},
                                      {"retryPeriod", election.retry_period}})
    if (duration < Duration{}) field.fail_at(key, "expected more than 0");
  if (election.lease <= election.renew_deadline)
    field.fail_at("leaseDuration", "expected more than renewDeadline");
  return election;
}

ClientConnection read_client(const JsonField& field) {
  refuse_unknown_fields(field, {"kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"});
  ClientConnection client;
  client.kubeconfig = field.text_at("kubeconfig");
  if (const double qps = field.at("qps").number(); qps != 0) client.qps = qps;
  if (const std::int32_t burst = field.int32_at("burst"); burst != 0) client.burst = burst;
  if (client.burst < 0) field.fail_at("burst", "expected 0 or more, found " + std::to_string(client.burst));
  client.is_limited = field.has("qps") || field.has("burst");
  return client;
}

std::optional<std::int32_t> percentage_at(const JsonField& map, std::string_view key) {
  if (!map.has(key)) return std::nullopt;
  return static_cast<std::int32_t>(map.at(key).integer(0, 100));
}

// Whose queue is sorted by what must not depend on the profile: there is one queue.
std::string queue_sort_of(const JsonField& profile) {
  const JsonField set = profile.at("plugins").at("queueSort");
  std::string text;
  for (const JsonField& plugin : set.at("enabled").items()) text += "+" + plugin.text_at("name");
  for (const JsonField& plugin : set.at("disabled").items()) text += "-" + plugin.text_at("name");
  return text;
}

SchedulerProfile read_profile(const JsonField& field) {
  refuse_unknown_fields(field, {"schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"});
  SchedulerProfile profile;
  profile.scheduler_name = field.text_at("schedulerName", profile.scheduler_name);
  profile.percentage_of_nodes_to_score = percentage_at(field, "percentageOfNodesToScore");
  read_plugins(field.at("plugins"), profile);
  read_plugin_arguments(field.at("pluginConfig"), profile);
  return profile;
}

SchedulerConfiguration read(const JsonField& root) {
  refuse_unknown_fields(
      root, {"apiVersion", "kind", "parallelism", "leaderElection", "clientConnection", "enableProfiling",
             "enableContentionProfiling", "percentageOfNodesToScore", "podInitialBackoffSeconds",
             "podMaxBackoffSeconds", "profiles", "extenders", "delayCacheUntilActive"});
  SchedulerConfiguration configuration;
  if (const std::string kind = root.text_at("kind"); kind != "KubeSchedulerConfiguration")
    root.fail_at("kind", "expected KubeSchedulerConfiguration, found '" + kind + "'");
  if (const std::string version = root.text_at("apiVersion"); version != "kubescheduler.config.k8s.io/v1")
    root.fail_at("apiVersion", "expected kubescheduler.config.k8s.io/v1, found '" + version + "'");
  configuration.parallelism = root.int32_at("parallelism", configuration.parallelism);
  if (configuration.parallelism <= 0) root.fail_at("parallelism", "expected more than 0");
  configuration.percentage_of_nodes_to_score = percentage_at(root, "percentageOfNodesToScore");
  configuration.initial_backoff_s = root.at("podInitialBackoffSeconds").integer(1, 1'000'000, 1);
  configuration.max_backoff_s = root.at("podMaxBackoffSeconds").integer(1, 1'000'000, 10);
  if (configuration.max_backoff_s < configuration.initial_backoff_s)
    root.fail_at("podMaxBackoffSeconds", "expected no less than podInitialBackoffSeconds");
  static_cast<void>(root.flag_at("enableProfiling"));
  static_cast<void>(root.flag_at("enableContentionProfiling"));
  static_cast<void>(root.flag_at("delayCacheUntilActive"));
  configuration.leader_election = read_leader_election(root.at("leaderElection"));
  configuration.client = read_client(root.at("clientConnection"));
  if (!root.at("extenders").items().empty())
    root.fail_at(
        "extenders",
        "HTTP extenders are not honoured here; take them out, or keep kube-scheduler for their pods");
  std::set<std::string> names;
  const std::vector<JsonField> profiles = root.at("profiles").items();
  for (const JsonField& profile : profiles) {
    configuration.profiles.push_back(read_profile(profile));
    const bool named = profile.has("schedulerName") || profiles.size() == 1;
    if (!named || configuration.profiles.back().scheduler_name.empty())
      profile.fail_at("schedulerName", "expected a name, found nothing");
    if (queue_sort_of(profile) != queue_sort_of(profiles.front()))
      profile.fail_at("plugins.queueSort", "expected the same as in the first profile");
    if (!names.insert(configuration.profiles.back().scheduler_name).second)
      profile.fail_at("schedulerName", "'" + configuration.profiles.back().scheduler_name +
                                           "' is the name of an earlier profile");
  }
  if (configuration.profiles.empty()) configuration.profiles.push_back(default_profile());
  return configuration;
}

}  // namespace

SchedulerProfile default_profile() {
  static const SchedulerProfile kDefault = [] {
    const JsonDocument empty = *JsonDocument::parse("{}", "default profile");
    JsonReading reading("default profile");
    SchedulerProfile profile = read_profile(JsonField(reading, empty.root()));
    EVENKEEL_CHECK(!reading.error());
    return profile;
  }();
  return kDefault;
}

Result<SchedulerConfiguration> read_scheduler_configuration(JsonValue root, const std::string& name) {
  JsonReading reading(name);
  SchedulerConfiguration configuration = read(JsonField(reading, root));
  if (reading.error()) return *reading.error();
  return configuration;
}

Result<SchedulerConfiguration> read_scheduler_configuration(std::string_view text, const std::string& name) {
  const Result<YamlFile> file = YamlFile::parse(text, name);
  if (!file) return file.error();
  const Result<JsonDocument> document = JsonDocument::parse(yaml_to_json(file->root()), name);
  if (!document) return document.error();
  return read_scheduler_configuration(document->root(), name);
}

}  // namespace evenkeel::kubernetes
