// `evenkeel monitor`: the agent of one node.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "apps/command.h"
#include "apps/log.h"
#include "apps/monitor_identity.h"
#include "apps/monitor_options.h"
#include "apps/monitor_view.h"
#include "base/file.h"
#include "base/numbers.h"
#include "base/unit_text.h"
#include "messaging/report_sender.h"
#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"
#include "monitor/sampler.h"
#include "monitor/thrift.h"
#include "reporting/status_server.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using messaging::ReportSender;

constexpr Duration kShortestInterval = 10ms, kLongestInterval = 1h;
constexpr std::uint64_t kSettled = 3;  // samples after which nothing new is touched

struct Arguments {
  std::string node, to, server_name, interval = "1s";
  messaging::TlsFiles tls;
  bool csr = false, once = false;
  std::string state, signer = "kubernetes.io/kube-apiserver-client", kubeconfig, context;
  std::string cgroup, proc = "/proc", sys = "/sys", network_of = "self";
  std::vector<std::string> interfaces, disks, capacities, windows;
  std::string listen, token_file, output = "table";
};

int fail(const Error& error) {
  std::cerr << "evenkeel monitor: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Result<monitor::Sampler::Options> sampler_options(const Arguments& arguments) {
  monitor::Sampler::Options options;
  options.node = arguments.node.empty() ? host_name() : arguments.node;
  options.proc = arguments.proc;
  options.sys = arguments.sys;
  options.cgroup = arguments.cgroup;
  options.network_of = arguments.network_of;
  options.interfaces = arguments.interfaces;
  options.disks = arguments.disks;
  const auto capacity = parse_capacities(arguments.capacities);
  if (!capacity) return capacity.error();
  options.capacity = *capacity;
  const auto windows = parse_windows(arguments.windows);
  if (!windows) return windows.error();
  options.windows = *windows;
  options.say = log_line;
  return options;
}

Result<Duration> interval_of(const Arguments& arguments) {
  auto interval = parse_duration(arguments.interval);
  if (!interval) return invalid("--interval: " + interval.error().message);
  if (*interval < kShortestInterval || *interval > kLongestInterval)
    return invalid("--interval " + arguments.interval + ": expected " + to_text(kShortestInterval) + " to " +
                   to_text(kLongestInterval));
  return interval;
}

// Sleeps between samples, and wakes at once when told to stop. Signals are blocked everywhere, so that they
// are waiting here instead of interrupting somebody's write.
class Ticker {
 public:
  explicit Ticker(Duration interval) : interval_(interval) {
    ::sigemptyset(&signals_);
    for (const int number : {SIGTERM, SIGINT}) ::sigaddset(&signals_, number);
    (void)::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    next_ = ReportSender::steady_now();
  }
  // False: told to stop. A tick that was missed (the machine slept, we were stopped) is not made up for.
  bool wait() {
    next_ += interval_;
    const Duration now = ReportSender::steady_now();
    if (next_ < now) next_ = now;
    const Duration left = next_ - now;
    timespec time{};
    time.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
    time.tv_nsec = (left % 1s).count() * 1000;
    return ::sigtimedwait(&signals_, nullptr, &time) < 0;
  }

 private:
  Duration interval_, next_;
  sigset_t signals_{};
};

// What /metrics shows: handed over by whoever samples, taken by the server's thread.
struct Shown {
  std::mutex mutex;
  NodeReport report;
  std::uint64_t samples = 0;
};

