#include "monitor/devices.h"

#include <gtest/gtest.h>

#include "monitor/fake_machine.h"

namespace evenkeel::monitor {
namespace {

using Names = std::vector<std::string>;

std::string net_dev(const Names& names) {
  std::string text = "Inter-|\n face |bytes\n";
  for (const std::string& name : names) text += name + ": 1 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0\n";
  return text;
}
constexpr const char* kRoutes = "Iface\tDestination\nuplink\t00000000\t1\t3\t0\t0\t0\t00000000\t0\t0\t0\n";

TEST(Devices, CountCardsAndNotWhatPodsHangOn) {
  const FakeMachine machine;
  machine.write("/sys/class/net/ens3/device/vendor", "");
  EXPECT_EQ(choose_interfaces(net_dev({"lo", "ens3", "cni0", "veth1"}), kRoutes, machine.sys(), {}),
            Names{"ens3"});
}

TEST(Devices, CountWhereTheDefaultRouteLeadsInANamespaceWithoutCards) {
  const FakeMachine machine;
  EXPECT_EQ(choose_interfaces(net_dev({"lo", "uplink", "br0", "veth1"}), kRoutes, machine.sys(), {}),
            Names{"uplink"});
}

TEST(Devices, GoByNamesWhereNothingElseTells) {
  const FakeMachine machine;
  EXPECT_EQ(choose_interfaces(net_dev({"lo", "eth0", "veth1", "ifb0"}), "", machine.sys(), {}),
            Names{"eth0"});
  EXPECT_EQ(choose_interfaces(net_dev({"lo", "eth0"}), "", machine.sys(), {"lo"}), Names{"lo"});
}

constexpr const char* kDisks =
    " 7 0 loop0 1 1 1\n 8 0 sda 1 1 1\n 8 1 sda1 1 1 1\n 259 0 nvme0n1 1 1 1\n 259 1 nvme0n1p1 1 1 1\n"
    " 253 0 dm-0 1 1 1\n 9 0 md0 1 1 1\n";

TEST(Devices, CountWholeDisksOnce) {
  FakeMachine machine;
  const Disks by_name = choose_disks(kDisks, "/does/not/exist", {});
  EXPECT_EQ(by_name.names, (Names{"sda", "nvme0n1"}));
  EXPECT_EQ(by_name.devices, (Names{"8:0", "259:0"}));
  machine.write("/sys/block/nvme0n1/size", "");
  EXPECT_EQ(choose_disks(kDisks, machine.sys(), {}).names, Names{"nvme0n1"});
  EXPECT_EQ(choose_disks(kDisks, machine.sys(), {"dm-0"}).devices, Names{"253:0"});
}

TEST(Devices, SumTheSpeedOfLinksThatTellTheirs) {
  const FakeMachine machine;
  machine.write("/sys/class/net/a/speed", "10000\n");
  machine.write("/sys/class/net/b/speed", "1000\n");
  machine.write("/sys/class/net/c/speed", "-1\n");
  EXPECT_EQ(link_speed({"a", "b", "c", "d"}, machine.sys()), 11e9 / 8);
  EXPECT_EQ(link_speed({"c", "d"}, machine.sys()), 0);
}

}  // namespace
}  // namespace evenkeel::monitor
