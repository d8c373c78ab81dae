#include "apps/netprobe_settings.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "apps/log.h"
#include "apps/monitor_identity.h"
#include "base/file.h"
#include "base/kube_quantity.h"
#include "base/unit_text.h"
#include "monitor/devices.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortestPeriod = 1s, kLongestPeriod = 24h;
constexpr double kShortestBurst = 2 << 20;

Result<std::optional<std::int64_t>> node_bandwidth_of(const NetprobeArguments& arguments) {
  if (!arguments.advertise || arguments.node_bandwidth == "measured") return std::optional<std::int64_t>();
  if (arguments.node_bandwidth != "link") {
    const auto given = parse_quantity(arguments.node_bandwidth);
    if (!given || *given <= 0)
      return invalid("--node-bandwidth " + arguments.node_bandwidth +
                     ": expected link, measured or bits per second, as in 10G");
    return std::optional(*given);
  }
  const auto devices = read_file(arguments.proc + "/net/dev"),
             routes = read_file(arguments.proc + "/net/route");
  const double bytes = monitor::link_speed(
      monitor::choose_interfaces(devices ? *devices : "", routes ? *routes : "", arguments.sys, {}),
      arguments.sys);
  if (bytes <= 0)
    return invalid("--advertise: no driver here says how fast its link is; give --node-bandwidth");
  return std::optional<std::int64_t>(std::llround(8 * bytes));
}

}  // namespace

Result<NetprobeSettings> settings_of(const NetprobeArguments& arguments) {
  NetprobeSettings settings;
  NetprobeAgent::Options& agent = settings.agent;
  agent.node = arguments.node;
  if (agent.node.empty()) {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) == 0) agent.node = name;
  }
  agent.settings.mode = monitor::probe_mode_of(arguments.mode).value_or(monitor::ProbeMode::basic);
  const auto period = parse_duration(arguments.period), keep = parse_duration(arguments.keep);
  if (!period || *period < kShortestPeriod || *period > kLongestPeriod)
    return invalid("--period " + arguments.period + ": expected " + to_text(kShortestPeriod) + " to " +
                   to_text(kLongestPeriod));
  if (!keep || *keep < *period) return invalid("--keep " + arguments.keep + ": expected a period or more");
  agent.settings.period = *period;
  agent.settings.bandwidth_every = arguments.bandwidth_every;
  settings.keep = *keep;
  if (!arguments.run_for.empty()) {
    const auto run_for = parse_duration(arguments.run_for);
    if (!run_for) return invalid("--for: " + run_for.error().message);
    settings.run_for = *run_for;
  }
  const auto data = parse_byte_size(arguments.bandwidth_bytes);
  if (!data || data->count < (256 << 10) || data->count > (1 << 30))
    return invalid("--bandwidth-bytes " + arguments.bandwidth_bytes + ": expected 256Ki to 1Gi");
  agent.size.trips = arguments.trips;
  agent.size.data = data->count;
  const auto rate = parse_byte_rate(arguments.max_rate);
  if (!rate || rate->count <= 0)
    return invalid("--max-rate " + arguments.max_rate + ": expected a rate, as in 1Mbit/s");
  settings.rate = static_cast<double>(rate->count);
  // Room for one whole test, which is then paid for by rest.
  const std::int64_t largest = arguments.bandwidth_every > 0 ? data->count : 0;
  settings.burst = std::max(kShortestBurst, 1.25 * messaging::bytes_of_test(arguments.trips, largest));
  auto peers = parse_peers(arguments.peers);
  if (!peers) return peers.error();
  settings.peers = *std::move(peers);
  auto bandwidth = node_bandwidth_of(arguments);
  if (!bandwidth) return bandwidth.error();
  settings.node_bandwidth = *bandwidth;
  agent.tls = arguments.tls;
  if (arguments.csr) {
    if (arguments.state.empty()) return invalid("--csr needs --state, a folder for the key");
    agent.tls = MonitorIdentity::files_in(arguments.state, "netprobe");
    agent.tls.authority = arguments.tls.authority;
  }
  if (agent.tls.certificate.empty() || agent.tls.key.empty() || agent.tls.authority.empty())
    return invalid("expected --cert, --key and --ca, or --csr with --state and --ca");
  std::random_device device;
  agent.seed = (static_cast<std::uint64_t>(device()) << 32) | device();
  agent.say = log_line;
  return settings;
}

}  // namespace evenkeel::apps
