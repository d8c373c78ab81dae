// `evenkeel netprobe`: measures the paths from one node to the others.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iostream>
#include <memory>
#include <mutex>

#include "apps/command.h"
#include "apps/log.h"
#include "apps/monitor_identity.h"
#include "apps/netprobe_agent.h"
#include "apps/netprobe_cluster.h"
#include "apps/netprobe_settings.h"
#include "apps/netprobe_view.h"
#include "base/file.h"
#include "kubernetes/client_api.h"
#include "messaging/probe_server.h"
#include "reporting/status_server.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTurn = 50ms;
constexpr Duration kWriteAtLatest = 30s;  // with results that wait for others of the same period
volatile std::sig_atomic_t told_to_stop = 0;

int fail(const Error& error) {
  std::cerr << "evenkeel netprobe: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

// What /metrics shows: written by the loop, taken by the server's thread.
struct Shown {
  std::mutex mutex;
  std::string text;
};

Result<std::unique_ptr<reporting::StatusServer>> serve(const NetprobeArguments& arguments, Shown& shown) {
  if (arguments.listen.empty()) return std::unique_ptr<reporting::StatusServer>();
  const auto address = reporting::parse_listen_address(arguments.listen);
  if (!address) return invalid("--listen: " + address.error().message);
  reporting::StatusServer::Options options;
  options.address = address->address;
  options.port = address->port;
  if (!arguments.token_file.empty()) {
    const auto token = read_file(arguments.token_file);
    if (!token) return invalid("--listen-token-file: " + token.error().message);
    options.token = token->substr(0, token->find_last_not_of("\r\n") + 1);
    if (options.token.empty()) return invalid("--listen-token-file: " + arguments.token_file + " is empty");
  }
  options.metrics = [&shown] {
    const std::lock_guard lock(shown.mutex);
    return shown.text;
  };
  options.max_connections = 16;
  return reporting::StatusServer::start(std::move(options));
}

// Everything of one probe, and the turns it takes.
class Netprobe {
 public:
  Netprobe(const NetprobeArguments& arguments, NetprobeSettings settings)
      : arguments_(arguments),
        settings_(std::move(settings)),
        budget_(settings_.rate, settings_.burst),
        agent_([this] {
          NetprobeAgent::Options options = settings_.agent;
          options.turn = &turn_;
          options.budget = &budget_;
          return options;
        }()) {}

  int run();

 private:
  Status open();
  Status take_nodes(std::vector<ProbeNode> nodes);
  void turn(Time now);
  void write();
  void advertise();
  void show();
  int print();
  bool is_over(Time steady) const {
    return told_to_stop != 0 || (settings_.run_for > Duration::zero() && steady - began_ > settings_.run_for);
  }

  const NetprobeArguments& arguments_;
  NetprobeSettings settings_;
  messaging::ProbeTurn turn_;
  messaging::TrafficBudget budget_;
  kubernetes::EventLoop loop_;
  std::unique_ptr<kubernetes::ApiClient> client_;
  std::unique_ptr<NetprobeCluster> cluster_;
  std::unique_ptr<MonitorIdentity> identity_;
  std::unique_ptr<messaging::ProbeServer> server_;
  Shown shown_;
  std::unique_ptr<reporting::StatusServer> status_;
  NetprobeAgent agent_;
  std::size_t members_ = 0, most_paths_ = 0;
  std::set<std::string> names_;
  bool has_looked_ = false;
  Time began_{}, shown_at_{}, written_at_{};
  std::string refusal_;
};

Status Netprobe::open() {
  if (arguments_.peers.empty() || arguments_.csr) {
    auto access = kubernetes::find_access({arguments_.kubeconfig, arguments_.context},
                                          kubernetes::kubernetes_environment(), read_file);
    if (!access) return access.error();
    if (arguments_.csr) {
      MonitorIdentity::Options options;
      options.role = "netprobe";
      options.node = settings_.agent.node;
      options.folder = arguments_.state;
      options.signer = arguments_.signer;
      options.say = log_line;
      options.access = *access;
      auto identity = MonitorIdentity::start(std::move(options));
      if (!identity) return identity.error();
      identity_ = *std::move(identity);
    }
    if (arguments_.peers.empty()) {
      kubernetes::ApiClient::Options options;
      options.user_agent = "evenkeel-netprobe";
      options.max_connections = 2;
      auto client = kubernetes::ApiClient::open(loop_, *access, read_file, options);
      if (!client) return client.error();
      client_ = *std::move(client);
      cluster_ = std::make_unique<NetprobeCluster>(
          *client_, NetprobeCluster::Options{.node = settings_.agent.node,
                                             .port = arguments_.port,
                                             .name_space = arguments_.name_space,
                                             .config_map = arguments_.config_map,
                                             .say = log_line});
      cluster_->start();
    }
  }
  if (arguments_.once) return {};
  messaging::ProbeServer::Options options;
  options.address = arguments_.listen_at;
  options.tls = settings_.agent.tls;
  options.turn = &turn_;
  options.budget = &budget_;
  options.say = log_line;
  auto server = messaging::ProbeServer::listen(std::move(options));
  if (!server) return server.error();
  server_ = *std::move(server);
  auto status = serve(arguments_, shown_);
  if (!status) return status.error();
  status_ = *std::move(status);
  return {};
}

// invalid: the ConfigMap cannot hold what the mode measures.
Status Netprobe::take_nodes(std::vector<ProbeNode> nodes) {
  std::set<std::string> names;
  for (const ProbeNode& node : nodes) names.insert(node.member.node);
  const auto members = ready_members(nodes);
  members_ = members.size();
  const auto most = monitor::most_paths_of(members, settings_.agent.settings.mode);
  if (server_) server_->set_members(names);
  if (cluster_) {
    agent_.row().keep_only(names);
    const bool has_lost_one = !std::ranges::includes(names, names_);
    if (!has_looked_ || has_lost_one) cluster_->look_at_config_map(agent_.row());
  }
  has_looked_ = true;
  names_ = std::move(names);
  if (!most && cluster_) {
    agent_.set_nodes({});
    return most.error();
  }
  most_paths_ = most ? *most : members.size();
  agent_.set_nodes(std::move(nodes));
  return {};
}

void Netprobe::write() {
  if (!cluster_) return;
  const Time now = loop_.steady_now();
  if (!agent_.is_idle() && now - written_at_ < kWriteAtLatest) return;
  written_at_ = now;
  cluster_->write(agent_.row(), {.most_paths = most_paths_, .keep = settings_.keep});
}

void Netprobe::advertise() {
  if (!cluster_ || !arguments_.advertise) return;
  std::int64_t best = settings_.node_bandwidth.value_or(0);
  if (!settings_.node_bandwidth)
    for (const auto& [destination, path] : agent_.row().paths())
      if (path.figures && path.figures->bits_per_second)
        best = std::max<std::int64_t>(best, std::llround(*path.figures->bits_per_second));
  if (best > 0) cluster_->advertise(best);
}

void Netprobe::show() {
  if (!status_ || loop_.steady_now() - shown_at_ < 500ms) return;
  shown_at_ = loop_.steady_now();
  NetprobeFigures figures{.paths = &agent_.row().paths(),
                          .made = agent_.counts(),
                          .answered = server_->counts(),
                          .written = cluster_ ? cluster_->counts() : NetprobeCluster::Counts{},
                          .members = members_};
  std::string text = netprobe_metrics(figures);
  const std::lock_guard lock(shown_.mutex);
  shown_.text = std::move(text);
}

void Netprobe::turn(Time now) {
  agent_.step(now, loop_.steady_now().time_since_epoch());
  write();
  advertise();
  show();
}

int Netprobe::print() {
  if (arguments_.output == "json")
    std::cout << netprobe_json(settings_.agent.node, agent_.row().paths(), agent_.troubles()) << '\n';
  else
    std::cout << render_text_table(
        netprobe_table(settings_.agent.node, agent_.row().paths(), agent_.troubles()),
        reporting::text_style_for(STDOUT_FILENO));
  return agent_.troubles().empty() ? kDone : kFailed;
}

int Netprobe::run() {
  for (const int number : {SIGTERM, SIGINT}) (void)std::signal(number, [](int) { told_to_stop = 1; });
  if (auto opened = open(); !opened) return fail(opened.error());
  if (!cluster_)
    if (auto taken = take_nodes(settings_.peers); !taken) return fail(taken.error());
  if (arguments_.once) agent_.hurry();
  if (server_)
    log_line("probing from " + settings_.agent.node + ", mode " + arguments_.mode + ", each " +
             arguments_.period + "; answering at " + server_->address() +
             (status_ ? "; metrics at " + status_->url() + "metrics" : ""));
  began_ = loop_.steady_now();
  bool has_begun = !cluster_;
  while (!is_over(loop_.steady_now())) {
    (void)loop_.run_for(kTurn, [] { return told_to_stop != 0; });
    if (cluster_) {
      if (auto nodes = cluster_->take_nodes()) {
        const Status taken = take_nodes(*std::move(nodes));
        const std::string refusal = taken ? "" : taken.error().message;
        if (!taken && !has_begun) return fail(taken.error());
        if (!taken && refusal != refusal_) log_line("nothing is measured: " + refusal);
        refusal_ = refusal;
        has_begun = true;
      }
    }
    if (!has_begun) continue;
    turn(loop_.now());
    if (arguments_.once && agent_.is_idle()) return print();
  }
  log_line("told to stop");
  return kDone;
}

int run(const NetprobeArguments& arguments) {
  auto settings = settings_of(arguments);
  if (!settings) return fail(settings.error());
  Netprobe netprobe(arguments, *std::move(settings));
  return netprobe.run();
}

}  // namespace

