// `evenkeel agent`: one node's learning scheduler, and with the others the cluster's.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

#include "apps/agent_metrics.h"
#include "apps/command.h"
#include "apps/live_agent.h"
#include "apps/live_status.h"
#include "apps/log.h"
#include "apps/models.h"
#include "apps/monitor_identity.h"
#include "apps/monitor_options.h"
#include "apps/profile.h"
#include "base/file.h"
#include "base/unit_text.h"
#include "kubernetes/client_api.h"
#include "messaging/agent_channel.h"
#include "messaging/report_sender.h"
#include "monitor/sampler.h"
#include "monitor/thrift.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using messaging::ReportSender;

constexpr Duration kFinish = 5s;     // for what is under way when told to stop
constexpr Duration kTurn = 200ms;    // how soon a signal is noticed when nothing else happens
constexpr Duration kShowEvery = 1s;  // /metrics is that old at most
constexpr Duration kSettled = 10s;   // after which starting, or growing into a role, is over
constexpr Duration kShortestInterval = 100ms, kLongestInterval = 1min;

struct Arguments {
  std::string node, configuration, kubeconfig, context, scheduler_name, policy = "marl-shared", model;
  std::string listen = "127.0.0.1:9473", advertise;
  messaging::TlsFiles tls;
  bool csr = false;
  std::string state, signer = "kubernetes.io/kube-apiserver-client";
  std::string lease = "evenkeel-agents", lease_namespace = "kube-system", lease_duration = "4s";
  bool learn = false, no_monitor = false, no_events = false, annotate = false;
  std::string interval = "1s", cgroup, proc = "/proc", sys = "/sys", network_of = "self";
  std::vector<std::string> interfaces, disks, capacities, namespaces;
  std::string status, token_file;
  std::size_t tells_beyond = 8, sample = 32, asks_all_up_to = 50, deputies = 2;
  std::string gather = "60ms";
};

volatile std::sig_atomic_t told_to_stop = 0;
void note_signal(int) { told_to_stop = 1; }

int fail(const Error& error) {
  std::cerr << "evenkeel agent: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::uint64_t drawn() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
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
  }
  if (!arguments.scheduler_name.empty()) {
    if (configuration.profiles.size() != 1)
      return invalid("--scheduler-name: the configuration has several profiles, each with its own name");
    configuration.profiles.front().scheduler_name = arguments.scheduler_name;
  }
  return configuration;
}

Result<Duration> duration_of(const char* option, const std::string& text, Duration least, Duration most) {
  auto duration = parse_duration(text);
  if (!duration) return invalid(std::string(option) + ": " + duration.error().message);
  if (*duration < least || *duration > most)
    return invalid(std::string(option) + " " + text + ": expected " + to_text(least) + " to " +
                   to_text(most));
  return duration;
}

Result<std::shared_ptr<const learning::Model>> model_of(const Arguments& arguments,
                                                        const scheduling::PolicyModels& models) {
  if (arguments.model == "none") return std::shared_ptr<const learning::Model>();
  if (arguments.model.empty()) {
    const auto known = models.find(arguments.policy);
    return known == models.end() ? nullptr : known->second;
  }
  auto read = load_model(arguments.model);
  if (!read) return read.error();
  return std::make_shared<const learning::Model>(*std::move(read));
}

Result<LiveAgentOptions> agent_options(const Arguments& arguments) {
  LiveAgentOptions options;
  options.node = arguments.node.empty() ? host_name() : arguments.node;
  options.incarnation = drawn();
  options.seed = drawn();
  auto configuration = read_configuration(arguments);
  if (!configuration) return configuration.error();
  options.scheduler.configuration = *std::move(configuration);
  for (const std::string& warning : warnings_of(options.scheduler.configuration))
    log_line("warning: " + warning);
  auto models = load_models({});
  if (!models) return models.error();
  auto model = model_of(arguments, *models);
  if (!model) return model.error();
  options.model = *std::move(model);
  options.scheduler.models = *std::move(models);
  options.scheduler.events = !arguments.no_events;
  options.scheduler.annotate = arguments.annotate;
  options.scheduler.host = options.node;
  options.scheduler.namespaces = arguments.namespaces;
  options.scheduler.bodies = kubernetes::WireFormat::protobuf;
  options.scheduler.seed = options.seed;
  options.scheduler.log = log_line;
  options.policy = arguments.policy;
  options.name = arguments.lease;
  options.name_space = arguments.lease_namespace;
  const auto lease = duration_of("--lease-duration", arguments.lease_duration, 1s, 5min);
  if (!lease) return lease.error();
  options.lease = *lease;
  options.renew_deadline = *lease * 3 / 4;
  options.renew_every = *lease / 8;
  const auto gather = duration_of("--gather-within", arguments.gather, 1ms, 10s);
  if (!gather) return gather.error();
  options.desk.gather_within = *gather;
  options.desk.quorum_after = std::min(options.desk.quorum_after, *gather);
  options.succession.deputies = arguments.deputies;
  options.tells_beyond = arguments.tells_beyond;
  options.asks_all_up_to = arguments.asks_all_up_to;
  options.sample = arguments.sample;
  options.agent.learns = arguments.learn;
  options.agent.needs_samples = !arguments.no_monitor;
  return options;
}

