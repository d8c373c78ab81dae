#include "monitor/pod_network.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "monitor/cgroup_tree.h"
#include "monitor/group_reader.h"

namespace evenkeel::monitor {
namespace {

constexpr int kMostDepth = 3;  // pod, container, and what the container makes for itself

// A process may be moved to another cgroup, which nobody tells.
constexpr Duration kLookAnyway = std::chrono::seconds(10);

bool is_no_loopback(std::string_view name) { return name != "lo"; }

}  // namespace

PodNetwork::PodNetwork(std::string proc, std::string group, std::size_t window)
    : proc_(std::move(proc)), group_(std::move(group)), still_(window, kPodsShortest) {}

bool PodNetwork::needs_look(const PodWatch::News& news, Duration now) const {
  return !held_.is_open() || now - looked_ >= kLookAnyway ||
         std::ranges::find(news.ended, held_.descriptor()) != news.ended.end();
}

bool PodNetwork::knows_process(ReadBuffer& buffer) {
  if (process_.empty()) return false;
  const auto text = processes_.read(buffer);
  if (!text) return false;
  std::string_view rest = *text;
  for (std::string_view word = cut_word(rest); !word.empty(); word = cut_word(rest))
    if (word == process_) return true;
  return false;
}

bool PodNetwork::find_process(ReadBuffer& buffer, const std::string& folder, int depth) {
  KeptFile processes(folder + "/cgroup.procs");
  if (const auto text = processes.read(buffer)) {
    std::string_view rest = *text;
    const std::string_view word = cut_word(rest);
    if (!word.empty() && word != "0") {  // 0: of another PID namespace
      process_ = word;
      processes_ = std::move(processes);
      return true;
    }
  }
  if (depth == kMostDepth) return false;
  for (const std::string& below : folders_in(folder))
    if (find_process(buffer, folder + "/" + below, depth + 1)) return true;
  return false;
}

bool PodNetwork::look(ReadBuffer& buffer, ino_t node_network, const PodWatch& watch, Duration now) {
  looked_ = now;
  if (knows_process(buffer)) return false;
  process_.clear();
  held_ = KeptFile();
  if (!find_process(buffer, group_, 0)) {
    devices_ = KeptFile();
    network_ = 0;
    return false;
  }
  // Of another /proc than ours the numbers may mean others.
  if (proc_ == "/proc") {
    if (const auto number = parse_integer(process_)) held_ = watch.watch_process(static_cast<int>(*number));
    // Between finding and holding it the process may have ended and its number been given away.
    if (held_.is_open() && !knows_process(buffer)) held_ = KeptFile();
  }
  KeptFile devices(proc_ + "/" + process_ + "/net/dev");
  const ino_t network = devices.inode();  // one for each namespace
  if (network == network_) return false;
  network_ = network;
  devices_ = network == node_network ? KeptFile() : std::move(devices);
  still_.restart();
  return true;
}

std::optional<Transfers> PodNetwork::read(ReadBuffer& buffer, Duration now, Duration longest) {
  static const IsCounted kCounted = is_no_loopback;
  if (!devices_.is_open() || !still_.is_due(now, longest)) return std::nullopt;
  const auto text = devices_.read(buffer);
  const auto found = text ? sum_interfaces(*text, kCounted) : std::nullopt;
  if (found) {
    still_.note(!(*found == transfers_), now);
    transfers_ = *found;
  }
  return found;
}

}  // namespace evenkeel::monitor