void add_netprobe(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("netprobe", "Measure latency and bandwidth between nodes");
  auto arguments = std::make_shared<NetprobeArguments>();
  command->add_option("--node", arguments->node, "The node's name in the cluster (the host's name)");
  command
      ->add_option("--mode", arguments->mode,
                   "basic: one peer a period, in turn; full: all; zones: one pair of nodes\n"
                   "for each pair of zones (basic)")
      ->check(CLI::IsMember({"basic", "full", "zones"}));
  command->add_option("--period", arguments->period, "In which each test of the mode is made once (5m)");
  command->add_option("--probe-listen", arguments->listen_at, "Where tests of others arrive (0.0.0.0:9471)");
  command
      ->add_option("--port", arguments->port, "Where other nodes' probes listen, at their InternalIP (9471)")
      ->check(CLI::Range(1, 65535));
  command
      ->add_option("--peers", arguments->peers,
                   "Without a cluster: NAME=HOST:PORT or NAME=HOST:PORT@ZONE, ...")
      ->delimiter(',');
  command->add_option("--cert", arguments->tls.certificate, "Our certificate, evenkeel:netprobe:NODE (PEM)");
  command->add_option("--key", arguments->tls.key, "Its key (PEM)");
  command->add_option("--ca", arguments->tls.authority, "Who signs the certificates of probes (PEM)");
  command->add_flag("--csr", arguments->csr,
                    "Ask the cluster for certificate and key instead; needs --state");
  command->add_option("--state", arguments->state, "The folder they are kept in");
  command->add_option("--signer", arguments->signer, "Who shall sign (kubernetes.io/kube-apiserver-client)");
  command->add_option("--kubeconfig", arguments->kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->context, "Of the kubeconfig (its current one)");
  command->add_option("--namespace", arguments->name_space,
                      "Of the ConfigMap: the NetworkTopology's (default)");
  command->add_option("--configmap", arguments->config_map, "Where the figures go (netperf-metrics)");
  command->add_option("--keep", arguments->keep, "What was not measured for so long is removed (24h)");
  command->add_option("--trips", arguments->trips, "Round trips of a test, 2 s at most (200)")
      ->check(CLI::Range(1, 10'000));
  command
      ->add_option("--bandwidth-every", arguments->bandwidth_every,
                   "Each so-manieth test of a pair measures bandwidth as well; 0: none (0)")
      ->check(CLI::Range(0, 1'000'000));
  command->add_option("--bandwidth-bytes", arguments->bandwidth_bytes, "It moves so much, 4 s at most (8Mi)");
  command->add_option("--max-rate", arguments->max_rate,
                      "Traffic of all tests, both ways, in the long run (1Mbit/s)");
  command->add_flag("--advertise", arguments->advertise,
                    "Say in the node's status what it has of network.aware.com/bandwidth");
  command->add_option("--node-bandwidth", arguments->node_bandwidth,
                      "That is: link (what the driver says), measured, or bits per second (link)");
  command->add_option("--sys", arguments->sys, "Where the node's /sys is");
  command->add_option("--proc", arguments->proc, "Where the node's /proc is");
  command->add_option("--listen", arguments->listen, "Serve /metrics for Prometheus there: 127.0.0.1:9472");
  command->add_option("--listen-token-file", arguments->token_file,
                      "A secret that readers send as bearer token; without one, an address\n"
                      "beyond loopback shows health and nothing else");
  command->add_option("--for", arguments->run_for, "End after so long");
  command->add_flag("--once", arguments->once,
                    "Make this period's tests now, print what came of them, and end");
  command->add_option("-o,--output", arguments->output, "Of --once: table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->footer(
      "Example:\n  evenkeel netprobe --node n1 --mode zones --cert tls.crt --key tls.key --ca ca.crt "
      "--listen 127.0.0.1:9472");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
