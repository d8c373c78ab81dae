#include "apps/bench_monitor.h"

#include <chrono>
#include <ostream>
#include <thread>

#include "apps/bench_child.h"
#include "apps/bench_monitor_pods.h"
#include "messaging/report_receiver.h"
#include "messaging/test_certificates.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr int kPods = 50;
constexpr const char* kNodeExporter = "prometheus-node-exporter";
constexpr int kExporterPort = 29100;

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
  for (int tries = 0; scrape(kExporterPort).empty(); ++tries) {
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
