#include "monitor/group_reader.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace evenkeel::monitor {
namespace {

constexpr Duration kProcessorLongest = just_under(std::chrono::seconds(1));
constexpr Duration kStatShortest = just_under(std::chrono::seconds(1)),
                   kStatLongest = just_under(std::chrono::seconds(5));
constexpr double kStatShare = 1.0 / 128;   // of memory, by which it may have changed before idle pages matter
constexpr double kStillShare = 1.0 / 256;  // memory that changes by less stands still
constexpr double kNanosecond = 1e-9, kMicrosecond = 1e-6;
constexpr double kNoLimit = 0x1p60;  // v1 writes "none" as a number near 2^63

KeptFile file_of(const CgroupTree::Controller& controller, const std::string& path, const char* v1,
                 const char* v2) {
  if (controller.root.empty()) return {};
  return KeptFile(controller.root + path + "/" + (controller.is_v2 ? v2 : v1));
}

std::optional<double> to_real(std::optional<std::uint64_t> count, double factor = 1) {
  if (!count) return std::nullopt;
  return static_cast<double>(*count) * factor;
}

std::optional<double> number_in(const std::string& path, ReadBuffer& buffer) {
  KeptFile file(path);
  const auto text = file.read(buffer);
  return text ? to_real(parse_count(*text)) : std::nullopt;
}

}  // namespace

GroupReader::GroupReader(const CgroupTree& tree, const std::string& path, const WindowLengths& windows,
                         Duration shortest)
    : cpu_is_v2_(tree.cpu.is_v2),
      memory_is_v2_(tree.memory.is_v2),
      io_is_v2_(tree.io.is_v2),
      cpu_(file_of(tree.cpu, path, "cpuacct.usage", "cpu.stat")),
      memory_(file_of(tree.memory, path, "memory.usage_in_bytes", "memory.current")),
      memory_stat_(file_of(tree.memory, path, "memory.stat", "memory.stat")),
      io_(file_of(tree.io, path, "blkio.throttle.io_service_bytes_recursive", "io.stat")),
      cpu_still_(windows.cpu),
      memory_still_(windows.memory, shortest),
      disk_still_(windows.disk, shortest) {
  // Kernels before 4.19 do not sum up what is below.
  if (!io_.is_open() && !io_is_v2_)
    io_ = file_of(tree.io, path, "blkio.throttle.io_service_bytes", "io.stat");
}

std::string GroupReader::trouble() const {
  std::string all;
  const auto tell = [&all](const char* name, const KeptFile& file) {
    if (file.trouble() == 0) return;
    all += (all.empty() ? "" : ", ") + std::string(name) + ": " + std::strerror(file.trouble());
  };
  tell("cpu", cpu_);
  tell("memory", memory_);
  tell("disk", io_);
  return all;
}

std::optional<double> GroupReader::read_memory(ReadBuffer& buffer, Duration now) {
  const auto text = memory_.read(buffer);
  const auto usage = text ? to_real(parse_count(*text)) : std::nullopt;
  if (!usage) return std::nullopt;
  const bool has_changed = std::abs(*usage - stat_usage_) > kStatShare * *usage;
  if (!stat_read_ || now - *stat_read_ >= (has_changed ? kStatShortest : kStatLongest)) {
    const auto stat = memory_stat_.read(buffer);
    const auto pages =
        stat ? find_count(*stat, memory_is_v2_ ? "inactive_file" : "total_inactive_file") : std::nullopt;
    if (pages) {
      idle_pages_ = static_cast<double>(*pages);
      stat_usage_ = *usage;
      stat_read_ = now;
    }
  }
  return std::max(0.0, *usage - idle_pages_);
}

GroupReading GroupReader::read(ReadBuffer& buffer, const IsCounted& is_disk, Duration now) {
  GroupReading reading;
  bool has_cpu = cpu_.is_open();
  if (has_cpu && cpu_still_.is_due(now, kProcessorLongest)) {
    if (const auto text = cpu_.read(buffer))
      reading.cpu_seconds = cpu_is_v2_ ? to_real(find_count(*text, "usage_usec"), kMicrosecond)
                                       : to_real(parse_count(*text), kNanosecond);
    has_cpu = reading.cpu_seconds.has_value();
    if (has_cpu) {
      is_asleep_ = reading.cpu_seconds == cpu_seconds_;
      cpu_still_.note(!is_asleep_, now);
      cpu_seconds_ = *reading.cpu_seconds;
    }
  }
  // Without it nothing tells whether there is anything left to look at: look.
  if (!has_cpu || memory_still_.is_due(now, longest())) {
    reading.memory = read_memory(buffer, now);
    if (reading.memory) {
      const bool has_moved = std::abs(*reading.memory - settled_memory_) > kStillShare * settled_memory_;
      memory_still_.note(has_moved, now);
      if (has_moved) settled_memory_ = *reading.memory;
    }
  }
  if (!has_cpu || disk_still_.is_due(now, longest())) {
    if (const auto text = io_.read(buffer))
      reading.disk = io_is_v2_ ? sum_io_stat(*text, is_disk) : sum_blkio(*text, is_disk);
    if (reading.disk) {
      disk_still_.note(!(*reading.disk == transfers_), now);
      transfers_ = *reading.disk;
    }
  }
  is_gone_ = !has_cpu && !reading.memory && !reading.disk;
  return reading;
}

GroupLimits read_limits(const CgroupTree& tree, const std::string& cgroup_root, const std::string& path) {
  GroupLimits limits;
  ReadBuffer buffer;
  if (tree.cpu.is_v2) {
    KeptFile file(tree.cpu.root + path + "/cpu.max");
    if (const auto text = file.read(buffer)) limits.cores = parse_cpu_max(*text);
  } else {
    // Time is given in another tree than it is counted in, unless the two are mounted together.
    for (const std::string& root : {cgroup_root + "/cpu", tree.cpu.root}) {
      const auto quota = number_in(root + path + "/cpu.cfs_quota_us", buffer);  // -1 is no number: no limit
      const auto period = number_in(root + path + "/cpu.cfs_period_us", buffer);
      if (quota && period && *period > 0) {
        limits.cores = *quota / *period;
        break;
      }
    }
  }
  const char* name = tree.memory.is_v2 ? "/memory.max" : "/memory.limit_in_bytes";
  if (const auto most = number_in(tree.memory.root + path + name, buffer); most && *most < kNoLimit)
    limits.memory = most;
  return limits;
}

}  // namespace evenkeel::monitor
