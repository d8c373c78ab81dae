// What a network probe reads of a cluster, and what it writes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/netprobe_cluster.h"
#include "apps/netprobe_members.h"
#include "apps/netprobe_settings.h"
#include "apps/netprobe_view.h"

namespace evenkeel::apps {
namespace {

constexpr const char* kNode = R"({"metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "a",
  "topology.kubernetes.io/region": "r"}}, "status": {"addresses": [{"type": "Hostname", "address": "n1"},
  {"type": "InternalIP", "address": "10.0.0.1"}, {"type": "InternalIP", "address": "fd00::1"}],
  "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
  "allocatable": {"network.aware.com/bandwidth": "10G"}}})";

TEST(Netprobe, ReadsWhereANodeIsAndHowToReachIt) {
  const auto node = read_probe_node(kNode, "9471");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->member, (monitor::ProbeMember{"n1", "r", "a"}));
  EXPECT_EQ(node->to, (messaging::HostPort{"10.0.0.1", "9471"}));
  EXPECT_TRUE(node->is_ready);
  EXPECT_EQ(node->bandwidth, "10G");
}

TEST(Netprobe, LeavesOutNodesThatAreNotReadyOrNowhere) {
  nlohmann::json json = nlohmann::json::parse(kNode);
  json["status"]["conditions"][1]["status"] = "Unknown";
  EXPECT_FALSE(read_probe_node(json.dump(), "1")->is_ready);
  json = nlohmann::json::parse(kNode);
  json["status"].erase("addresses");
  EXPECT_FALSE(read_probe_node(json.dump(), "1")->is_ready);
  EXPECT_FALSE(read_probe_node(R"({"metadata": {"name": "n2"}})", "1")->is_ready);
  EXPECT_FALSE(read_probe_node("[]", "1"));
}

TEST(Netprobe, ReadsPeersFromTheCommandLine) {
  const auto peers = parse_peers({"n1=10.0.0.1:9471", "n2=[::1]:80@east"});
  ASSERT_TRUE(peers) << peers.error().message;
  EXPECT_EQ(peers->at(0).to, (messaging::HostPort{"10.0.0.1", "9471"}));
  EXPECT_EQ(peers->at(1).to, (messaging::HostPort{"::1", "80"}));
  EXPECT_EQ(peers->at(1).member.zone, "east");
  for (const char* wrong : {"n1", "=1.2.3.4:5", "n1=1.2.3.4"}) EXPECT_FALSE(parse_peers({wrong})) << wrong;
}

TEST(Netprobe, PatchesItsOwnEntriesAndRemovesByNull) {
  const auto patch = nlohmann::json::parse(
      config_map_patch({{"a", "1"}, {"b", std::nullopt}, {std::string(300, 'x'), "too long for a key"}}));
  EXPECT_EQ(patch, nlohmann::json::parse(R"({"data": {"a": "1", "b": null}})"));
  EXPECT_EQ(config_map_keys(R"({"data": {"b": "2", "a": "1"}})"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(config_map_keys(R"({"metadata": {}})").empty());
}

TEST(Netprobe, RefusesFlagsThatMakeNoSense) {
  NetprobeArguments good;
  good.tls = {.certificate = "c", .key = "k", .authority = "a"};
  ASSERT_TRUE(settings_of(good)) << settings_of(good).error().message;
  const auto refuses = [&](auto change) {
    NetprobeArguments arguments = good;
    change(arguments);
    return !settings_of(arguments);
  };
  EXPECT_TRUE(refuses([](auto& one) { one.period = "10ms"; }));
  EXPECT_TRUE(refuses([](auto& one) { one.keep = "1m"; })) << "shorter than a period";
  EXPECT_TRUE(refuses([](auto& one) { one.max_rate = "0"; }));
  EXPECT_TRUE(refuses([](auto& one) { one.bandwidth_bytes = "1"; }));
  EXPECT_TRUE(refuses([](auto& one) { one.tls.key = ""; }));
  EXPECT_TRUE(refuses([](auto& one) { one.csr = true; })) << "without a folder for the key";
  EXPECT_TRUE(refuses([](auto& one) {
    one.advertise = true;
    one.node_bandwidth = "fast";
  }));
}

TEST(Netprobe, HasRoomForOneWholeTestInItsBudget) {
  NetprobeArguments arguments;
  arguments.tls = {.certificate = "c", .key = "k", .authority = "a"};
  arguments.bandwidth_every = 1;
  arguments.bandwidth_bytes = "64Mi";
  EXPECT_GT(settings_of(arguments)->burst, messaging::bytes_of_test(arguments.trips, 64 << 20));
}

TEST(Netprobe, ShowsWhatItMeasured) {
  Paths paths;
  paths["n2"].figures =
      monitor::PathFigures{.p50_us = 100, .p90_us = 200, .p99_us = 300, .bits_per_second = 1e9};
  paths["n3"] = {};
  const std::string text =
      netprobe_metrics({.paths = &paths, .made = {}, .answered = {}, .written = {}, .members = 3});
  const std::string name = "evenkeel_netprobe_round_trip_seconds{destination=\"n2\",quantile=\"0.9\"} ";
  ASSERT_NE(text.find(name), std::string::npos);
  EXPECT_DOUBLE_EQ(std::stod(text.substr(text.find(name) + name.size())), 200e-6);
  EXPECT_EQ(text.find("n3"), std::string::npos) << "of it nothing is known";
  const auto json = nlohmann::json::parse(netprobe_json("n1", paths, {{"n4", "cannot connect"}}));
  EXPECT_EQ(json["paths"]["n2"]["p99_us"], 300);
  EXPECT_EQ(json["failed"]["n4"], "cannot connect");
}

}  // namespace
}  // namespace evenkeel::apps
