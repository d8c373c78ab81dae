// `evenkeel scheduler`: the scheduler of a live cluster.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>

#include "apps/command.h"
#include "apps/dry_run.h"
#include "apps/live_reporter.h"
#include "apps/live_scheduler.h"
#include "apps/live_status.h"
#include "apps/log.h"
#include "apps/models.h"
#include "apps/profile.h"
#include "apps/usage_setup.h"
#include "base/file.h"
#include "kubernetes/client_api.h"
#include "kubernetes/label_selector.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kFinish = 10s;     // for what is under way when we are told to stop
constexpr Duration kTurn = 200ms;     // how soon a signal is noticed when nothing else happens
constexpr Duration kFirstList = 60s;  // a dry run that has not seen the cluster by then gives up
constexpr const char* kOurPlugin = "Evenkeel";
constexpr std::int32_t kPolicyWeight = 100;  // outweighs all others, which settle draws

struct Arguments {
  std::string configuration, kubeconfig, context, scheduler_name, policy, leader_elect, nodes;
  std::vector<std::string> namespaces;
  std::string output = "table";
  std::string listen, token_file;
  bool learn = false;
  bool shadow = false, dry_run = false, no_events = false, annotate = false;
  UsageArguments usage;
};

volatile std::sig_atomic_t told_to_stop = 0;
void note_signal(int) { told_to_stop = 1; }

int fail(const Error& error) {
  std::cerr << "evenkeel scheduler: " << error.message << '\n';
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

Result<kubernetes::SchedulerConfiguration> read_configuration(const Arguments& arguments) {
  kubernetes::SchedulerConfiguration configuration;
  if (!arguments.configuration.empty()) {
    const auto text = read_file(arguments.configuration);
    if (!text) return text.error();
    auto read = kubernetes::read_scheduler_configuration(*text, arguments.configuration);
    if (!read) return read.error();
    configuration = *std::move(read);
  } else {
    configuration.profiles = {kubernetes::default_profile()};
    configuration.profiles.front().scheduler_name = "evenkeel";
    configuration.leader_election.name = "evenkeel";
  }
  if (!arguments.policy.empty()) {
    for (kubernetes::SchedulerProfile& profile : configuration.profiles) {
      std::erase_if(profile.score, [](const auto& plugin) { return plugin.name == kOurPlugin; });
      profile.score.push_back({kOurPlugin, kPolicyWeight});
      profile.evenkeel.policy = arguments.policy;
    }
  }
  if (arguments.learn) {
    bool anybody = false;
    for (kubernetes::SchedulerProfile& profile : configuration.profiles)
      for (const auto& plugin : profile.score)
        if (plugin.name == kOurPlugin) anybody = profile.evenkeel.learning.online = true;
    if (!anybody)
      return invalid("--learn: nobody would: it needs --policy, or a profile with plugin " +
                     std::string(kOurPlugin));
  }
  if (!arguments.leader_elect.empty()) configuration.leader_election.elect = arguments.leader_elect == "true";
  if (!arguments.scheduler_name.empty()) {
    if (configuration.profiles.size() != 1)
      return invalid("--scheduler-name: the configuration has several profiles, each with its own name");
    configuration.profiles.front().scheduler_name = arguments.scheduler_name;
  }
  return configuration;
}

Result<LiveOptions> live_options(const Arguments& arguments) {
  LiveOptions options;
  auto configuration = read_configuration(arguments);
  if (!configuration) return configuration.error();
  options.configuration = *std::move(configuration);
  for (const std::string& warning : warnings_of(options.configuration)) log_line("warning: " + warning);
  auto models = load_models({});
  if (!models) return models.error();
  options.models = *std::move(models);
  options.shadow = arguments.shadow || arguments.dry_run;
  options.events = !arguments.no_events;
  options.annotate = arguments.annotate;
  options.identity = unique_identity();
  options.host = host_name();
  options.namespaces = arguments.namespaces;
  if (!arguments.nodes.empty()) {
    auto selector = kubernetes::parse_label_selector(arguments.nodes);
    if (!selector) return invalid("--partition-nodes: " + selector.error().message);
    options.nodes = *std::move(selector);
  }
  options.bodies = kubernetes::WireFormat::protobuf;
  options.state = arguments.usage.state;
  options.log = log_line;
  return options;
}

// One look at the cluster, and what would be done about it.
int run_dry(kubernetes::ApiClient& client, LiveOptions options, const std::string& output) {
  DryRun seen;
  options.observer = &seen;
  auto scheduler = LiveScheduler::open(client, std::move(options));
  if (!scheduler) return fail(scheduler.error());
  const Time end = client.now() + kFirstList;
  while (!(*scheduler)->synced() && client.now() < end && told_to_stop == 0)
    (*scheduler)->turn(client.now() + kTurn);
  if (!(*scheduler)->synced()) return fail(unavailable("the cluster could not be listed in time"));
  (*scheduler)->turn(client.now());
  if (output == "json") {
    std::cout << seen.json() << '\n';
  } else if (seen.rows().empty()) {
    std::cout << "no pod waits\n";
  } else {
    std::cout << render_text_table(seen.table(), reporting::text_style_for(STDOUT_FILENO));
  }
  return kDone;
}

int run(const Arguments& arguments) {
  auto options = live_options(arguments);
  if (!options) return fail(options.error());
  const kubernetes::ClientConnection& connection = options->configuration.client;
  kubernetes::KubeconfigRequest request{arguments.kubeconfig, arguments.context};
  if (request.path.empty()) request.path = connection.kubeconfig;
  const auto access = kubernetes::find_access(request, kubernetes::kubernetes_environment(), read_file);
  if (!access) return fail(access.error());
  kubernetes::EventLoop loop;
  kubernetes::ApiClient::Options client_options;
  client_options.user_agent = "evenkeel-scheduler";
  if (connection.is_limited) client_options.limit = {connection.qps, connection.burst};
  auto client = kubernetes::ApiClient::open(loop, *access, read_file, client_options);
  if (!client) return fail(client.error());

  (void)std::signal(SIGTERM, note_signal);
  (void)std::signal(SIGINT, note_signal);
  if (arguments.dry_run) return run_dry(**client, *std::move(options), arguments.output);
  LiveReporter reporter(reporter_options(*options, *access, **client));
  ShadowRecorder shadow(options->shadow);
  ObserverPair observers(reporter, shadow);
  options->observer = &observers;
  auto usage = make_live_usage(arguments.usage, *access, [&loop] { return loop.now(); }, log_line);
  if (!usage) return fail(usage.error());
  if (arguments.usage.state.empty())
    log_line("no --state: what is learnt of workloads is lost with this process");
  (*usage)->post_with([&loop](std::function<void()> work) { loop.post(std::move(work)); });
  options->usage = usage->get();
  auto scheduler = LiveScheduler::open(**client, *std::move(options));
  if (!scheduler) return fail(scheduler.error());
  const auto status = serve_status(reporter, arguments.listen, arguments.token_file, shadow);
  if (!status) return fail(status.error());
  if (*status) log_line("metrics, health and decisions at " + (*status)->url());
  log_line("scheduling on " + access->server + (arguments.shadow ? ", in shadow: nothing is written" : ""));
  while (told_to_stop == 0 && (*scheduler)->turn((*client)->now() + kTurn)) {
  }
  log_line("told to stop: finishing what is under way");
  reporter.stopping();
  (*scheduler)->stop(kFinish);
  scheduler->reset();
  log_line("stopped");
  if (const std::string report = shadow.json(); !reporting::shadow_summary(report).empty())
    std::cout << reporting::shadow_text(report, reporting::text_style_for(STDOUT_FILENO));
  return kDone;
}

}  // namespace

