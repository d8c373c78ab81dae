#include "monitor/cgroup_tree.h"

#include <gtest/gtest.h>

#include "monitor/fake_machine.h"

namespace evenkeel::monitor {
namespace {

TEST(CgroupTree, IsOneOnAV2Machine) {
  const FakeMachine machine;
  machine.cgroup("/cgroup.controllers", "cpuset cpu io memory pids\n");
  const CgroupTree tree = CgroupTree::find(machine.cgroups());
  EXPECT_EQ(tree.description(), "v2");
  EXPECT_EQ(tree.cpu, (CgroupTree::Controller{.root = machine.cgroups(), .is_v2 = true}));
  EXPECT_EQ(tree.io, tree.cpu);
}

TEST(CgroupTree, IsManyOnAV1Machine) {
  const FakeMachine machine;
  for (const char* name : {"/cpu,cpuacct/tasks", "/memory/tasks", "/blkio/tasks"}) machine.cgroup(name, "");
  const CgroupTree tree = CgroupTree::find(machine.cgroups());
  EXPECT_EQ(tree.description(), "v1");
  EXPECT_EQ(tree.cpu.root, machine.cgroups() + "/cpu,cpuacct");
  EXPECT_FALSE(tree.memory.is_v2);
}

TEST(CgroupTree, TakesEachControllerFromWhereItIsOnAHybrid) {
  const FakeMachine machine;
  machine.cgroup("/cpuacct/tasks", "");
  machine.cgroup("/memory/tasks", "");
  machine.cgroup("/unified/cgroup.controllers", "io pids\n");
  const CgroupTree tree = CgroupTree::find(machine.cgroups());
  EXPECT_EQ(tree.description(), "hybrid");
  EXPECT_FALSE(tree.cpu.is_v2);
  EXPECT_EQ(tree.io, (CgroupTree::Controller{.root = machine.cgroups() + "/unified", .is_v2 = true}));
}

TEST(CgroupTree, IsEmptyWhereThereIsNone) {
  EXPECT_TRUE(CgroupTree::find("/does/not/exist").is_empty());
  EXPECT_TRUE(find_pods(CgroupTree::find("/does/not/exist"), "").empty());
}

TEST(FindPods, LooksIntoEveryClassOfService) {
  const FakeMachine machine;
  machine.cgroup("/cgroup.controllers", "cpu io memory\n");
  machine.cgroup("/kubepods/podcccccccc-1/cpu.stat", "");
  machine.cgroup("/kubepods/burstable/podbbbbbbbb-1/cpu.stat", "");
  machine.cgroup("/kubepods/besteffort/podaaaaaaaa-1/cpu.stat", "");
  machine.cgroup("/kubepods/besteffort/podaaaaaaaa-1/podeeeeeeee/cpu.stat",
                 "");  // a container's own business
  machine.cgroup("/system.slice/poddddddddd/cpu.stat", "");
  const auto pods = find_pods(CgroupTree::find(machine.cgroups()), "");
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].uid, "aaaaaaaa-1");
  EXPECT_EQ(pods[0].path, "/kubepods/besteffort/podaaaaaaaa-1");
  EXPECT_EQ(pods[1].uid, "bbbbbbbb-1");
  EXPECT_EQ(pods[2].uid, "cccccccc-1");
}

TEST(FindPods, KnowsSystemdsSpellingAndANodesOwnCgroup) {
  const FakeMachine machine;
  machine.cgroup("/cgroup.controllers", "cpu io memory\n");
  machine.cgroup(
      "/nodes/n1/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_4e5f.slice/cpu.stat",
      "");
  machine.cgroup("/kubepods.slice/kubepods-pod99999999_9999.slice/cpu.stat", "");
  const auto pods = find_pods(CgroupTree::find(machine.cgroups()), "/nodes/n1");
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(pods[0].uid, "0a1b2c3d-4e5f");
}

}  // namespace
}  // namespace evenkeel::monitor
