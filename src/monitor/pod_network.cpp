#include "monitor/pod_network.h"

#include <utility>

#include "monitor/cgroup_tree.h"

namespace evenkeel::monitor {
namespace {

constexpr int kMostDepth = 3;  // pod, container, and what the container makes for itself

bool is_no_loopback(std::string_view name) { return name != "lo"; }

}  // namespace

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

bool PodNetwork::look(ReadBuffer& buffer, ino_t node_network) {
  if (knows_process(buffer)) return false;
  process_.clear();
  if (!find_process(buffer, group_, 0)) {
    devices_ = KeptFile();
    network_ = 0;
    return false;
  }
  KeptFile devices(proc_ + "/" + process_ + "/net/dev");
  const ino_t network = devices.inode();  // one for each namespace
  if (network == network_) return false;
  network_ = network;
  devices_ = network == node_network ? KeptFile() : std::move(devices);
  return true;
}

std::optional<Transfers> PodNetwork::read(ReadBuffer& buffer) {
  static const IsCounted kCounted = is_no_loopback;
  const auto text = devices_.read(buffer);
  return text ? sum_interfaces(*text, kCounted) : std::nullopt;
}

}  // namespace evenkeel::monitor