Result<std::optional<monitor::Sampler>> make_sampler(const Arguments& arguments, const std::string& node) {
  if (arguments.no_monitor) return std::optional<monitor::Sampler>();
  monitor::Sampler::Options options;
  options.node = node;
  options.proc = arguments.proc;
  options.sys = arguments.sys;
  options.cgroup = arguments.cgroup;
  options.network_of = arguments.network_of;
  options.interfaces = arguments.interfaces;
  options.disks = arguments.disks;
  const auto capacity = parse_capacities(arguments.capacities);
  if (!capacity) return capacity.error();
  options.capacity = *capacity;
  options.say = log_line;
  auto sampler = monitor::Sampler::open(std::move(options));
  if (!sampler) return sampler.error();
  return std::optional<monitor::Sampler>(*std::move(sampler));
}

Result<messaging::TlsFiles> tls_files(const Arguments& arguments) {
  messaging::TlsFiles files = arguments.tls;
  if (arguments.csr) {
    if (arguments.state.empty()) return invalid("--csr needs --state, a folder for the key");
    files = MonitorIdentity::files_in(arguments.state, "agent");
    files.authority = arguments.tls.authority;
  }
  if (files.certificate.empty() || files.key.empty() || files.authority.empty())
    return invalid(
        "agents know each other by certificates: give --cert, --key and --ca, or --csr with --state and "
        "--ca");
  return files;
}

// An address alone is reached at the port that is listened on.
std::string with_port(const std::string& address) {
  const std::size_t colons = static_cast<std::size_t>(std::ranges::count(address, ':'));
  const bool is_bare_v6 = colons > 1 && !address.starts_with('[');
  if (address.empty() || (colons == 1 && !address.starts_with('[')) ||
      address.find("]:") != std::string::npos)
    return address;
  return is_bare_v6 ? "[" + address + "]:0" : address + ":0";
}

// What the status server shows, handed over by the agent's thread.
struct Shown {
  std::mutex mutex;
  std::string metrics;
  std::atomic<bool> synced = false;
  std::atomic<std::int64_t> turned_at{0};  // microseconds of the steady clock
};

