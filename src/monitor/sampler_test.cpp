#include "monitor/sampler.h"

#include <gtest/gtest.h>

#include "monitor/fake_machine.h"

namespace evenkeel::monitor {
namespace {

using namespace std::chrono_literals;

const std::string kPod = "3f2504e0-4f89-11d3-9a0c-0305e82c3301";

class SamplerOnAFakeMachine : public ::testing::Test {
 protected:
  SamplerOnAFakeMachine() {
    machine_.stat(0);
    machine_.meminfo(1000, 400);
    machine_.diskstats(0, 0);
    machine_.net_dev("self", "eth0", 0, 0);
    options_.node = "n1";
    options_.proc = machine_.proc();
    options_.sys = machine_.sys();
    options_.say = [this](const std::string& text) { said_.push_back(text); };
  }
  Sampler open() {
    auto opened = Sampler::open(options_);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  void v1_pod(const std::string& folder, long nanoseconds, long memory, long written) const {
    machine_.cgroup("/cpuacct" + folder + "/cpuacct.usage", std::to_string(nanoseconds));
    machine_.cgroup("/memory" + folder + "/memory.usage_in_bytes", std::to_string(memory));
    machine_.cgroup("/memory" + folder + "/memory.stat", "total_inactive_file 0\n");
    machine_.cgroup("/blkio" + folder + "/blkio.throttle.io_service_bytes_recursive",
                    "254:0 Read 0\n254:0 Write " + std::to_string(written) + "\nTotal 0\n");
  }
  std::string v1_folder() const { return "/kubepods/burstable/pod" + kPod; }
  void process(const std::string& number) const {
    machine_.cgroup("/cpuacct" + v1_folder() + "/container/cgroup.procs", number + "\n");
  }

  FakeMachine machine_;
  Sampler::Options options_;
  std::vector<std::string> said_;
};

TEST_F(SamplerOnAFakeMachine, TellsWhatTheMachineUses) {
  Sampler sampler = open();
  const NodeReport first = sampler.sample(10s);
  EXPECT_EQ(first.node, "n1");
  EXPECT_EQ(first.known, (NodeReport::Known{false, true, false, false, false, false}));
  machine_.stat(150);  // ticks of 1/100 s
  machine_.meminfo(1000, 300);
  machine_.diskstats(20, 40);
  machine_.net_dev("self", "eth0", 3000, 5000);
  const NodeReport& report = sampler.sample(11s);
  EXPECT_EQ(report.known, NodeReport::kAll);
  EXPECT_EQ(report.total, (Usage{{1.5, 650 * 1024, 3000, 5000, 20 * 512, 40 * 512}}));
  EXPECT_EQ(report.capacity, (Usage{{2, 1000 * 1024, 0, 0, 0, 0}}));
}

TEST_F(SamplerOnAFakeMachine, AveragesOverItsWindows) {
  options_.windows = {.cpu = 2, .network = 2, .memory = 2, .disk = 2};
  Sampler sampler = open();
  sampler.sample(0s);
  machine_.stat(1000);
  sampler.sample(1s);
  machine_.stat(1010);
  machine_.meminfo(1000, 200);
  sampler.sample(2s);
  machine_.stat(1030);
  machine_.meminfo(1000, 100);
  const NodeReport& report = sampler.sample(3s);
  EXPECT_NEAR(report.total[Dimension::cpu], 0.15, 1e-9);
  EXPECT_DOUBLE_EQ(report.total[Dimension::memory], 850 * 1024);
}

TEST_F(SamplerOnAFakeMachine, TellsWhatAPodUsesFromItsSecondSampleOn) {
  v1_pod(v1_folder(), 0, 5000, 0);
  process("77");
  machine_.net_dev("77", "eth0", 100, 200);
  Sampler sampler = open();
  EXPECT_TRUE(sampler.sample(0s).pods.empty());
  v1_pod(v1_folder(), 250'000'000, 7000, 4096);
  machine_.net_dev("77", "eth0", 1100, 2200);
  const NodeReport& report = sampler.sample(1s);
  ASSERT_EQ(report.pods.size(), 1u);
  EXPECT_EQ(report.pods[0].uid, kPod);
  EXPECT_EQ(report.pods[0].usage, (Usage{{0.25, 6000, 1000, 2000, 0, 4096}}));
}

TEST_F(SamplerOnAFakeMachine, FindsPodsThatComeAndForgetsThoseThatGo) {
  v1_pod("/kubepods/podaaaaaaaa", 0, 1, 0);
  v1_pod("/kubepods/podcccccccc", 0, 1, 0);
  Sampler sampler = open();
  sampler.sample(0s);
  v1_pod("/kubepods/podbbbbbbbb", 0, 1, 0);
  sampler.sample(1s);
  machine_.remove("/sys/fs/cgroup/cpuacct/kubepods/podaaaaaaaa");
  const NodeReport& report = sampler.sample(2s);
  ASSERT_EQ(report.pods.size(), 2u);
  EXPECT_EQ(report.pods[0].uid, "bbbbbbbb");
  EXPECT_EQ(report.pods[1].uid, "cccccccc");
}

TEST_F(SamplerOnAFakeMachine, CountsNoTrafficOfItsOwnForAPodOnTheNodesNetwork) {
  v1_pod(v1_folder(), 0, 1, 0);
  process("77");
  std::filesystem::create_directories(machine_.proc() + "/77/net");
  std::filesystem::create_hard_link(machine_.proc() + "/self/net/dev", machine_.proc() + "/77/net/dev");
  Sampler sampler = open();
  sampler.sample(0s);
  machine_.net_dev("self", "eth0", 1000, 1000);
  const NodeReport& report = sampler.sample(1s);
  ASSERT_EQ(report.pods.size(), 1u);
  EXPECT_EQ(report.pods[0].usage[Dimension::receive], 0);
  EXPECT_EQ(report.total[Dimension::receive], 1000);
}

TEST_F(SamplerOnAFakeMachine, FollowsAPodWhoseProcessEnds) {
  v1_pod(v1_folder(), 0, 1, 0);
  process("77");
  machine_.net_dev("77", "eth0", 0, 0);
  Sampler sampler = open();
  sampler.sample(0s);
  machine_.net_dev("77", "eth0", 1000, 0);
  sampler.sample(1s);
  // The container is started again: another process in another namespace. The PID of the old one is somebody
  // else's by now.
  process("78");
  machine_.remove("/proc/77");
  machine_.net_dev("77", "eth0", 99'999'999, 99'999'999);
  machine_.net_dev("78", "eth0", 50'000, 0);
  EXPECT_EQ(sampler.sample(2s).pods[0].usage[Dimension::receive], 1000);
  machine_.net_dev("78", "eth0", 50'500, 0);
  EXPECT_EQ(sampler.sample(3s).pods[0].usage[Dimension::receive], 500);
}

TEST_F(SamplerOnAFakeMachine, IsOneCgroupWhereToldSo) {
  v1_pod("/nodes/n1", 0, 100, 0);
  v1_pod("/nodes/n1/kubepods/podaaaaaaaa", 0, 60, 0);
  v1_pod("/kubepods/podbbbbbbbb", 0, 60, 0);  // another node's
  machine_.cgroup("/cpu/nodes/n1/cpu.cfs_quota_us", "40000\n");
  machine_.cgroup("/cpu/nodes/n1/cpu.cfs_period_us", "100000\n");
  machine_.cgroup("/memory/nodes/n1/memory.limit_in_bytes", "512000\n");
  options_.cgroup = "nodes/n1/";
  Sampler sampler = open();
  sampler.sample(0s);
  machine_.stat(10'000);
  v1_pod("/nodes/n1", 250'000'000, 100, 2000);
  machine_.net_dev("self", "eth0", 10, 20);
  const NodeReport& report = sampler.sample(1s);
  EXPECT_EQ(report.total, (Usage{{0.25, 100, 10, 20, 0, 2000}}));
  EXPECT_EQ(report.capacity, (Usage{{0.4, 512000, 0, 0, 0, 0}}));
  ASSERT_EQ(report.pods.size(), 1u);
  EXPECT_EQ(report.pods[0].uid, "aaaaaaaa");
}

TEST_F(SamplerOnAFakeMachine, ReadsAV2Machine) {
  const std::string folder = "/kubepods.slice/kubepods-pod3f2504e0_4f89_11d3_9a0c_0305e82c3301.slice";
  machine_.cgroup("/cgroup.controllers", "cpu io memory\n");
  const auto say = [&](long microseconds, long written) {
    machine_.cgroup(folder + "/cpu.stat", "usage_usec " + std::to_string(microseconds) + "\n");
    machine_.cgroup(folder + "/memory.current", "5000\n");
    machine_.cgroup(folder + "/memory.stat", "inactive_file 1000\n");
    machine_.cgroup(folder + "/io.stat", "254:0 rbytes=0 wbytes=" + std::to_string(written) + "\n");
  };
  say(0, 0);
  Sampler sampler = open();
  sampler.sample(0s);
  say(500'000, 8192);
  const NodeReport& report = sampler.sample(1s);
  ASSERT_EQ(report.pods.size(), 1u);
  EXPECT_EQ(report.pods[0].uid, kPod);
  EXPECT_EQ(report.pods[0].usage, (Usage{{0.5, 4000, 0, 0, 0, 8192}}));
}

TEST_F(SamplerOnAFakeMachine, SaysOnceWhatCannotBeReadAndLeavesItOut) {
  machine_.remove("/proc/diskstats");
  Sampler sampler = open();
  for (int second = 0; second < 5; ++second) sampler.sample(std::chrono::seconds(second));
  EXPECT_EQ(sampler.sample(6s).known, (NodeReport::Known{true, true, true, true, false, false}));
  ASSERT_EQ(said_.size(), 2u);
  EXPECT_NE(said_[0].find("no cgroups"), std::string::npos);
  EXPECT_NE(said_[1].find("diskstats"), std::string::npos);
}

TEST_F(SamplerOnAFakeMachine, RefusesWhatItCannotBeAtAll) {
  options_.cgroup = "/nodes/n1";
  EXPECT_FALSE(Sampler::open(options_));
  machine_.cgroup("/cgroup.controllers", "cpu\n");
  const auto opened = Sampler::open(options_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, Error::Kind::not_found);
  options_.cgroup = "";
  options_.proc = "/does/not/exist";
  EXPECT_FALSE(Sampler::open(options_));
  options_.proc = machine_.proc();
  options_.windows.cpu = 0;
  EXPECT_FALSE(Sampler::open(options_));
}

TEST_F(SamplerOnAFakeMachine, RefusesInterfacesAndDisksOfWhichNoneIsThere) {
  options_.interfaces = {"eth9"};
  const auto opened = Sampler::open(options_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("no interface eth9; there are lo, eth0"), std::string::npos)
      << opened.error().message;
  options_.interfaces = {"eth9", "eth0"};
  EXPECT_TRUE(Sampler::open(options_));
  ASSERT_FALSE(said_.empty());
  EXPECT_NE(said_.back().find("eth9"), std::string::npos);
  options_.disks = {"sdz"};
  EXPECT_FALSE(Sampler::open(options_));
}

TEST_F(SamplerOnAFakeMachine, TakesCapacitiesItIsTold) {
  options_.capacity = {{8, 0, 1e9, 0, 2e8, 3e8}};
  machine_.write("/sys/class/net/eth0/speed", "1000\n");
  Sampler sampler = open();
  EXPECT_EQ(sampler.sample(0s).capacity, (Usage{{8, 1000 * 1024, 1e9, 125e6, 2e8, 3e8}}));
}

}  // namespace
}  // namespace evenkeel::monitor
