// `evenkeel autoscaler`: the horizontal autoscaler of a live cluster.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>

#include "apps/autoscaler_configuration.h"
#include "apps/autoscaler_live.h"
#include "apps/autoscaler_status.h"
#include "apps/command.h"
#include "apps/log.h"
#include "apps/scaling_models.h"
#include "apps/scaling_view.h"
#include "apps/service_source.h"
#include "autoscaling/policies/registry.h"
#include "base/file.h"
#include "base/unit_text.h"
#include "kubernetes/client_api.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kFinish = 10s;  // for what is under way when we are told to stop
constexpr Duration kTurn = 200ms;  // how soon a signal is noticed when nothing else happens
constexpr Duration kTrim = 1min;   // between two returns of memory that answers have left behind
constexpr int kTries = 3;          // of a question: the next look is soon

struct Arguments {
  std::string configuration;
  std::vector<std::string> overrides, models;
  std::string kubeconfig, context, leader_elect, policy, listen, token_file, state, ready_made;
  std::string time, report;  // --for
  bool preview = false, json = false, no_events = false;
  UsageArguments metrics;
  CLI::Option* window = nullptr;
};

volatile std::sig_atomic_t told_to_stop = 0;
void note_signal(int) { told_to_stop = 1; }

int fail(const Error& error) {
  std::cerr << "evenkeel autoscaler: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

// The host is not enough: two on one machine would take each other for themselves.
std::string unique_identity() {
  std::random_device device;
  char digits[20];
  (void)std::snprintf(digits, sizeof digits, "%08x%08x", device(), device());
  return host_name() + "_" + digits;
}

Result<AutoscalerConfiguration> configured(const Arguments& arguments) {
  std::string text = "apiVersion: evenkeel.io/v1alpha1\nkind: AutoscalerConfiguration\n";
  if (!arguments.configuration.empty()) {
    auto file = read_file(arguments.configuration);
    if (!file) return file.error();
    text = *std::move(file);
  }
  auto read = read_autoscaler_configuration(
      text, arguments.configuration.empty() ? "configuration" : arguments.configuration, arguments.overrides);
  if (!read) return read.error();
  const auto take = [](const std::string& from, std::string& into) {
    if (!from.empty()) into = from;
  };
  take(arguments.kubeconfig, read->kubeconfig);
  take(arguments.context, read->context);
  take(arguments.policy, read->policy);
  take(arguments.listen, read->listen);
  take(arguments.token_file, read->token_file);
  take(arguments.state, read->state);
  take(arguments.ready_made, read->ready_made);
  take(arguments.metrics.prometheus, read->metrics.prometheus);
  take(arguments.metrics.prometheus_ca, read->metrics.prometheus_ca);
  take(arguments.metrics.prometheus_token_file, read->metrics.prometheus_token_file);
  if (arguments.window->count() > 0) read->metrics.prometheus_window = arguments.metrics.prometheus_window;
  if (arguments.metrics.metrics_api) read->metrics.metrics_api = true;
  if (arguments.preview) read->preview = true;
  if (arguments.no_events) read->events = false;
  if (!arguments.leader_elect.empty()) read->elect = arguments.leader_elect == "true";
  const auto names = autoscaling::scaling_policy_names();
  if (!read->policy.empty() && std::find(names.begin(), names.end(), read->policy) == names.end()) {
    std::string known;
    for (const std::string_view name : names) known += (known.empty() ? "" : ", ") + std::string(name);
    return invalid("--policy: no scaling policy is called '" + read->policy + "'; there are " + known);
  }
  return read;
}

LiveAutoscalerOptions live_options(const AutoscalerConfiguration& configuration,
                                   training::ScalingModels models) {
  LiveAutoscalerOptions options;
  options.preview = configuration.preview;
  options.policy = configuration.policy;
  options.events = configuration.events;
  options.elect = configuration.elect;
  options.election.lease = {unique_identity(), configuration.lease, configuration.renew_deadline,
                            configuration.retry_period};
  options.election.name_space = configuration.lease_namespace;
  options.election.name = configuration.lease_name;
  options.host = host_name();
  options.state = configuration.state;
  options.asks_for_room = configuration.asks_for_room;
  options.names_leavers = configuration.names_leavers;
  options.log = log_line;
  options.make_policy = [models = std::move(models)](const ScalerSpec& spec) {
    const auto model = models.find(spec.policy);
    return autoscaling::make_scaling_policy(spec.policy, spec.arguments,
                                            model == models.end() ? nullptr : model->second.get());
  };
  return options;
}

// Where measurements come from, and what they are reached by.
struct Meters {
  std::unique_ptr<kubernetes::ApiClient> client;
  ServiceMeters all;
  PrometheusMeter* prometheus = nullptr;
};

Status open_meters(const AutoscalerConfiguration& configuration, const kubernetes::ClusterAccess& access,
                   kubernetes::EventLoop& loop, kubernetes::ApiClient& api, Meters& into) {
  if (!configuration.metrics.prometheus.empty()) {
    auto server = find_prometheus(configuration.metrics, access);
    if (!server) return server.error();
    kubernetes::ApiClient::Options options;
    options.user_agent = "evenkeel-autoscaler";
    options.max_connections = 8;
    options.max_tries = 1;
    auto client = kubernetes::ApiClient::open(loop, server->access, read_file, options);
    if (!client)
      return invalid("--metrics-prometheus: " + client.error().message +
                     "; a service within the cluster is reached as service:NAMESPACE/NAME:PORT");
    into.client = *std::move(client);
    PrometheusMeter::Options meter;
    meter.queries.window = server->window;
    meter.queries.ready_made = configuration.ready_made;
    meter.queries.resources = !configuration.metrics.metrics_api;
    meter.prefix = server->prefix;
    meter.within = configuration.metrics_within;
    meter.log = log_line;
    auto prometheus = std::make_unique<PrometheusMeter>(*into.client, std::move(meter));
    into.prometheus = prometheus.get();
    into.all.add(std::move(prometheus));
  }
  if (configuration.metrics.metrics_api)
    into.all.add(std::make_unique<MetricsApiMeter>(api, configuration.metrics_within, log_line));
  if (configuration.metrics.prometheus.empty() && !configuration.metrics.metrics_api)
    return invalid("nobody says what workloads do: --metrics-prometheus or --metrics-api");
  return {};
}

int show(const ScalingRecords& records, const Arguments& arguments, const std::string& command) {
  const std::vector<ScalingRecord> all = records.all();
  if (arguments.json)
    std::cout << scaling_json(all, true) << '\n';
  else if (!all.empty())
    std::cout << render_text_table(scaling_table(all), reporting::text_style_for(STDOUT_FILENO));
  if (arguments.report.empty()) return kDone;
  const Status written = write_file(arguments.report, scaling_page(all, command));
  if (!written) {
    std::cerr << "evenkeel autoscaler: --report: " << written.error().message << '\n';
    return kFailed;
  }
  log_line("report: " + arguments.report);
  return kDone;
}

int run(const Arguments& arguments) {
  const auto configuration = configured(arguments);
  if (!configuration) return fail(configuration.error());
  auto models = load_scaling_models(arguments.models);
  if (!models) return fail(models.error());
  std::optional<Duration> time;
  if (!arguments.time.empty()) {
    const auto parsed = parse_duration(arguments.time);
    if (!parsed) return fail(invalid("--for: " + parsed.error().message));
    time = *parsed;
  }
  const auto access = kubernetes::find_access({configuration->kubeconfig, configuration->context},
                                              kubernetes::kubernetes_environment(), read_file);
  if (!access) return fail(access.error());
  kubernetes::EventLoop loop;
  kubernetes::ApiClient::Options client_options;
  client_options.user_agent = "evenkeel-autoscaler";
  client_options.max_connections = 16;
  client_options.max_tries = kTries;
  if (configuration->qps > 0) client_options.limit = {configuration->qps, std::max(1, configuration->burst)};
  auto client = kubernetes::ApiClient::open(loop, *access, read_file, client_options);
  if (!client) return fail(client.error());
  Meters meters;
  if (const Status opened = open_meters(*configuration, *access, loop, **client, meters); !opened)
    return fail(opened.error());

  (void)std::signal(SIGTERM, note_signal);
  (void)std::signal(SIGINT, note_signal);
  const std::string command = std::string("evenkeel autoscaler") +
                              (configuration->preview ? " --preview" : "") +
                              (configuration->policy.empty() ? "" : " --policy " + configuration->policy);
  ScalingRecords records;
  AutoscalerStatus status(records, command);
  auto live = std::make_unique<LiveAutoscaler>(**client, meters.all,
                                               live_options(*configuration, *std::move(models)), records);
  auto server = status.serve(configuration->listen, configuration->token_file);
  if (!server) return fail(server.error());
  if (*server) log_line("health, metrics, decisions and the preview at " + (*server)->url());
  log_line("scaling on " + access->server +
           (configuration->preview ? ", in preview: nothing is written" : ""));
  const Time end = time ? (*client)->steady_now() + *time : Time::max();
  Time trimmed = (*client)->steady_now();
  while (told_to_stop == 0 && (*client)->steady_now() < end && live->turn((*client)->now() + kTurn)) {
    status.turned(*live, meters.prometheus, **client);
    if ((*client)->steady_now() < trimmed + kTrim) continue;
    trimmed = (*client)->steady_now();
    (void)::malloc_trim(0);
  }
  log_line("told to stop: finishing what is under way");
  status.stopping();
  live->stop(kFinish);
  live.reset();
  log_line("stopped");
  const bool is_asked_for = arguments.json || !arguments.report.empty() || configuration->preview;
  return is_asked_for ? show(records, arguments, command) : kDone;
}

}  // namespace

