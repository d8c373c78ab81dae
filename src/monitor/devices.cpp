#include "monitor/devices.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"

namespace evenkeel::monitor {
namespace {

constexpr std::array<std::string_view, 17> kInnerInterfaces = {
    "lo",  "veth", "cni",   "docker", "br-",   "virbr", "cali",    "flannel",     "kube-",
    "lxc", "tunl", "vxlan", "cilium", "dummy", "ifb",   "nerdctl", "nodelocaldns"};
constexpr std::array<std::string_view, 7> kInnerDisks = {"loop", "ram", "zram", "dm-", "md", "sr", "fd"};

bool exists(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0;
}

template <std::size_t N>
bool starts_with_any(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

bool contains(const std::vector<std::string>& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

// sda1 and nvme0n1p1 by their names, where /sys does not tell.
bool looks_like_a_partition(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == name.size() || digits == 0) return false;
  if (name.starts_with("nvme") || name.starts_with("mmcblk")) return name[digits - 1] == 'p';
  return name.starts_with("sd") || name.starts_with("vd") || name.starts_with("xvd") ||
         name.starts_with("hd");
}

}  // namespace

std::vector<std::string> choose_interfaces(std::string_view net_dev, std::string_view routes,
                                           const std::string& sys, const std::vector<std::string>& given) {
  if (!given.empty()) return given;
  std::vector<std::string> cards, outer;
  for_each_interface(net_dev, [&](std::string_view name) {
    if (exists(sys + "/class/net/" + std::string(name) + "/device")) cards.emplace_back(name);
    if (!starts_with_any(name, kInnerInterfaces)) outer.emplace_back(name);
  });
  if (!cards.empty()) return cards;
  std::vector<std::string> routed;
  for_each_default_route(routes, [&](std::string_view name) {
    if (!contains(routed, name)) routed.emplace_back(name);
  });
  return routed.empty() ? outer : routed;
}

Disks choose_disks(std::string_view diskstats, const std::string& sys,
                   const std::vector<std::string>& given) {
  Disks disks;
  const bool sys_tells = exists(sys + "/block");
  for_each_disk(diskstats, [&](const DiskLine& line) {
    const std::string name(line.name);
    const bool is_whole = sys_tells ? exists(sys + "/block/" + name) : !looks_like_a_partition(name);
    const bool counts =
        given.empty() ? is_whole && !starts_with_any(name, kInnerDisks) : contains(given, name);
    if (!counts) return;
    disks.names.push_back(name);
    disks.devices.push_back(std::string(line.major) + ":" + std::string(line.minor));
  });
  return disks;
}

double link_speed(const std::vector<std::string>& interfaces, const std::string& sys) {
  double bytes_per_second = 0;
  ReadBuffer buffer;
  for (const std::string& name : interfaces) {
    KeptFile file(sys + "/class/net/" + name + "/speed");
    const auto text = file.read(buffer);
    const auto megabits = text ? parse_count(*text) : std::nullopt;  // -1 is no number: not known
    if (megabits && *megabits < 100'000'000) bytes_per_second += static_cast<double>(*megabits) * 1e6 / 8;
  }
  return bytes_per_second;
}

}  // namespace evenkeel::monitor