double resident_bytes() {
  monitor::KeptFile file("/proc/self/statm");
  monitor::ReadBuffer buffer;
  std::string_view text = file.read(buffer).value_or("");
  (void)monitor::cut_word(text);
  const auto pages = monitor::parse_count(monitor::cut_word(text));
  return pages ? static_cast<double>(*pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

std::string metrics_of(Shown& shown, const ReportSender* sender) {
  MonitorFigures figures;
  {
    const std::lock_guard lock(shown.mutex);
    figures.report = shown.report;
    figures.samples = shown.samples;
  }
  rusage used{};
  (void)::getrusage(RUSAGE_SELF, &used);
  figures.cpu_seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                        static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  figures.resident_bytes = resident_bytes();
  if (sender != nullptr) {
    figures.sends = true;
    figures.is_connected = sender->is_connected();
    figures.sent = sender->counts();
  }
  return monitor_metrics(figures);
}

Result<std::unique_ptr<reporting::StatusServer>> serve(const Arguments& arguments, Shown& shown,
                                                       const ReportSender* sender) {
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
  options.metrics = [&shown, sender] { return metrics_of(shown, sender); };
  options.max_connections = 16;
  return reporting::StatusServer::start(std::move(options));
}

Result<std::unique_ptr<MonitorIdentity>> ask_for_identity(const Arguments& arguments,
                                                          const std::string& node) {
  MonitorIdentity::Options options;
  options.node = node;
  options.folder = arguments.state;
  options.signer = arguments.signer;
  options.say = log_line;
  auto access = kubernetes::find_access({arguments.kubeconfig, arguments.context},
                                        kubernetes::kubernetes_environment(), read_file);
  if (!access) return access.error();
  options.access = *std::move(access);
  return MonitorIdentity::start(std::move(options));
}

Result<std::unique_ptr<ReportSender>> open_sender(const Arguments& arguments) {
  if (arguments.to.empty()) return std::unique_ptr<ReportSender>();
  ReportSender::Options options;
  options.to = arguments.to;
  options.server_name = arguments.server_name;
  options.tls = arguments.tls;
  if (arguments.csr) {
    options.tls = MonitorIdentity::files_in(arguments.state);
    options.tls.authority = arguments.tls.authority;
  }
  if (options.tls.certificate.empty() || options.tls.key.empty() || options.tls.authority.empty())
    return invalid("--to needs --cert, --key and --ca, or --csr with --state and --ca");
  std::random_device device;
  options.seed = (static_cast<std::uint64_t>(device()) << 32) | device();
  options.say = log_line;
  return ReportSender::open(std::move(options));
}

int run_once(monitor::Sampler& sampler, const Arguments& arguments, Duration interval, std::size_t samples) {
  const NodeReport* report = nullptr;
  std::vector<double> sampled;
  Ticker ticker(interval);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    if (sample > 0 && !ticker.wait()) return kFailed;
    const Duration now = ReportSender::steady_now();
    sampled.push_back(to_seconds(now));
    report = &sampler.sample(now);
  }
  if (arguments.output == "json") {
    std::cout << monitor_json(*report, sampled) << '\n';
  } else {
    std::cout << render_text_table(monitor_table(*report), reporting::text_style_for(STDOUT_FILENO));
  }
  return kDone;
}

// A hundred pods are several hundred open files.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

int run(Arguments arguments) {
  monitor::keep_to_one_heap();
  allow_many_files();
  const auto interval = interval_of(arguments);
  if (!interval) return fail(interval.error());
  auto options = sampler_options(arguments);
  if (!options) return fail(options.error());
  const std::string node = options->node;
  const monitor::WindowLengths windows = options->windows;
  auto sampler = monitor::Sampler::open(*std::move(options));
  if (!sampler) return fail(sampler.error());
  if (arguments.once)
    return run_once(*sampler, arguments, *interval,
                    1 + std::max({windows.cpu, windows.memory, windows.network, windows.disk}));
  if (arguments.to.empty() && arguments.listen.empty())
    return fail(invalid("nobody to tell: give --to, --listen or --once"));
  if (arguments.csr && arguments.state.empty())
    return fail(invalid("--csr needs --state, a folder for the key"));

  Ticker ticker(*interval);  // before any thread: they inherit which signals are theirs
  Shown shown;
  auto sender = open_sender(arguments);
  if (!sender) return fail(sender.error());
  std::unique_ptr<MonitorIdentity> identity;
  if (arguments.csr) {
    auto asked = ask_for_identity(arguments, node);
    if (!asked) return fail(asked.error());
    identity = *std::move(asked);
  }
  const auto server = serve(arguments, shown, sender->get());
  if (!server) return fail(server.error());
  log_line("watching " + node + ": " + sampler->description() +
           (*server ? "; metrics at " + (*server)->url() + "metrics" : ""));
  arguments = {};

  std::uint64_t settled_at = kSettled, connections = 0;
  for (std::uint64_t sample = 1;; ++sample) {
    const Duration now = ReportSender::steady_now();
    const NodeReport& report = sampler->sample(now);
    if (*sender && sample > 1) (*sender)->send(report, now);
    if (*server) {
      const std::lock_guard lock(shown.mutex);
      shown.report = report;
      shown.samples = sample;
    }
    if (*sender && (*sender)->counts().connected != connections) {
      connections = (*sender)->counts().connected;
      settled_at = sample + kSettled;
    }
    if (sample == settled_at) monitor::give_back_what_starting_took();
    if (!ticker.wait()) break;
  }
  log_line("told to stop");
  return kDone;
}

}  // namespace

