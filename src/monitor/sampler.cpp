#include "monitor/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "monitor/devices.h"
#include "monitor/group_reader.h"
#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"
#include "monitor/pod_network.h"
#include "monitor/usage_windows.h"

namespace evenkeel::monitor {
namespace {

IsCounted one_of(std::vector<std::string> names) {
  return [names = std::move(names)](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
}

// `/a/b` of what people write: `a/b/`, `/`.
std::string tidy_path(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  if (!path.empty() && path.front() != '/') path.insert(path.begin(), '/');
  return path;
}

struct Pod {
  Pod(const FoundPod& found, const CgroupTree& tree, const Sampler::Options& options)
      : uid(found.uid),
        path(found.path),
        group(tree, found.path),
        network(options.proc, tree.any().root + found.path),
        windows(options.windows) {}

  std::string uid, path;
  GroupReader group;
  PodNetwork network;
  UsageWindows windows;
};

}  // namespace

struct Sampler::Parts {
  explicit Parts(Options given)
      : options(std::move(given)), tree(CgroupTree::find(options.cgroups)), windows(options.windows) {}

  Status open();
  Status look_for(const std::string& what, const std::vector<std::string>& named,
                  const std::vector<std::string>& there);
  void find_capacity();
  void read_machine(Duration now);
  void read_network(Duration now);
  void look_for_pods();
  void read_pods(Duration now);
  void say_once(const std::string& text) {
    if (said.insert(text).second && options.say) options.say(text);
  }
  std::optional<std::string_view> text_of(KeptFile& file, const std::string& name) {
    auto text = file.read(buffer);
    if (!text) say_once(name + " cannot be read and is left out: " + std::strerror(file.trouble()));
    return text;
  }