void add_autoscaler(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("autoscaler", "Scale the workloads of a cluster horizontally");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--config", arguments->configuration,
                      "An AutoscalerConfiguration (docs/autoscaling.md)");
  command->add_option("--set", arguments->overrides, "Override a field of it: metrics.window=2m");
  command->add_option("--kubeconfig", arguments->kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->context, "Of the kubeconfig (its current one)");
  command->add_flag("--preview", arguments->preview,
                    "Decide and show, write nothing; HorizontalPodAutoscalers are looked at as well");
  command->add_option("--policy", arguments->policy,
                      "Who decides, instead of what each WorkloadScaler names");
  command->add_option("--model", arguments->models,
                      "What a learning policy starts from: dscaler=FILE, or dscaler=none (what is built in)");
  command
      ->add_option("--leader-elect", arguments->leader_elect, "true or false, instead of what the file says")
      ->check(CLI::IsMember({"true", "false"}));
  add_prometheus_options(*command, arguments->metrics);
  arguments->window = command->get_option("--metrics-prometheus-window");
  command->add_flag("--metrics-api", arguments->metrics.metrics_api,
                    "Ask the metrics API (metrics-server) for CPU and memory, not Prometheus");
  command
      ->add_option(
          "--template", arguments->ready_made,
          "Queries of workloads that name none: http-histogram, istio, cadvisor, none (http-histogram)")
      ->check(CLI::IsMember({"http-histogram", "istio", "cadvisor", "none"}));
  command->add_option("--listen", arguments->listen,
                      "Serve health, metrics, decisions and the preview there: 127.0.0.1:10271; port 0: any");
  command->add_option("--listen-token-file", arguments->token_file,
                      "A secret that readers send as bearer token; without one, an address\n"
                      "beyond loopback shows health and nothing else");
  command->add_option("--state", arguments->state, "Folder for what policies learnt, to survive a restart");
  command->add_flag("--no-events", arguments->no_events, "Write no Events");
  command->add_option("--for", arguments->time, "End after so long: 10m");
  command->add_option("--report", arguments->report,
                      "Write the preview as a page to this HTML file at the end");
  command->add_flag("--json", arguments->json, "Print what was decided as JSON at the end");
  command->footer(
      "Example:\n  evenkeel autoscaler --preview --metrics-prometheus service:monitoring/prometheus:9090 \\\n"
      "    --for 10m --report preview.html");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
