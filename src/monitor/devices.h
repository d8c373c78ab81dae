#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::monitor {

// Which interfaces carry a node's traffic, and which disks its bytes: each byte is counted once, though it
// passes a bridge, a pod's cable and a card, or a volume and the disk below it.

// The ones given, or else: cards (interfaces with a device behind them); none: where the default routes lead;
// none: all whose names do not say that they are pods' or bridges'.
std::vector<std::string> choose_interfaces(std::string_view net_dev, std::string_view routes,
                                           const std::string& sys, const std::vector<std::string>& given);

// The ones given, or else whole disks: no partitions, no loops, no volumes made of other disks. `devices` are
// the same as `8:0`.
struct Disks {
  std::vector<std::string> names, devices;
};
Disks choose_disks(std::string_view diskstats, const std::string& sys, const std::vector<std::string>& given);

// Bytes per second the interfaces can carry each way, by what their drivers say; 0: none says.
double link_speed(const std::vector<std::string>& interfaces, const std::string& sys);

}  // namespace evenkeel::monitor