  Options options;
  CgroupTree tree;
  std::string node_path;
  UsageWindows windows;
  ReadBuffer buffer;
  KeptFile stat, meminfo, diskstats, net_dev;
  std::optional<GroupReader> group;  // the node, where it is one cgroup
  std::vector<std::string> interfaces;
  IsCounted is_interface, is_disk, is_device;
  ino_t network = 0;
  double ticks = 100;
  std::vector<std::unique_ptr<Pod>> pods;  // by uid
  std::optional<Duration> looked;
  NodeReport report;
  std::set<std::string> said;
};

Status Sampler::Parts::open() {
  ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  stat = KeptFile(options.proc + "/stat");
  meminfo = KeptFile(options.proc + "/meminfo");
  diskstats = KeptFile(options.proc + "/diskstats");
  const std::string process = options.proc + "/" + options.network_of;
  net_dev = KeptFile(process + "/net/dev");
  network = net_dev.inode();
  if (!options.cgroup.empty()) {
    node_path = tidy_path(options.cgroup);
    if (tree.is_empty()) return unavailable("no cgroups under " + options.cgroups);
    if (!is_folder(tree.any().root + node_path)) return not_found("no cgroup " + tree.any().root + node_path);
    group.emplace(tree, node_path);
    if (const std::string trouble = group->trouble(); !trouble.empty())
      say_once("not all of cgroup " + options.cgroup + " can be read: " + trouble);
  } else if (!stat.is_open() && !meminfo.is_open()) {
    return unavailable("neither " + options.proc + "/stat nor meminfo can be read");
  }
  if (tree.is_empty()) say_once("no cgroups under " + options.cgroups + ": pods are left out");

  ReadBuffer second;
  KeptFile routes(process + "/net/route");
  interfaces = choose_interfaces(net_dev.read(buffer).value_or(""), routes.read(second).value_or(""),
                                 options.sys, options.interfaces);
  is_interface = one_of(interfaces);
  std::vector<std::string> there;
  for_each_interface(net_dev.read(buffer).value_or(""),
                     [&](std::string_view name) { there.emplace_back(name); });
  if (const Status found = look_for("interface", options.interfaces, there); !found) return found;
  there.clear();
  for_each_disk(diskstats.read(buffer).value_or(""),
                [&](const DiskLine& line) { there.emplace_back(line.name); });
  if (const Status found = look_for("disk", options.disks, there); !found) return found;
  Disks disks = choose_disks(diskstats.read(buffer).value_or(""), options.sys, options.disks);
  is_disk = one_of(disks.names);
  // Where no disk is known, what a cgroup did to any device is all there is.
  if (disks.devices.empty()) {
    is_device = [](std::string_view) { return true; };
  } else {
    is_device = one_of(std::move(disks.devices));
  }
  report.node = options.node;
  find_capacity();
  return {};
}

// What was named and is not there would be told as idle. Some of a list may be missing, since one list serves
// nodes that differ.
Status Sampler::Parts::look_for(const std::string& what, const std::vector<std::string>& named,
                                const std::vector<std::string>& there) {
  std::size_t found = 0;
  for (const std::string& name : named) {
    if (std::ranges::find(there, name) != there.end())
      ++found;
    else if (!there.empty())
      say_once("no " + what + " " + name + ": it is left out");
  }
  if (named.empty() || there.empty() || found > 0) return {};
  std::string all;
  for (const std::string& name : there) all += (all.empty() ? "" : ", ") + name;
  return not_found("no " + what + " " + named.front() + "; there are " + all);
}

void Sampler::Parts::find_capacity() {
  Usage found;
  if (const auto text = stat.read(buffer))
    if (const auto times = parse_stat(*text)) found[Dimension::cpu] = times->processors;
  if (const auto text = meminfo.read(buffer))
    if (const auto facts = parse_meminfo(*text)) found[Dimension::memory] = static_cast<double>(facts->total);
  if (group) {
    const GroupLimits limits = read_limits(tree, options.cgroups, node_path);
    const auto lower = [&](Dimension d, std::optional<double> limit) {
      if (limit && (found[d] == 0 || *limit < found[d])) found[d] = *limit;
    };
    lower(Dimension::cpu, limits.cores);
    lower(Dimension::memory, limits.memory);
  }
  found[Dimension::receive] = found[Dimension::transmit] = link_speed(interfaces, options.sys);
  for (std::size_t d = 0; d < kDimensions; ++d)
    report.capacity.of[d] = options.capacity.of[d] > 0 ? options.capacity.of[d] : found.of[d];
}

void Sampler::Parts::read_machine(Duration now) {
  if (group) {
    const GroupReading reading = group->read(buffer, is_device, now);
    if (reading.cpu_seconds) windows.add_cpu(*reading.cpu_seconds, now);
    if (reading.memory) windows.add_memory(*reading.memory);
    if (reading.disk) windows.add_disk(*reading.disk, now);
    if (group->is_gone()) say_once("cgroup " + options.cgroup + " is gone");
    return;
  }
  if (const auto text = text_of(stat, options.proc + "/stat"))
    if (const auto times = parse_stat(*text))
      windows.add_cpu(static_cast<double>(times->busy_ticks) / ticks, now);
  if (const auto text = text_of(meminfo, options.proc + "/meminfo"))
    if (const auto facts = parse_meminfo(*text)) windows.add_memory(static_cast<double>(facts->used));
  if (const auto text = text_of(diskstats, options.proc + "/diskstats"))
    if (const auto bytes = sum_disks(*text, is_disk)) windows.add_disk(*bytes, now);
}

void Sampler::Parts::read_network(Duration now) {
  if (const auto text = text_of(net_dev, options.proc + "/" + options.network_of + "/net/dev"))
    if (const auto bytes = sum_interfaces(*text, is_interface)) windows.add_network(*bytes, now);
}

// Both lists are sorted: what is in one alone came or went.
void Sampler::Parts::look_for_pods() {
  const std::vector<FoundPod> found = find_pods(tree, node_path);
  std::vector<std::unique_ptr<Pod>> next;
  next.reserve(found.size());
  auto old = pods.begin();
  for (const FoundPod& one : found) {
    while (old != pods.end() && (*old)->uid < one.uid) ++old;
    const bool is_known = old != pods.end() && *old && (*old)->uid == one.uid && (*old)->path == one.path;
    next.push_back(is_known ? std::move(*old++) : std::make_unique<Pod>(one, tree, options));
    Pod& pod = *next.back();
    if (const std::string trouble = pod.group.trouble(); !trouble.empty() && !is_known)
      say_once("not all of pods' cgroups can be read: " + trouble);
    if (pod.network.look(buffer, network)) pod.windows.restart_network();
  }
  pods = std::move(next);
}

void Sampler::Parts::read_pods(Duration now) {
  std::size_t count = 0;
  for (const auto& pod : pods) {
    const GroupReading reading = pod->group.read(buffer, is_device, now);
    if (pod->group.is_gone()) continue;  // not found at the next look either
    if (reading.cpu_seconds) pod->windows.add_cpu(*reading.cpu_seconds, now);
    if (reading.memory) pod->windows.add_memory(*reading.memory);
    if (reading.disk) pod->windows.add_disk(*reading.disk, now);
    if (const auto bytes = pod->network.read(buffer)) pod->windows.add_network(*bytes, now);
    NodeReport::Known known{};
    const Usage usage = pod->windows.usage(known);
    if (reading.cpu_seconds && !known[0]) continue;  // its first sample: no rates yet
    if (count == report.pods.size()) report.pods.emplace_back();
    report.pods[count].uid = pod->uid;
    report.pods[count].usage = usage;
    ++count;
  }
  report.pods.resize(count);
}

Result<Sampler> Sampler::open(Options options) {
  if (options.cgroups.empty()) options.cgroups = options.sys + "/fs/cgroup";
  for (const std::size_t length :
       {options.windows.cpu, options.windows.memory, options.windows.network, options.windows.disk})
    if (length < 1 || length > kMostWindow)
      return invalid("a window of " + std::to_string(length) + " samples: expected 1 to " +
                     std::to_string(kMostWindow));
  auto parts = std::make_unique<Parts>(std::move(options));
  if (auto opened = parts->open(); !opened) return opened.error();
  return Sampler(std::move(parts));
}

Sampler::Sampler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;

const NodeReport& Sampler::sample(Duration now) {
  Parts& parts = *parts_;
  parts.read_machine(now);
  parts.read_network(now);
  if (!parts.looked || now - *parts.looked >= parts.options.look_for_pods) {
    parts.look_for_pods();
    parts.looked = now;
  }
  parts.read_pods(now);
  parts.report.total = parts.windows.usage(parts.report.known);
  return parts.report;
}

std::string Sampler::description() const {
  const Parts& parts = *parts_;
  std::string text = "cgroups " + parts.tree.description();
  if (parts.group) text += ", all of " + parts.options.cgroup;
  text += "; interfaces";
  for (const std::string& name : parts.interfaces) text += " " + name;
  if (parts.interfaces.empty()) text += " none";
  return text;
}

}  // namespace evenkeel::monitor
