#include "apps/usage_setup.h"

#include <algorithm>
#include <utility>

#include "apps/metrics_api_source.h"
#include "apps/monitor_source.h"
#include "apps/prometheus_source.h"
#include "base/file.h"
#include "base/unit_text.h"
#include "messaging/report_receiver.h"

namespace evenkeel::apps {
namespace {

constexpr std::string_view kService = "service:";

Result<Duration> positive(const char* flag, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) return invalid(std::string(flag) + ": " + duration.error().message);
  if (*duration <= Duration::zero())
    return invalid(std::string(flag) + ": expected more than nothing, found " + text);
  return *duration;
}

// service:NAMESPACE/NAME:PORT, as a path of the API server's proxy.
Result<std::string> proxy_path(const std::string& text) {
  const std::string rest = text.substr(kService.size());
  const auto slash = rest.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == rest.size())
    return invalid("--metrics-prometheus: expected service:NAMESPACE/NAME:PORT, found '" + text + "'");
  return "/api/v1/namespaces/" + rest.substr(0, slash) + "/services/" + rest.substr(slash + 1) + "/proxy";
}

Result<std::unique_ptr<PolledSource>> open_prometheus(const UsageArguments& arguments,
                                                      const kubernetes::ClusterAccess& access,
                                                      PolledSource::Options options) {
  auto server = find_prometheus(arguments, access);
  if (!server) return server.error();
  PrometheusQuestions::Options questions;
  questions.selector = arguments.prometheus_selector;
  questions.window = server->window;
  questions.prefix = std::move(server->prefix);
  auto source = PolledSource::open(
      server->access, std::make_unique<PrometheusQuestions>(std::move(questions)), std::move(options));
  if (!source)
    return invalid("--metrics-prometheus: " + source.error().message +
                   "; a service within the cluster is reached as service:NAMESPACE/NAME:PORT");
  return source;
}

}  // namespace

Result<PrometheusServer> find_prometheus(const UsageArguments& arguments,
                                         const kubernetes::ClusterAccess& access) {
  PrometheusServer found;
  const auto window = positive("--metrics-prometheus-window", arguments.prometheus_window);
  if (!window) return window.error();
  found.window = *window;
  if (arguments.prometheus.starts_with(kService)) {
    auto path = proxy_path(arguments.prometheus);
    if (!path) return path.error();
    found.prefix = *std::move(path);
    found.access = access;
    return found;
  }
  found.access.server = arguments.prometheus;
  found.access.token_file = arguments.prometheus_token_file;
  if (!arguments.prometheus_ca.empty()) {
    auto pem = read_file(arguments.prometheus_ca);
    if (!pem) return invalid("--metrics-prometheus-ca: " + pem.error().message);
    found.access.ca_pem = *std::move(pem);
  }
  return found;
}

Result<Usage> parse_rates(const std::string& text) {
  Usage rates;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    from = comma + 1;
    const std::size_t equals = part.find('=');
    const auto name = std::find(kDimensionNames.begin() + 2, kDimensionNames.end(), part.substr(0, equals));
    if (equals == std::string::npos || name == kDimensionNames.end())
      return invalid("expected receive=, transmit=, read= or write=, found '" + part + "'");
    const auto rate = parse_byte_size(part.substr(equals + 1));
    if (!rate) return invalid(part + ": " + rate.error().message);
    rates.of[static_cast<std::size_t>(name - kDimensionNames.begin())] = static_cast<double>(rate->count);
  }
  return rates;
}

bool names_a_source(const UsageArguments& arguments) {
  return arguments.metrics_api || !arguments.listen.empty() || !arguments.prometheus.empty();
}

void add_prometheus_options(CLI::App& command, UsageArguments& arguments) {
  command.add_option("--metrics-prometheus", arguments.prometheus,
                     "Ask this Prometheus for metrics: https://host:port, http://localhost:9090,\n"
                     "or service:monitoring/prometheus:9090 through the API server");
  command.add_option("--metrics-prometheus-ca", arguments.prometheus_ca, "Who signs its certificate (PEM)");
  command.add_option("--metrics-prometheus-token-file", arguments.prometheus_token_file,
                     "A bearer token to show it");
  command.add_option("--metrics-prometheus-window", arguments.prometheus_window,
                     "What rates are averaged over: at least two scrapes (1m)");
}

