#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/live_usage.h"
#include "base/result.h"
#include "kubernetes/kubeconfig.h"

namespace evenkeel::apps {

// What the command line says about where live usage comes from and where it is kept.
struct UsageArguments {
  std::string listen, certificate, key, authority;  // the monitors' stream
  std::string prometheus, prometheus_ca, prometheus_token_file, prometheus_selector;
  std::string prometheus_window = "1m";
  bool metrics_api = false;
  std::string every = "5s", stale, capacity;
  std::string state;
};
void add_source_options(CLI::App& command, UsageArguments& arguments);
void add_usage_options(CLI::App& command, UsageArguments& arguments);  // and what is kept
bool names_a_source(const UsageArguments& arguments);
// Of those: how Prometheus is reached, and the window of its rates.
void add_prometheus_options(CLI::App& command, UsageArguments& arguments);

struct PrometheusServer {
  kubernetes::ClusterAccess access;
  std::string prefix;  // in front of /api/v1/query
  Duration window{};
};
Result<PrometheusServer> find_prometheus(const UsageArguments& arguments,
                                         const kubernetes::ClusterAccess& access);

// `access` is how the API server is reached; `now` the scheduler's clock, called from other threads.
Result<std::unique_ptr<LiveUsage>> make_live_usage(const UsageArguments& arguments,
                                                   const kubernetes::ClusterAccess& access,
                                                   std::function<Time()> now,
                                                   const std::function<void(const std::string&)>& log);

// receive=1.25G,transmit=1.25G,read=500M,write=300M: bytes a second.
Result<Usage> parse_rates(const std::string& text);

}  // namespace evenkeel::apps