Result<std::unique_ptr<reporting::StatusServer>> serve(const Arguments& arguments, Shown& shown,
                                                       LiveReporter& reporter) {
  if (arguments.status.empty()) return std::unique_ptr<reporting::StatusServer>();
  const auto address = reporting::parse_listen_address(arguments.status);
  if (!address) return invalid("--status: " + address.error().message);
  reporting::StatusServer::Options options;
  options.address = address->address;
  options.port = address->port;
  if (!arguments.token_file.empty()) {
    const auto token = read_file(arguments.token_file);
    if (!token) return invalid("--status-token-file: " + token.error().message);
    options.token = token->substr(0, token->find_last_not_of("\r\n") + 1);
    if (options.token.empty()) return invalid("--status-token-file: " + arguments.token_file + " is empty");
  }
  options.live.push_back({"turns", [&shown]() -> std::optional<std::string> {
                            const Duration since =
                                ReportSender::steady_now() - Duration(shown.turned_at.load());
                            if (since < 30s) return std::nullopt;
                            return "no turn for " + to_text(since);
                          }});
  options.ready = options.live;
  options.ready.push_back({"node-sync", [&shown]() -> std::optional<std::string> {
                             if (shown.synced.load()) return std::nullopt;
                             return "its node has not been listed yet";
                           }});
  options.metrics = [&shown, &reporter] {
    std::string text = reporter.metrics_text();
    const std::lock_guard lock(shown.mutex);
    return text + shown.metrics;
  };
  options.journal = &reporter.journal();
  options.max_connections = 16;
  options.now = [] {
    return Time(std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  };
  return reporting::StatusServer::start(std::move(options));
}

class Program {
 public:
  explicit Program(const Arguments& arguments) : arguments_(arguments) {}
  int run();

 private:
  Status open();
  void sample();
  void show();

  const Arguments& arguments_;
  kubernetes::EventLoop loop_;
  std::unique_ptr<kubernetes::ApiClient> client_;
  std::unique_ptr<MonitorIdentity> identity_;
  std::unique_ptr<messaging::AgentTransport> transport_;
  std::optional<monitor::Sampler> sampler_;
  Shown shown_;
  std::unique_ptr<LiveReporter> reporter_;
  std::unique_ptr<reporting::StatusServer> status_;
  std::unique_ptr<LiveAgent> agent_;
  Duration interval_{}, next_sample_{}, next_show_{};
};

Status Program::open() {
  const auto interval = duration_of("--interval", arguments_.interval, kShortestInterval, kLongestInterval);
  if (!interval) return interval.error();
  interval_ = *interval;
  auto options = agent_options(arguments_);
  if (!options) return options.error();
  auto sampler = make_sampler(arguments_, options->node);
  if (!sampler) return sampler.error();
  sampler_ = *std::move(sampler);
  const auto files = tls_files(arguments_);
  if (!files) return files.error();
  auto access = kubernetes::find_access({arguments_.kubeconfig, arguments_.context},
                                        kubernetes::kubernetes_environment(), read_file);
  if (!access) return access.error();
  if (arguments_.csr) {
    MonitorIdentity::Options asked;
    asked.role = "agent";
    asked.node = options->node;
    asked.folder = arguments_.state;
    asked.signer = arguments_.signer;
    asked.access = *access;
    asked.say = log_line;
    auto identity = MonitorIdentity::start(std::move(asked));
    if (!identity) return identity.error();
    identity_ = *std::move(identity);
  }
  kubernetes::ApiClient::Options client_options;
  client_options.user_agent = "evenkeel-agent";
  const kubernetes::ClientConnection& limits = options->scheduler.configuration.client;
  if (limits.is_limited) client_options.limit = {limits.qps, limits.burst};
  auto client = kubernetes::ApiClient::open(loop_, *access, read_file, client_options);
  if (!client) return client.error();
  client_ = *std::move(client);

  messaging::AgentChannel::Options channel;
  channel.node = options->node;
  channel.listen = arguments_.listen;
  channel.advertised = with_port(arguments_.advertise);
  channel.tls = *files;
  channel.seed = drawn();
  channel.say = log_line;
  auto transport = messaging::AgentChannel::listen(loop_.io(), std::move(channel));
  if (!transport) return transport.error();
  transport_ = *std::move(transport);

  LiveReporter::Options reporting = reporter_options(options->scheduler, *access, *client_);
  reporting.lease = options->name;
  reporter_ = std::make_unique<LiveReporter>(std::move(reporting));
  options->scheduler.observer = reporter_.get();
  auto status = serve(arguments_, shown_, *reporter_);
  if (!status) return status.error();
  status_ = *std::move(status);
  const std::string node = options->node;
  auto agent = LiveAgent::open(*client_, *transport_, *std::move(options));
  if (!agent) return agent.error();
  agent_ = *std::move(agent);
  log_line("agent of " + node + " on " + access->server + ", reached at " + transport_->address() +
           (status_ ? "; metrics at " + status_->url() + "metrics" : ""));
  return {};
}

void Program::sample() {
  const Duration now = ReportSender::steady_now();
  if (!sampler_ || now < next_sample_) return;
  next_sample_ = std::max(next_sample_ + interval_, now + interval_ / 2);
  agent_->report(sampler_->sample(now));
}

void Program::show() {
  const Duration now = ReportSender::steady_now();
  shown_.turned_at.store(now.count());
  if (now < next_show_ || !status_) return;
  next_show_ = now + kShowEvery;
  shown_.synced.store(agent_->node_world().synced());
  std::string text = agent_metrics(*agent_, transport_->counts());
  const std::lock_guard lock(shown_.mutex);
  shown_.metrics = std::move(text);
}

int Program::run() {
  monitor::keep_to_one_heap();
  (void)std::signal(SIGTERM, note_signal);
  (void)std::signal(SIGINT, note_signal);
  if (const Status opened = open(); !opened) return fail(opened.error());
  // When what the last change of its role took may be given back.
  Duration settled_at = ReportSender::steady_now() + kSettled;
  bool has_settled = false, leads = false, is_deputy = false;
  while (told_to_stop == 0) {
    Duration wait = kTurn;
    if (sampler_) wait = std::clamp<Duration>(next_sample_ - ReportSender::steady_now(), 0s, wait);
    agent_->turn(wait);
    sample();
    show();
    if (std::exchange(leads, agent_->leading()) != agent_->leading() ||
        std::exchange(is_deputy, agent_->is_deputy()) != agent_->is_deputy()) {
      settled_at = ReportSender::steady_now() + kSettled;
      has_settled = false;
    }
    if (!has_settled && ReportSender::steady_now() > settled_at) {
      has_settled = true;
      monitor::give_back_what_starting_took();
    }
  }
  log_line("told to stop: finishing what is under way");
  reporter_->stopping();
  agent_->stop(kFinish);
  agent_.reset();
  log_line("stopped");
  return kDone;
}

}  // namespace