void add_monitor(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("monitor", "Tell the scheduler what a node and its pods use");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--node", arguments->node, "The node's name in the cluster (the host's name)");
  command->add_option("--to", arguments->to, "The scheduler that wants to know: HOST:PORT");
  command->add_option("--server-name", arguments->server_name,
                      "What the scheduler's certificate is for, where that is not the host");
  command->add_option("--cert", arguments->tls.certificate, "Our certificate, evenkeel:monitor:NODE (PEM)");
  command->add_option("--key", arguments->tls.key, "Its key (PEM)");
  command->add_option("--ca", arguments->tls.authority, "Who signs the scheduler's certificate (PEM)");
  command->add_flag("--csr", arguments->csr,
                    "Ask the cluster for certificate and key instead; needs --state");
  command->add_option("--state", arguments->state, "The folder they are kept in");
  command->add_option("--signer", arguments->signer, "Who shall sign (kubernetes.io/kube-apiserver-client)");
  command->add_option(
      "--kubeconfig", arguments->kubeconfig,
      "Of --csr: how to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->context, "Of the kubeconfig (its current one)");
  command->add_option("--interval", arguments->interval, "From one sample to the next (1s)");
  command
      ->add_option("--windows", arguments->windows,
                   "Samples to average over (cpu=5,network=5,memory=3,disk=3)")
      ->delimiter(',');
  command
      ->add_option("--capacity", arguments->capacities,
                   "What the node can give, where that cannot be found out:\n"
                   "cpu=4,memory=16Gi,receive=10Gbit/s,transmit=10Gbit/s,read=500MB/s,write=500MB/s")
      ->delimiter(',');
  command->add_option("--cgroup", arguments->cgroup,
                      "The cgroup that is all of this node, where several share a kernel");
  command->add_option("--interfaces", arguments->interfaces, "Those that carry the node's traffic (found)")
      ->delimiter(',');
  command->add_option("--disks", arguments->disks, "Those that hold its bytes (found)")->delimiter(',');
  command->add_option("--network-of", arguments->network_of,
                      "The process whose network is the node's: self, or 1 from inside a pod (self)");
  command->add_option("--proc", arguments->proc, "Where the node's /proc is");
  command->add_option("--sys", arguments->sys, "Where the node's /sys is");
  command->add_option("--listen", arguments->listen, "Serve /metrics for Prometheus there: 127.0.0.1:9469");
  command->add_option("--listen-token-file", arguments->token_file,
                      "A secret that readers send as bearer token; without one, an address\n"
                      "beyond loopback shows health and nothing else");
  command->add_flag("--once", arguments->once, "Fill the windows once, print, and end");
  command->add_option("-o,--output", arguments->output, "Of --once: table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->footer(
      "Example:\n  evenkeel monitor --node n1 --to evenkeel.kube-system:9470 --cert tls.crt --key tls.key "
      "--ca ca.crt");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
