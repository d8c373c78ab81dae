#include "kubernetes/metrics_api.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;

TEST(MetricsApi, TellsCpuAndMemoryOfNodesAndNothingElse) {
  const auto list = read_node_metrics_list(R"({"kind":"NodeMetricsList","items":[
    {"metadata":{"name":"n1"},"timestamp":"2026-11-16T08:30:00Z","window":"20.5s",
     "usage":{"cpu":"1234567890n","memory":"2097152Ki"}},
    {"metadata":{"name":"n2"},"timestamp":"2026-11-16T08:30:01Z","window":"1m0s",
     "usage":{"cpu":"250m","memory":"1Gi"}}]})");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->items.size(), 2U);
  const NodeReport& first = list->items[0];
  EXPECT_EQ(first.node, "n1");
  EXPECT_NEAR(first.total[Dimension::cpu], 1.23456789, 1e-12);
  EXPECT_EQ(first.total[Dimension::memory], 2147483648.0);
  EXPECT_EQ(first.known, NodeReport::kCpuAndMemory);
  EXPECT_EQ(first.pods_known, NodeReport::kCpuAndMemory);
  EXPECT_EQ(first.over, 20500ms);
  EXPECT_EQ(list->items[1].total[Dimension::cpu], 0.25);
  EXPECT_EQ(list->items[1].over, 60s);
}

TEST(MetricsApi, AddsUpAPodsContainers) {
  const auto list = read_pod_metrics_list(R"({"items":[{"metadata":{"namespace":"shop","name":"web-1"},
    "timestamp":"2026-11-16T08:30:00Z","containers":[{"name":"a","usage":{"cpu":"100m","memory":"1Mi"}},
    {"name":"b","usage":{"cpu":"5000u","memory":"2Mi"}}]}]})");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->items.size(), 1U);
  const NodeReport::PodPart& part = list->items[0].part;
  EXPECT_EQ(part.name_space + "/" + part.name, "shop/web-1");
  EXPECT_NEAR(part.usage[Dimension::cpu], 0.105, 1e-9);
  EXPECT_EQ(part.usage[Dimension::memory], 3.0 * (1 << 20));
}

TEST(MetricsApi, LeavesOutWhatItCannotReadAndKeepsTheRest) {
  const auto list = read_node_metrics_list(R"({"items":[
    {"metadata":{"name":"n1"},"timestamp":"2026-11-16T08:30:00Z","usage":{"cpu":"much","memory":"1Gi"}},
    {"metadata":{},"timestamp":"2026-11-16T08:30:00Z","usage":{"cpu":"1","memory":"1Gi"}},
    {"metadata":{"name":"n3"},"usage":{"cpu":"1","memory":"1Gi"}},
    {"metadata":{"name":"n4"},"timestamp":"2026-11-16T08:30:00Z","usage":{"cpu":"1","memory":"1Gi"}}]})");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->items.size(), 1U);
  EXPECT_EQ(list->items[0].node, "n4");
  EXPECT_EQ(list->unreadable, 3U);
  EXPECT_FALSE(read_node_metrics_list("{\"items\":[{]}"));
  EXPECT_FALSE(read_pod_metrics_list(R"({"items":"none"})"));
}

}  // namespace
}  // namespace evenkeel::kubernetes
