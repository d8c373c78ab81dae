#include "monitor/group_reader.h"

#include <gtest/gtest.h>

#include "monitor/fake_machine.h"

namespace evenkeel::monitor {
namespace {

using namespace std::chrono_literals;
const IsCounted kAll = [](std::string_view) { return true; };

TEST(GroupReader, ReadsV1) {
  const FakeMachine machine;
  machine.cgroup("/cpuacct/a/cpuacct.usage", "2500000000\n");
  machine.cgroup("/memory/a/memory.usage_in_bytes", "1000000\n");
  machine.cgroup("/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 250000\n");
  machine.cgroup("/blkio/a/blkio.throttle.io_service_bytes_recursive", "8:0 Read 5\n8:0 Write 6\nTotal 11\n");
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a", {});
  ReadBuffer buffer;
  const GroupReading reading = reader.read(buffer, kAll, 0s);
  EXPECT_EQ(reading.cpu_seconds, 2.5);
  EXPECT_EQ(reading.memory, 750000);
  EXPECT_EQ(reading.disk, (Transfers{.in = 5, .out = 6}));
  EXPECT_EQ(reader.trouble(), "");
}

TEST(GroupReader, ReadsV2) {
  const FakeMachine machine;
  machine.cgroup("/cgroup.controllers", "cpu io memory\n");
  machine.cgroup("/a/cpu.stat", "usage_usec 2500000\nuser_usec 1\n");
  machine.cgroup("/a/memory.current", "1000000\n");
  machine.cgroup("/a/memory.stat", "anon 1\ninactive_file 250000\n");
  machine.cgroup("/a/io.stat", "8:0 rbytes=5 wbytes=6 rios=1 wios=1 dbytes=0 dios=0\n");
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a", {});
  ReadBuffer buffer;
  const GroupReading reading = reader.read(buffer, kAll, 0s);
  EXPECT_EQ(reading.cpu_seconds, 2.5);
  EXPECT_EQ(reading.memory, 750000);
  EXPECT_EQ(reading.disk, (Transfers{.in = 5, .out = 6}));
}

TEST(GroupReader, AsksForIdlePagesOnceASecond) {
  const FakeMachine machine;
  machine.cgroup("/cgroup.controllers", "memory\n");
  machine.cgroup("/a/memory.current", "1000\n");
  machine.cgroup("/a/memory.stat", "inactive_file 100\n");
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a", {});
  ReadBuffer buffer;
  EXPECT_EQ(reader.read(buffer, kAll, 0s).memory, 900);
  machine.cgroup("/a/memory.stat", "inactive_file 300\n");
  machine.cgroup("/a/memory.current", "2000\n");
  EXPECT_EQ(reader.read(buffer, kAll, 100ms).memory, 1900);
  EXPECT_EQ(reader.read(buffer, kAll, 1s).memory, 1700);
}

TEST(GroupReader, AsksForIdlePagesSeldomWhileTheRestStandsStill) {
  const FakeMachine machine;
  machine.cgroup("/cgroup.controllers", "memory\n");
  machine.cgroup("/a/memory.current", "1000000\n");
  machine.cgroup("/a/memory.stat", "inactive_file 100\n");
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a", {});
  ReadBuffer buffer;
  EXPECT_EQ(reader.read(buffer, kAll, 0s).memory, 999'900);
  machine.cgroup("/a/memory.stat", "inactive_file 300\n");
  machine.cgroup("/a/memory.current", "1000500\n");  // less than a hundredth more
  EXPECT_EQ(reader.read(buffer, kAll, 1s).memory, 1'000'400);
  EXPECT_EQ(reader.read(buffer, kAll, 5s).memory, 1'000'200);
}

class GroupThatMayStandStill : public ::testing::Test {
 protected:
  GroupThatMayStandStill() {
    machine_.cgroup("/cgroup.controllers", "cpu io memory\n");
    machine_.cgroup("/a/memory.stat", "inactive_file 0\n");
    set(5, 1000, 0);
    reader_.emplace(CgroupTree::find(machine_.cgroups()), "/a", WindowLengths{});
  }
  void set(long processor, long memory, long written) const {
    machine_.cgroup("/a/cpu.stat", "usage_usec " + std::to_string(processor) + "\n");
    machine_.cgroup("/a/memory.current", std::to_string(memory) + "\n");
    machine_.cgroup("/a/io.stat", "8:0 rbytes=0 wbytes=" + std::to_string(written) + "\n");
  }
  GroupReading read(Duration now) { return reader_->read(buffer_, kAll, now); }
  void stand_still(Duration from, Duration to, Duration step) {
    for (Duration now = from; now <= to; now += step) (void)read(now);
  }

  FakeMachine machine_;
  ReadBuffer buffer_;
  std::optional<GroupReader> reader_;
};

TEST_F(GroupThatMayStandStill, IsLookedAtEveryFewSecondsWhileNothingInItRuns) {
  stand_still(0s, 40s, 1s);
  set(5, 400, 4096);  // the kernel took memory back, and wrote what the group had left to it
  int looks = 0;
  for (Duration now = 41s; now <= 45s; now += 1s) {
    const GroupReading reading = read(now);
    EXPECT_TRUE(reading.cpu_seconds);  // that is how it is known that nothing ran
    looks += reading.memory == 400 && reading.disk == Transfers{.in = 0, .out = 4096} ? 1 : 0;
  }
  EXPECT_GE(looks, 1);
}

TEST_F(GroupThatMayStandStill, IsLookedAtAtOnceWhenSomethingRan) {
  stand_still(0s, 40s, 1s);
  for (Duration now = 41s;; now += 1s)
    if (!read(now).memory) {  // it was looked away from
      set(6, 700, 0);
      EXPECT_EQ(read(now + 1s).memory, 700);
      break;
    }
}

TEST_F(GroupThatMayStandStill, IsLookedAtWithEverySampleAsLongAsItMoves) {
  for (int sample = 0; sample < 50; ++sample) {
    set(5 + sample, 1000 * (sample + 1), 512L * sample);
    const GroupReading reading = read(100ms * sample);
    EXPECT_TRUE(reading.cpu_seconds && reading.memory && reading.disk) << sample;
  }
}

TEST_F(GroupThatMayStandStill, IsGoneOnlyWhenNothingIsLeft) {
  stand_still(0s, 40s, 1s);
  EXPECT_FALSE(reader_->is_gone());
  GroupReader none(CgroupTree::find(machine_.cgroups()), "/b", {});
  (void)none.read(buffer_, kAll, 0s);
  EXPECT_TRUE(none.is_gone());
}

TEST(GroupReader, LeavesOutWhatIsNotThere) {
  const FakeMachine machine;
  machine.cgroup("/cpuacct/a/cpuacct.usage", "1000000000\n");
  machine.cgroup("/memory/tasks", "");
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a", {});
  ReadBuffer buffer;
  const GroupReading reading = reader.read(buffer, kAll, 0s);
  EXPECT_EQ(reading.cpu_seconds, 1);
  EXPECT_FALSE(reading.memory);
  EXPECT_FALSE(reading.disk);
  EXPECT_EQ(reader.trouble(), "memory: No such file or directory");
}

TEST(GroupLimits, AreReadOfEitherVersion) {
  const FakeMachine v1;
  v1.cgroup("/cpu/a/cpu.cfs_quota_us", "40000\n");
  v1.cgroup("/cpu/a/cpu.cfs_period_us", "100000\n");
  v1.cgroup("/cpuacct/a/cpuacct.usage", "0\n");
  v1.cgroup("/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  const GroupLimits one = read_limits(CgroupTree::find(v1.cgroups()), v1.cgroups(), "/a");
  EXPECT_EQ(one.cores, 0.4);
  EXPECT_FALSE(one.memory);
  v1.cgroup("/cpu/a/cpu.cfs_quota_us", "-1\n");
  EXPECT_FALSE(read_limits(CgroupTree::find(v1.cgroups()), v1.cgroups(), "/a").cores);

  const FakeMachine v2;
  v2.cgroup("/cgroup.controllers", "cpu io memory\n");
  v2.cgroup("/a/cpu.max", "150000 100000\n");
  v2.cgroup("/a/memory.max", "1073741824\n");
  const GroupLimits two = read_limits(CgroupTree::find(v2.cgroups()), v2.cgroups(), "/a");
  EXPECT_EQ(two.cores, 1.5);
  EXPECT_EQ(two.memory, 1073741824);
}

}  // namespace
}  // namespace evenkeel::monitor
