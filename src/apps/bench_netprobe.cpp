#include "apps/bench_netprobe.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>

#include "apps/bench_child.h"
#include "base/numbers.h"
#include "messaging/probe_wire.h"
#include "messaging/test_certificates.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;

// Sixteen probes on loopback, as in the table of Diktyo's paper, for one period of each mode.
constexpr int kNodes = 16, kProbePort = 24100, kMetricsPort = 24200;

struct Totals {
  double tests = 0, failed = 0, received = 0, transmitted = 0, cpu = 0, resident_mb = 0;
};

std::optional<double> metric(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + name.size() + 2;
  return parse_number(std::string_view(text).substr(begin, text.find('\n', begin) - begin));
}

using Probes = std::vector<std::unique_ptr<Child>>;

Probes start(const messaging::TestAuthority& authority, const std::string& mode,
             std::chrono::seconds period) {
  std::string peers;
  for (int i = 0; i < kNodes; ++i)
    peers += (i == 0 ? "n" : ",n") + std::to_string(i) + "=127.0.0.1:" + std::to_string(kProbePort + i);
  Probes probes;
  for (int i = 0; i < kNodes; ++i) {
    const std::string node = "n" + std::to_string(i);
    const messaging::TlsFiles files = authority.issue(node, std::string(messaging::kProbeName) + node);
    probes.push_back(std::make_unique<Child>(
        std::vector<std::string>{"/proc/self/exe", "netprobe",
                                 "--node",         node,
                                 "--mode",         mode,
                                 "--period",       std::to_string(period.count()) + "s",
                                 "--peers",        peers,
                                 "--probe-listen", "127.0.0.1:" + std::to_string(kProbePort + i),
                                 "--listen",       "127.0.0.1:" + std::to_string(kMetricsPort + i),
                                 "--cert",         files.certificate,
                                 "--key",          files.key,
                                 "--ca",           files.authority}));
  }
  return probes;
}

Result<Totals> look(const Probes& probes) {
  Totals totals;
  for (int i = 0; i < kNodes; ++i) {
    const Child& probe = *probes[static_cast<std::size_t>(i)];
    const std::string text = scrape(kMetricsPort + i);
    const auto tests = metric(text, "evenkeel_netprobe_tests_total");
    const auto failed = metric(text, "evenkeel_netprobe_tests_failed_total");
    const auto received = metric(text, "evenkeel_netprobe_received_bytes_total");
    const auto transmitted = metric(text, "evenkeel_netprobe_transmitted_bytes_total");
    if (!tests || !failed || !received || !transmitted)
      return unavailable("the probe of n" + std::to_string(i) + " does not answer");
    totals.tests += *tests;
    totals.failed += *failed;
    totals.received += *received;
    totals.transmitted += *transmitted;
    totals.cpu += probe.cpu_seconds();
    totals.resident_mb += probe.megabytes("VmRSS");
  }
  return totals;
}

// Periods are the same for all, and begin where the time is a multiple of them.
void wait_for_a_period(std::chrono::seconds period) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::this_thread::sleep_for(period - now % period);
}

}  // namespace

Result<BenchJson> bench_netprobe(const BenchSettings& settings, std::ostream& out) {
  const std::chrono::seconds period = settings.quick ? 20s : 300s;
  const messaging::TestAuthority authority;
  BenchJson results = {{"nodes", kNodes}, {"period_s", period.count()}};
  for (const std::string mode : {"basic", "full"}) {
    const Probes probes = start(authority, mode, period);
    for (int tries = 0; !look(probes); ++tries) {
      if (tries > 600) return look(probes).error();
      std::this_thread::sleep_for(100ms);
    }
    // What they make at once on being started is not what they do in a period.
    wait_for_a_period(period);
    const auto before = look(probes);
    const auto began = std::chrono::steady_clock::now();
    wait_for_a_period(period);
    const auto after = look(probes);
    if (!before || !after) return (before ? after : before).error();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const auto megabits = [&](double later, double earlier) { return (later - earlier) * 8e-6 / seconds; };
    const double received = megabits(after->received, before->received);
    const double transmitted = megabits(after->transmitted, before->transmitted);
    const double cpu = 100 * (after->cpu - before->cpu) / seconds / kNodes;
    char line[256];
    (void)std::snprintf(
        line, sizeof line,
        "%-6s %4.0f tests (%.0f failed) in %.0f s: %.4f Mbit/s received and %.4f transmitted a node, "
        "%.3f and %.3f in all; %.4f %% of a core and %.1f MB a node",
        mode.c_str(), after->tests - before->tests, after->failed - before->failed, seconds,
        received / kNodes, transmitted / kNodes, received, transmitted, cpu, after->resident_mb / kNodes);
    out << line << '\n';
    results[mode] = {{"tests", after->tests - before->tests},
                     {"failed", after->failed - before->failed},
                     {"received_mbps_per_node", received / kNodes},
                     {"transmitted_mbps_per_node", transmitted / kNodes},
                     {"received_mbps", received},
                     {"transmitted_mbps", transmitted},
                     {"cpu_percent_per_node", cpu},
                     {"rss_mb_per_node", after->resident_mb / kNodes}};
  }
  return results;
}

}  // namespace evenkeel::apps
