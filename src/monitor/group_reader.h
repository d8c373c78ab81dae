#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "monitor/cgroup_tree.h"
#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"
#include "monitor/stillness.h"
#include "monitor/windows.h"

namespace evenkeel::monitor {

// What was looked at this time; the rest stands as it was.
struct GroupReading {
  std::optional<double> cpu_seconds;  // since it was made
  std::optional<double> memory;       // bytes in use, as kubelets count: without files' idle pages
  std::optional<Transfers> disk;
};

// Pods' memory, disk and network are looked at twice a second at most: a file for each pod and figure is what
// watching costs. Their windows lie where they would, with the samples between two looks on a line.
inline constexpr Duration kPodsShortest = just_under(std::chrono::milliseconds(500));
// What stands still, while its cgroup's processor time moves and while that stands still, too. In the latter
// case nothing in it ran, so nobody but the kernel can have moved anything.
inline constexpr Duration kLongestAwake = just_under(std::chrono::seconds(2)),
                          kLongestAsleep = just_under(std::chrono::seconds(5));

// One cgroup, read again and again: a pod's, or the one that is all of a "node".
class GroupReader {
 public:
  GroupReader(const CgroupTree& tree, const std::string& path, const WindowLengths& windows,
              Duration shortest = {});

  // Of the devices that count. Processor time is looked at with every sample, or once a second while it
  // stands still; memory and disk as Stillness says. How much of its memory are idle file pages is a long
  // text which the kernel takes its time to write: it is asked for when the rest has changed by a hundredth,
  // once a second at most, or else every five.
  GroupReading read(ReadBuffer& buffer, const IsCounted& is_disk, Duration now);

  bool is_gone() const { return is_gone_; }  // the last reading found nothing left
  // For how long one may look away from what stands still in it.
  Duration longest() const { return is_asleep_ ? kLongestAsleep : kLongestAwake; }

  // Errors of opening, told once: "cpu: Permission denied". Empty: all is well.
  std::string trouble() const;

 private:
  std::optional<double> read_memory(ReadBuffer& buffer, Duration now);

  bool cpu_is_v2_, memory_is_v2_, io_is_v2_;
  KeptFile cpu_, memory_, memory_stat_, io_;
  Stillness cpu_still_, memory_still_, disk_still_;
  double cpu_seconds_ = 0, settled_memory_ = 0;  // as of the last move
  Transfers transfers_;
  std::optional<Duration> stat_read_;
  double stat_usage_ = 0, idle_pages_ = 0;  // by then
  bool is_asleep_ = false, is_gone_ = false;
};

// What a cgroup may use at most; none: no limit of its own.
struct GroupLimits {
  std::optional<double> cores, memory;
};
GroupLimits read_limits(const CgroupTree& tree, const std::string& cgroup_root, const std::string& path);

}  // namespace evenkeel::monitor