void add_source_options(CLI::App& command, UsageArguments& arguments) {
  command.add_option("--metrics-listen", arguments.listen,
                     "Take in the reports of `evenkeel monitor` there: 0.0.0.0:10270");
  command.add_option("--metrics-cert", arguments.certificate, "Our certificate for the monitors (PEM)");
  command.add_option("--metrics-key", arguments.key, "Its key (PEM)");
  command.add_option("--metrics-ca", arguments.authority, "Who signs the monitors' certificates (PEM)");
  add_prometheus_options(command, arguments);
  command.add_option("--metrics-prometheus-selector", arguments.prometheus_selector,
                     "Of node-exporter's series, where others carry them too: job=\"node-exporter\"");
  command.add_flag("--metrics-api", arguments.metrics_api,
                   "Ask the metrics API (metrics-server): CPU and memory only");
  command.add_option("--metrics-every", arguments.every, "How often those are asked (5s)");
  command.add_option("--metrics-stale", arguments.stale,
                     "A node not heard of for so long counts by what its pods' workloads did\n"
                     "(staleAfter of the profile: 30s)");
  command.add_option("--metrics-capacity", arguments.capacity,
                     "Bytes a second of nodes whose source does not tell: receive=1.25G,transmit=1.25G,\n"
                     "read=500M,write=300M");
}

void add_usage_options(CLI::App& command, UsageArguments& arguments) {
  add_source_options(command, arguments);
  command.add_option("--state", arguments.state,
                     "Folder for what is to survive a restart; without it nothing does");
}

Result<std::unique_ptr<LiveUsage>> make_live_usage(const UsageArguments& arguments,
                                                   const kubernetes::ClusterAccess& access,
                                                   std::function<Time()> now,
                                                   const std::function<void(const std::string&)>& log) {
  LiveUsage::Options options;
  const auto every = positive("--metrics-every", arguments.every);
  if (!every) return every.error();
  const auto capacity = parse_rates(arguments.capacity);
  if (!capacity) return invalid("--metrics-capacity: " + capacity.error().message);
  if (!arguments.stale.empty()) {
    const auto stale = positive("--metrics-stale", arguments.stale);
    if (!stale) return stale.error();
    options.stale_after = *stale;
  }
  const bool knows_monitors =
      !arguments.certificate.empty() && !arguments.key.empty() && !arguments.authority.empty();
  if (!arguments.listen.empty() && !knows_monitors)
    return invalid("--metrics-listen needs --metrics-cert, --metrics-key and --metrics-ca");
  options.capacity = *capacity;
  options.state = arguments.state;
  options.log = log;
  auto usage = std::make_unique<LiveUsage>(std::move(options));
  const PolledSource::Options polled{*every, [to = usage.get()] { to->arrived(); }, log};

  if (!arguments.listen.empty()) {
    messaging::ReportReceiver::Options receiver;
    receiver.address = arguments.listen;
    receiver.tls = {arguments.certificate, arguments.key, arguments.authority};
    receiver.now = std::move(now);
    receiver.arrived = polled.arrived;
    receiver.say = log;
    auto listening = messaging::ReportReceiver::listen(std::move(receiver));
    if (!listening) return Error{listening.error().kind, "--metrics-listen: " + listening.error().message};
    log("monitors report to " + (*listening)->address());
    usage->add(std::make_unique<MonitorSource>(*std::move(listening)));
  }
  if (!arguments.prometheus.empty()) {
    auto source = open_prometheus(arguments, access, polled);
    if (!source) return source.error();
    usage->add(*std::move(source));
  }
  if (arguments.metrics_api) {
    log("the metrics API tells of CPU and memory alone: network and disk count as expected");
    auto source = PolledSource::open(access, std::make_unique<MetricsApiQuestions>(), polled);
    if (!source) return source.error();
    usage->add(*std::move(source));
  }
  return usage;
}

}  // namespace evenkeel::apps
