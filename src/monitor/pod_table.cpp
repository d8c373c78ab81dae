#include "monitor/pod_table.h"

#include <utility>

namespace evenkeel::monitor {
namespace {

// Though nobody said that anything changed: other folders may hold pods from now on.
constexpr Duration kScanAnyway = std::chrono::seconds(10);

}  // namespace

PodTable::Pod::Pod(const FoundPod& found, const CgroupTree& tree, const Options& options)
    : uid(found.uid),
      path(found.path),
      group(tree, found.path, options.windows, kPodsShortest),
      network(options.proc, tree.any().root + found.path, options.windows.network),
      windows(options.windows) {}

// Both lists are sorted: what is in one alone came or went.
void PodTable::scan() {
  watch_.watch_folders(find_pod_folders(tree_, options_.node_path));
  const std::vector<FoundPod> found = find_pods(tree_, options_.node_path);
  std::vector<std::unique_ptr<Pod>> next;
  next.reserve(found.size());
  auto old = pods_.begin();
  for (const FoundPod& one : found) {
    while (old != pods_.end() && (*old)->uid < one.uid) ++old;
    const bool is_known = old != pods_.end() && *old && (*old)->uid == one.uid && (*old)->path == one.path;
    next.push_back(is_known ? std::move(*old++) : std::make_unique<Pod>(one, tree_, options_));
    if (const std::string trouble = next.back()->group.trouble(); !trouble.empty() && !is_known)
      options_.say_once("not all of pods' cgroups can be read: " + trouble);
  }
  pods_ = std::move(next);
}

void PodTable::look(ReadBuffer& buffer, ino_t node_network, Duration now) {
  if (looked_ && now - *looked_ < options_.look_every) return;
  looked_ = now;
  const PodWatch::News news = watch_.ask();
  if (!scanned_ || news.folders || !watch_.watches_folders() || now - *scanned_ >= kScanAnyway) {
    scan();
    scanned_ = now;
  }
  for (const auto& pod : pods_)
    if (pod->network.needs_look(news, now) && pod->network.look(buffer, node_network, watch_, now))
      pod->windows.restart_network();
}

void PodTable::read(ReadBuffer& buffer, const IsCounted& is_disk, const UsageWindows::Sample& sample,
                    std::vector<NodeReport::PodPart>& pods) {
  std::size_t count = 0;
  for (const auto& pod : pods_) {
    const GroupReading reading = pod->group.read(buffer, is_disk, sample.at);
    if (pod->group.is_gone()) continue;  // not found at the next look either
    if (reading.cpu_seconds) pod->windows.add_cpu(*reading.cpu_seconds, sample);
    if (reading.memory) pod->windows.add_memory(*reading.memory, sample);
    if (reading.disk) pod->windows.add_disk(*reading.disk, sample);
    if (const auto bytes = pod->network.read(buffer, sample.at, pod->group.longest()))
      pod->windows.add_network(*bytes, sample);
    NodeReport::Known known{};
    const Usage usage = pod->windows.usage(known);
    if (reading.cpu_seconds && !known[0]) continue;  // its first sample: no rates yet
    if (count == pods.size()) pods.emplace_back();
    if (pods[count].uid != pod->uid) pods[count].uid = pod->uid;
    pods[count].usage = usage;
    ++count;
  }
  pods.resize(count);
}

}  // namespace evenkeel::monitor