void add_agent(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "agent", "Schedule together: one learning scheduler on each node, one of them leading");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--node", arguments->node, "The node it stands for (the host's name)");
  command->add_option("--config", arguments->configuration,
                      "A KubeSchedulerConfiguration: whose pods, and the rules where agents have no word");
  command->add_option("--scheduler-name", arguments->scheduler_name,
                      "The schedulerName of the pods to schedule (evenkeel, or what the profiles say)");
  command->add_option("--kubeconfig", arguments->kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->context, "Of the kubeconfig (its current one)");
  command->add_option("--policy", arguments->policy, "How agents learn and decide: marl-shared or marl")
      ->check(CLI::IsMember({"marl-shared", "marl"}));
  command->add_option("--model", arguments->model, "A model for it (the built-in one); none: from nothing");
  command->add_flag("--learn", arguments->learn, "Learn on this cluster; with marl-shared from each other");
  command->add_option("--listen", arguments->listen,
                      "Where other agents reach it, mutually authenticated (127.0.0.1:9473; port 0: any)");
  command->add_option("--advertise", arguments->advertise,
                      "The same as others see it: 10.0.0.7:9473, or an address alone");
  command->add_option("--cert", arguments->tls.certificate, "Its certificate, evenkeel:agent:NODE (PEM)");
  command->add_option("--key", arguments->tls.key, "Its key (PEM)");
  command->add_option("--ca", arguments->tls.authority, "Who signs agents' certificates (PEM)");
  command->add_flag("--csr", arguments->csr,
                    "Ask the cluster for certificate and key instead; needs --state");
  command->add_option("--state", arguments->state, "The folder they are kept in");
  command->add_option("--signer", arguments->signer, "Who shall sign (kubernetes.io/kube-apiserver-client)");
  command->add_option("--lease", arguments->lease, "The Lease that elects the leader (evenkeel-agents)");
  command->add_option("--lease-namespace", arguments->lease_namespace, "Where it is (kube-system)");
  command->add_option("--lease-duration", arguments->lease_duration,
                      "How long a silent leader keeps it; one whose process is gone loses it at once (4s)");
  command->add_option("--deputies", arguments->deputies, "Agents that stand ready to lead (2)");
  command->add_option("--gather-within", arguments->gather, "How long the leader waits for answers (60ms)");
  command->add_option("--tells-beyond", arguments->tells_beyond,
                      "With more agents than this the leader tells of pods, instead of a watch by each (8)");
  command->add_option("--asks-all-up-to", arguments->asks_all_up_to,
                      "With more agents than this a sample is asked about each pod (50)");
  command->add_option("--sample", arguments->sample, "So many of them (32)");
  command->add_flag("--no-monitor", arguments->no_monitor,
                    "Measure nothing: the node counts by what its pods are expected to use");
  command->add_option("--interval", arguments->interval, "From one sample to the next (1s)");
  command->add_option("--cgroup", arguments->cgroup,
                      "The cgroup that is all of this node, where several share a kernel");
  command->add_option("--proc", arguments->proc, "Where the node's /proc is");
  command->add_option("--sys", arguments->sys, "Where the node's /sys is");
  command->add_option("--network-of", arguments->network_of,
                      "The process whose network is the node's: self, or 1 from inside a pod (self)");
  command->add_option("--interfaces", arguments->interfaces, "Those that carry the node's traffic (found)")
      ->delimiter(',');
  command->add_option("--disks", arguments->disks, "Those that hold its bytes (found)")->delimiter(',');
  command
      ->add_option("--capacity", arguments->capacities,
                   "What the node can give, as `evenkeel monitor` has it")
      ->delimiter(',');
  command
      ->add_option("--partition-namespaces", arguments->namespaces, "Only pods of these namespaces are ours")
      ->delimiter(',');
  command->add_flag("--no-events", arguments->no_events, "Write no Events");
  command->add_flag("--annotate", arguments->annotate, "Annotate bound pods with why (evenkeel.io/decision)");
  command->add_option("--status", arguments->status,
                      "Serve health, metrics and decisions there: 127.0.0.1:9474; port 0: any");
  command->add_option("--status-token-file", arguments->token_file,
                      "A secret that readers send as bearer token; without one, an address\n"
                      "beyond loopback shows health and nothing else");
  command->footer(
      "Example:\n  evenkeel agent --node n1 --listen 0.0.0.0:9473 --advertise 10.0.0.7 --csr --state /state "
      "--ca ca.crt");
  command->callback([arguments, &exit_code] { exit_code = Program(*arguments).run(); });
}

}  // namespace evenkeel::apps
