#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace evenkeel::monitor {

// What the kernel writes in /proc and in cgroups, read without copying. A text that is not what was expected
// gives nothing instead of a wrong number.

// Bytes that went each way since the kernel began to count: received and sent, or read and written.
struct Transfers {
  std::uint64_t in = 0, out = 0;
  bool operator==(const Transfers&) const = default;
};

// Cuts the front off `rest`: up to `end`, or all of it.
std::string_view cut(std::string_view& rest, char end);
// The next word and the blanks around it; empty: there is none.
std::string_view cut_word(std::string_view& rest);

std::optional<std::uint64_t> parse_count(std::string_view text);  // one number, with or without a line break

// Lines of `name value`: memory.stat, cpu.stat.
std::optional<std::uint64_t> find_count(std::string_view text, std::string_view name);

// /proc/stat: what processors did since start, in clock ticks: everything but idling, waiting for disks, and
// what a hypervisor gave to others. A guest's time is in its user's already.
struct ProcessorTimes {
  std::uint64_t busy_ticks = 0;
  int processors = 0;
};
std::optional<ProcessorTimes> parse_stat(std::string_view text);

// /proc/meminfo, in bytes. `used` as kubelets count a node's working set: what is neither free nor a file's
// page that nobody looked at lately.
struct MemoryFacts {
  std::uint64_t total = 0, used = 0;
};
std::optional<MemoryFacts> parse_meminfo(std::string_view text);

using IsCounted = std::function<bool(std::string_view name)>;  // of an interface or a disk

// /proc/net/dev, the interfaces that count.
std::optional<Transfers> sum_interfaces(std::string_view text, const IsCounted& counted);
void for_each_interface(std::string_view text, const std::function<void(std::string_view name)>& found);
// /proc/net/route: the interfaces behind which everything else lies.
void for_each_default_route(std::string_view text, const std::function<void(std::string_view name)>& found);

// /proc/diskstats, the disks that count.
std::optional<Transfers> sum_disks(std::string_view text, const IsCounted& counted);
struct DiskLine {
  std::string_view name, major, minor;
};
void for_each_disk(std::string_view text, const std::function<void(const DiskLine& line)>& found);

// A cgroup's transfers, of the devices (`8:0`) that count: v1's blkio.throttle.io_service_bytes, v2's
// io.stat.
std::optional<Transfers> sum_blkio(std::string_view text, const IsCounted& counted);
std::optional<Transfers> sum_io_stat(std::string_view text, const IsCounted& counted);

// cpu.max (v2): how many processors' time may be used. None: as many as there are.
std::optional<double> parse_cpu_max(std::string_view text);

}  // namespace evenkeel::monitor