void add_scheduler(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("scheduler", "Schedule the pods of a cluster");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--config", arguments->configuration,
                      "A KubeSchedulerConfiguration, kube-scheduler's own file");
  command->add_option("--kubeconfig", arguments->kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->context, "Of the kubeconfig (its current one)");
  command->add_option("--scheduler-name", arguments->scheduler_name,
                      "The schedulerName of the pods to schedule (evenkeel, or what the profiles say)");
  command->add_option("--policy", arguments->policy,
                      "Who decides: plugin Evenkeel with this policy, above all others");
  command
      ->add_option("--leader-elect", arguments->leader_elect, "true or false, instead of what the file says")
      ->check(CLI::IsMember({"true", "false"}));
  command->add_flag("--shadow", arguments->shadow, "Decide and record, but write nothing");
  command->add_flag("--dry-run", arguments->dry_run, "One look at the cluster: print what would be done");
  command->add_option("-o,--output", arguments->output, "Of a dry run: table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->add_flag("--no-events", arguments->no_events, "Write no Events");
  command->add_flag("--annotate", arguments->annotate, "Annotate bound pods with why (evenkeel.io/decision)");
  command->add_option("--partition-nodes", arguments->nodes,
                      "Only nodes with these labels exist (pool=a,zone in (x,y),!edge)");
  command
      ->add_option("--partition-namespaces", arguments->namespaces,
                   "Only pods of these namespaces are ours to place")
      ->delimiter(',');
  command->add_option("--listen", arguments->listen,
                      "Serve health, metrics and decisions there: 127.0.0.1:10269, [::1]:10269; port 0: any");
  command->add_option("--listen-token-file", arguments->token_file,
                      "A secret that readers send as bearer token; without one, an address\n"
                      "beyond loopback shows health and nothing else");
  add_usage_options(*command, arguments->usage);
  command->add_flag("--learn", arguments->learn,
                    "Policies that can, learn on this cluster (learning.online)");
  command->footer("Example:\n  evenkeel scheduler --config /etc/kubernetes/scheduler-config.yaml");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
