#include "monitor/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "monitor/devices.h"
#include "monitor/group_reader.h"
#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"
#include "monitor/pod_table.h"
#include "monitor/stillness.h"
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

// Of the node itself, whose figures matter most: what moves is looked at with every sample.
constexpr Duration kLongest = just_under(std::chrono::seconds(1));
constexpr double kStillShare = 1.0 / 256;  // memory that changes by less stands still

}  // namespace

struct Sampler::Parts {
  explicit Parts(Options given)
      : options(std::move(given)),
        tree(CgroupTree::find(options.cgroups)),
        windows(options.windows),
        memory_still(options.windows.memory),
        disk_still(options.windows.disk) {}

  Status open();
  Status look_for(const std::string& what, const std::vector<std::string>& named,
                  const std::vector<std::string>& there);
  void find_capacity();
  void read_machine(const UsageWindows::Sample& sample);
  void read_group(const UsageWindows::Sample& sample);
  void read_network(const UsageWindows::Sample& sample);
  void say_once(const std::string& text) {
    if (said.insert(text).second && options.say) options.say(text);
  }
  std::optional<std::string_view> text_of(KeptFile& file, const char* name) {
    auto text = file.read(buffer);
    if (!text)
      say_once(options.proc + name + " cannot be read and is left out: " + std::strerror(file.trouble()));
    return text;
  }

  Options options;
  CgroupTree tree;
  std::string node_path, net_dev_name;
  UsageWindows windows;
  ReadBuffer buffer;
  KeptFile stat, meminfo, diskstats, net_dev;
  std::optional<GroupReader> group;  // the node, where it is one cgroup
  std::vector<std::string> interfaces;
  IsCounted is_interface, is_disk, is_device;
  ino_t network = 0;
  double ticks = 100;
  Stillness memory_still, disk_still;
  double settled_memory = 0;
  Transfers transfers;
  std::optional<PodTable> pods;
  std::uint64_t samples = 0;
  NodeReport report;
  std::set<std::string> said;
};

Status Sampler::Parts::open() {
  ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  stat = KeptFile(options.proc + "/stat");
  meminfo = KeptFile(options.proc + "/meminfo");
  diskstats = KeptFile(options.proc + "/diskstats");
  const std::string process = options.proc + "/" + options.network_of;
  net_dev_name = "/" + options.network_of + "/net/dev";
  net_dev = KeptFile(options.proc + net_dev_name);
  network = net_dev.inode();
  if (!options.cgroup.empty()) {
    node_path = tidy_path(options.cgroup);
    if (tree.is_empty()) return unavailable("no cgroups under " + options.cgroups);
    if (!is_folder(tree.any().root + node_path)) return not_found("no cgroup " + tree.any().root + node_path);
    group.emplace(tree, node_path, options.windows);
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
  pods.emplace(tree, PodTable::Options{.proc = options.proc,
                                       .node_path = node_path,
                                       .windows = options.windows,
                                       .look_every = options.look_for_pods,
                                       .say_once = [this](const std::string& text) { say_once(text); }});
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

void Sampler::Parts::read_group(const UsageWindows::Sample& sample) {
  const GroupReading reading = group->read(buffer, is_device, sample.at);
  if (reading.cpu_seconds) windows.add_cpu(*reading.cpu_seconds, sample);
  if (reading.memory) windows.add_memory(*reading.memory, sample);
  if (reading.disk) windows.add_disk(*reading.disk, sample);
  if (group->is_gone()) say_once("cgroup " + options.cgroup + " is gone");
}

void Sampler::Parts::read_machine(const UsageWindows::Sample& sample) {
  if (const auto text = text_of(stat, "/stat"))
    if (const auto times = parse_stat(*text))
      windows.add_cpu(static_cast<double>(times->busy_ticks) / ticks, sample);
  if (memory_still.is_due(sample.at, kLongest)) {
    const auto text = text_of(meminfo, "/meminfo");
    if (const auto facts = text ? parse_meminfo(*text) : std::nullopt) {
      const auto used = static_cast<double>(facts->used);
      const bool has_moved = std::abs(used - settled_memory) > kStillShare * settled_memory;
      memory_still.note(has_moved, sample.at);
      if (has_moved) settled_memory = used;
      windows.add_memory(used, sample);
    }
  }
  if (disk_still.is_due(sample.at, kLongest)) {
    const auto text = text_of(diskstats, "/diskstats");
    if (const auto bytes = text ? sum_disks(*text, is_disk) : std::nullopt) {
      disk_still.note(!(*bytes == transfers), sample.at);
      transfers = *bytes;
      windows.add_disk(*bytes, sample);
    }
  }
}

void Sampler::Parts::read_network(const UsageWindows::Sample& sample) {
  if (const auto text = text_of(net_dev, net_dev_name.c_str()))
    if (const auto bytes = sum_interfaces(*text, is_interface)) windows.add_network(*bytes, sample);
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
  const UsageWindows::Sample sample{.number = ++parts.samples, .at = now};
  parts.group ? parts.read_group(sample) : parts.read_machine(sample);
  parts.read_network(sample);
  parts.pods->look(parts.buffer, parts.network, now);
  parts.pods->read(parts.buffer, parts.is_device, sample, parts.report.pods);
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
