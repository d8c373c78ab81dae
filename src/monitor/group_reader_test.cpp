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
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a");
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
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a");
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
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a");
  ReadBuffer buffer;
  EXPECT_EQ(reader.read(buffer, kAll, 0s).memory, 900);
  machine.cgroup("/a/memory.stat", "inactive_file 300\n");
  machine.cgroup("/a/memory.current", "2000\n");
  EXPECT_EQ(reader.read(buffer, kAll, 100ms).memory, 1900);
  EXPECT_EQ(reader.read(buffer, kAll, 1s).memory, 1700);
}

TEST(GroupReader, LooksAgainAtWhatStandsStillEveryFewSeconds) {
  const FakeMachine machine;
  machine.cgroup("/cgroup.controllers", "cpu memory\n");
  machine.cgroup("/a/cpu.stat", "usage_usec 5\n");
  machine.cgroup("/a/memory.current", "1000\n");
  machine.cgroup("/a/memory.stat", "inactive_file 0\n");
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a");
  ReadBuffer buffer;
  EXPECT_EQ(reader.read(buffer, kAll, 0s).memory, 1000);
  machine.cgroup("/a/memory.current", "400\n");  // the kernel took some back
  EXPECT_EQ(reader.read(buffer, kAll, 1s).memory, 1000);
  EXPECT_EQ(reader.read(buffer, kAll, 5s).memory, 400);
  machine.cgroup("/a/memory.current", "700\n");
  machine.cgroup("/a/cpu.stat", "usage_usec 6\n");  // something ran
  EXPECT_EQ(reader.read(buffer, kAll, 6s).memory, 700);
}

TEST(GroupReader, LeavesOutWhatIsNotThere) {
  const FakeMachine machine;
  machine.cgroup("/cpuacct/a/cpuacct.usage", "1000000000\n");
  machine.cgroup("/memory/tasks", "");
  GroupReader reader(CgroupTree::find(machine.cgroups()), "/a");
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
