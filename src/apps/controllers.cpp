// `evenkeel controllers`: who looks after AppGroups and NetworkTopologies.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>

#include "apps/command.h"
#include "apps/controllers_live.h"
#include "apps/controllers_status.h"
#include "apps/log.h"
#include "base/file.h"
#include "base/unit_text.h"
#include "kubernetes/client_api.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kFinish = 10s;  // for what is under way when we are told to stop
constexpr Duration kTurn = 200ms;  // how soon a signal is noticed when nothing else happens

struct Arguments {
  std::string kubeconfig, context, listen;
  std::string percentile = "p90", period = "5m", evict_every = "30s", time;
  std::string lease_namespace = "kube-system", lease_name = "evenkeel-controllers", lease = "15s";
  bool evicts = false, elect = false, once = false, dry_run = false, no_events = false;
};

volatile std::sig_atomic_t told_to_stop = 0;
void note_signal(int) { told_to_stop = 1; }

int fail(const Error& error) {
  std::cerr << "evenkeel controllers: " << error.message << '\n';
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

Result<Duration> duration_of(const char* flag, const std::string& text, Duration least) {
  const auto parsed = parse_duration(text);
  if (!parsed) return invalid(std::string(flag) + ": " + parsed.error().message);
  if (*parsed < least) return invalid(std::string(flag) + ": expected " + to_text(least) + " or more");
  return *parsed;
}

Result<LiveControllersOptions> options_of(const Arguments& arguments) {
  LiveControllersOptions options;
  options.percentile = arguments.percentile == "p50" ? 50 : arguments.percentile == "p99" ? 99 : 90;
  const auto period = duration_of("--period", arguments.period, 1s);
  if (!period) return period.error();
  const auto every = duration_of("--evict-every", arguments.evict_every, 1s);
  if (!every) return every.error();
  const auto lease = duration_of("--lease", arguments.lease, 3s);
  if (!lease) return lease.error();
  options.period = *period;
  options.evict_every = *every;
  options.evicts = arguments.evicts;
  options.writes = !arguments.dry_run;
  options.events = !arguments.no_events;
  options.elect = arguments.elect;
  options.election.lease = {unique_identity(), *lease, *lease * 2 / 3, *lease / 8};
  options.election.name_space = arguments.lease_namespace;
  options.election.name = arguments.lease_name;
  options.host = host_name();
  options.log = log_line;
  return options;
}

int run(const Arguments& arguments) {
  auto options = options_of(arguments);
  if (!options) return fail(options.error());
  std::optional<Duration> time;
  if (!arguments.time.empty()) {
    const auto parsed = duration_of("--for", arguments.time, Duration::zero());
    if (!parsed) return fail(parsed.error());
    time = *parsed;
  }
  const auto access = kubernetes::find_access({arguments.kubeconfig, arguments.context},
                                              kubernetes::kubernetes_environment(), read_file);
  if (!access) return fail(access.error());
  kubernetes::EventLoop loop;
  kubernetes::ApiClient::Options client_options;
  client_options.user_agent = "evenkeel-controllers";
  client_options.max_connections = 16;
  client_options.max_tries = 3;
  auto client = kubernetes::ApiClient::open(loop, *access, read_file, client_options);
  if (!client) return fail(client.error());

  (void)std::signal(SIGTERM, note_signal);
  (void)std::signal(SIGINT, note_signal);
  ControllersStatus status;
  auto live = std::make_unique<LiveControllers>(**client, *options);
  auto server = status.serve(arguments.listen);
  if (!server) return fail(server.error());
  if (*server) log_line("health and metrics at " + (*server)->url());
  log_line("looking after AppGroups and NetworkTopologies on " + access->server +
           (arguments.dry_run ? ", as a dry run: nothing is written" : ""));
  const Time end = time ? (*client)->steady_now() + *time : Time::max();
  const auto is_over = [&] {
    return told_to_stop != 0 || (*client)->steady_now() >= end || (arguments.once && live->is_settled());
  };
  while (!is_over()) {
    live->turn((*client)->now() + kTurn);
    status.turned(*live, **client);
  }
  if (!arguments.once) log_line("told to stop: finishing what is under way");
  status.stopping();
  live->stop(kFinish);
  const bool is_done = !arguments.once || live->is_settled();
  live.reset();
  if (!is_done) log_line("not everything could be looked at in time");
  return is_done ? kDone : kFailed;
}

}  // namespace

void add_controllers(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("controllers", "Look after the AppGroups and NetworkTopologies of a cluster");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--kubeconfig", arguments->kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->context, "Of the kubeconfig (its current one)");
  command->add_option("--percentile", arguments->percentile, "Of measured latencies: p50, p90 or p99 (p90)")
      ->check(CLI::IsMember({"p50", "p90", "p99"}));
  command->add_option("--period", arguments->period, "Calculate costs anew at least this often (5m)");
  command->add_flag("--evict-constrained", arguments->evicts,
                    "Evict pods from links with more bandwidth promised than they carry,\n"
                    "the least important first, within disruption budgets");
  command->add_option("--evict-every", arguments->evict_every,
                      "From one eviction to the next at least (30s)");
  command->add_flag("--leader-elect", arguments->elect, "Only one of several writes");
  command->add_option("--lease-namespace", arguments->lease_namespace, "Of the lease (kube-system)");
  command->add_option("--lease-name", arguments->lease_name, "Of the lease (evenkeel-controllers)");
  command->add_option("--lease", arguments->lease, "How long it lasts unless renewed (15s)");
  command->add_option("--listen", arguments->listen, "Serve health and metrics there: 127.0.0.1:10272");
  command->add_flag("--no-events", arguments->no_events, "Write no Events");
  command->add_flag("--dry-run", arguments->dry_run, "Say what would be written, write nothing");
  command->add_flag("--once", arguments->once, "End when every object says what it should");
  command->add_option("--for", arguments->time, "End after so long: 10m");
  command->footer("Example:\n  evenkeel controllers --once --dry-run --kubeconfig admin.conf");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
