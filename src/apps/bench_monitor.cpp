#include "apps/bench_monitor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <ostream>
#include <thread>

#include "apps/bench_monitor_pods.h"
#include "messaging/report_receiver.h"
#include "messaging/test_certificates.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr int kPods = 50;
constexpr const char* kNodeExporter = "prometheus-node-exporter";
constexpr int kExporterPort = 29100;

// A program of ours or another's, with its output thrown away; killed with the object.
class Child {
 public:
  explicit Child(const std::vector<std::string>& command) : process_(::fork()) {
    if (process_ != 0) return;
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) (void)::dup2(nothing, fd);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    (void)::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ~Child() {
    (void)::kill(process_, SIGKILL);
    (void)::waitpid(process_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool is_alive() const { return ::waitpid(process_, nullptr, WNOHANG) == 0; }
  double cpu_seconds() const {  // to the nanosecond: /proc counts in hundredths of a second
    clockid_t clock = 0;
    timespec time{};
    if (::clock_getcpuclockid(process_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  // Reading calls so far; 0 where the kernel does not count them.
  double reads() const {
    std::ifstream io("/proc/" + std::to_string(process_) + "/io");
    for (std::string word; io >> word;) {
      double count = 0;
      if (word == "syscr:" && io >> count) return count;
    }
    return 0;
  }
  double megabytes(const std::string& field) const {
    std::ifstream status("/proc/" + std::to_string(process_) + "/status");
    for (std::string word; status >> word;) {
      double kilobytes = 0;
      if (word == field + ":" && status >> kilobytes) return kilobytes / 1024;
    }
    return 0;
  }

 private:
  pid_t process_;
};

struct Cost {
  double cpu_percent = 0, rss_mb = 0, anonymous_mb = 0, file_mb = 0, reads = 0;
};

template <class EachSecond>
Cost measure(const Child& child, std::chrono::seconds time, EachSecond each_second) {
  using Clock = std::chrono::steady_clock;
  const double before = child.cpu_seconds(), reads = child.reads();
  const auto begin = Clock::now();
  for (int second = 1; second <= time.count(); ++second) {
    each_second();
    std::this_thread::sleep_until(begin + std::chrono::seconds(second));
  }
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  return {.cpu_percent = 100 * (child.cpu_seconds() - before) / elapsed,
          .rss_mb = child.megabytes("VmRSS"),
          .anonymous_mb = child.megabytes("RssAnon"),
          .file_mb = child.megabytes("RssFile"),
          .reads = child.reads() - reads};
}

// One scrape, as Prometheus does; how many bytes came, -1 where nobody answers.
long scrape(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  long total = -1;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    const std::string request = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    (void)!::write(fd, request.data(), request.size());
    char bytes[16384];
    total = 0;
    for (ssize_t count = 0; (count = ::read(fd, bytes, sizeof bytes)) > 0;) total += count;
  }
  (void)::close(fd);
  return total;
}

Result<Cost> cost_of_monitor(const BenchPods& pods, const std::string& interval, std::chrono::seconds time) {
  const messaging::TestAuthority authority;
  messaging::ReportReceiver::Options options;
  options.address = "127.0.0.1:0";
  options.tls = authority.server();
  options.now = [] { return Time(); };
  const auto receiver = messaging::ReportReceiver::listen(std::move(options));
  if (!receiver) return receiver.error();
  const messaging::TlsFiles files = authority.monitor("bench");
  std::vector<std::string> command = {
      "/proc/self/exe",  "monitor", "--node",  "bench", "--to",          (*receiver)->address(), "--cert",
      files.certificate, "--key",   files.key, "--ca",  files.authority, "--interval",           interval};
  command.insert(command.end(), pods.options().begin(), pods.options().end());
  const Child monitor(command);
  for (int tries = 0; (*receiver)->counts().reports < 5; ++tries) {
    if (tries > 600 || !monitor.is_alive()) return unavailable("the monitor does not report");
    std::this_thread::sleep_for(100ms);
  }
  const auto before = (*receiver)->counts().reports;
  std::size_t seen = 0;
  Cost cost = measure(monitor, time, [&] {
    for (const NodeReport& report : (*receiver)->take()) seen = report.pods.size();
  });
  cost.reads /= static_cast<double>(std::max<std::uint64_t>(1, (*receiver)->counts().reports - before));
  if (seen != kPods || (*receiver)->counts().reports <= before)
    return unavailable("the monitor saw " + std::to_string(seen) + " pods of " + std::to_string(kPods));
  return cost;
}

std::optional<Cost> cost_of_node_exporter(std::chrono::seconds time) {
  const Child exporter({kNodeExporter, "--web.listen-address=127.0.0.1:" + std::to_string(kExporterPort)});
  for (int tries = 0; scrape(kExporterPort) < 0; ++tries) {
    if (tries > 100 || !exporter.is_alive()) return std::nullopt;
    std::this_thread::sleep_for(100ms);
  }
  return measure(exporter, time, [] { (void)scrape(kExporterPort); });
}

void print(std::ostream& out, const char* name, const Cost& cost, bool per_sample = true) {
  char line[160];
  (void)std::snprintf(line, sizeof line,
                      "%-36s %8.3f %% of a core %8.2f MB resident (%.2f own, %.2f of files)", name,
                      cost.cpu_percent, cost.rss_mb, cost.anonymous_mb, cost.file_mb);
  out << line;
  if (per_sample) {
    (void)std::snprintf(line, sizeof line, " %8.1f reads a sample", cost.reads);
    out << line;
  }
  out << '\n';
}

}  // namespace

Result<BenchJson> bench_monitor(const BenchSettings& settings, std::ostream& out) {
  const std::chrono::seconds time = settings.quick ? 5s : 30s;
  BenchJson results;
  for (const auto work : {BenchPods::Work::sleeps, BenchPods::Work::busy}) {
    const bool is_busy = work == BenchPods::Work::busy;
    const BenchPods pods(kPods, work);
    if (is_busy && !pods.are_real()) break;
    out << pods.description() << "; reports go to a receiver over TLS\n";
    const std::string prefix = is_busy ? "busy_" : "";
    results[prefix + "pods"] = pods.description();
    const auto slow = cost_of_monitor(pods, "1s", time);
    if (!slow) return slow.error();
    print(out, "a sample each second", *slow);
    const auto quick = cost_of_monitor(pods, "100ms", time);
    if (!quick) return quick.error();
    print(out, "a sample each 100 ms", *quick);
    results[prefix + "cpu_percent"] = slow->cpu_percent;
    results[prefix + "rss_mb"] = slow->rss_mb;
    results[prefix + "rss_anonymous_mb"] = slow->anonymous_mb;
    results[prefix + "rss_file_mb"] = slow->file_mb;
    results[prefix + "reads_per_sample"] = slow->reads;
    results[prefix + "cpu_percent_100ms"] = quick->cpu_percent;
    results[prefix + "rss_mb_100ms"] = quick->rss_mb;
    results[prefix + "reads_per_sample_100ms"] = quick->reads;
  }
  if (const auto exporter = cost_of_node_exporter(time)) {
    print(out, "node-exporter, scraped each second", *exporter, false);
    results["node_exporter_cpu_percent"] = exporter->cpu_percent;
    results["node_exporter_rss_mb"] = exporter->rss_mb;
  } else {
    out << "no " << kNodeExporter << " here to compare with\n";
  }
  return results;
}

}  // namespace evenkeel::apps
