#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "monitor/cgroup_tree.h"
#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"

namespace evenkeel::monitor {

struct GroupReading {
  std::optional<double> cpu_seconds;  // since it was made
  std::optional<double> memory;       // bytes in use, as kubelets count: without files' idle pages
  std::optional<Transfers> disk;
};

// One cgroup, read again and again: a pod's, or the one that is all of a "node".
class GroupReader {
 public:
  GroupReader(const CgroupTree& tree, const std::string& path);

  // Of the devices that count. How much of its memory are idle file pages is a long text which the kernel
  // takes its time to write: asked for once a second at most, and believed until then. While its processor
  // time stands still nothing in it ran, so nothing took memory or used a disk: those two are then looked at
  // every few seconds only, for what the kernel may have taken back.
  GroupReading read(ReadBuffer& buffer, const IsCounted& is_disk, Duration now);

  bool is_gone() const { return is_gone_; }  // the last reading found nothing left

  // Errors of opening, told once: "cpu: Permission denied". Empty: all is well.
  std::string trouble() const;

 private:
  std::optional<double> read_memory(ReadBuffer& buffer, Duration now);

  bool cpu_is_v2_, memory_is_v2_, io_is_v2_;
  KeptFile cpu_, memory_, memory_stat_, io_;
  std::optional<Duration> stat_read_;
  double idle_pages_ = 0;
  bool is_gone_ = false;
  GroupReading last_;
  Duration looked_{};  // when all of `last_` was read
};

// What a cgroup may use at most; none: no limit of its own.
struct GroupLimits {
  std::optional<double> cores, memory;
};
GroupLimits read_limits(const CgroupTree& tree, const std::string& cgroup_root, const std::string& path);

}  // namespace evenkeel::monitor
