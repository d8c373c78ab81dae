#include "scheduling/pending_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;

QueuedPod pod(std::uint32_t number, std::int32_t priority = 0, WorkloadId workload = {},
              Time arrived = Time{}) {
  return {{number, 1}, priority, number, number, 0, workload, arrived};
}

// What is popped until there is nothing, with run times by number (0 where not given).
std::string drain(PendingQueue& queue, const std::map<std::uint32_t, double>& seconds = {},
                  Time now = Time{}) {
  std::string order;
  const auto run_time = [&](PodId id) {
    const auto at = seconds.find(id.slot);
    return at == seconds.end() ? 0.0 : at->second;
  };
  while (const auto next = queue.pop(now, run_time)) order += std::to_string(next->pod.slot) + " ";
  return order;
}

TEST(PendingQueue, GoesByPriorityThenByArrival) {
  PendingQueue queue(QueueOrder::arrival, 30min);
  for (const QueuedPod& p : {pod(1), pod(2, 5), pod(3), pod(4, 9), pod(5, 5)}) queue.push(p);
  EXPECT_EQ(queue.size(), 5U);
  EXPECT_EQ(drain(queue), "4 2 5 1 3 ");
  EXPECT_TRUE(queue.empty());
}

TEST(PendingQueue, TakesThoseThatDidNotAskForTheOrderFirst) {
  PendingQueue queue(QueueOrder::shortest_first, 30min);
  QueuedPod plain = pod(3), urgent = pod(4, 7, {2});
  plain.by_run_time = false;
  for (const QueuedPod& p : {pod(1, 0, {0}), pod(2, 0, {1}), plain, urgent}) queue.push(p);
  EXPECT_EQ(drain(queue, {{1, 60}, {2, 5}, {4, 90}}), "4 3 2 1 ");
  EXPECT_TRUE(queue.empty());
}

TEST(PendingQueue, LetsNobodyWaitForOthersLongerThanTheLongestWait) {
  PendingQueue queue(QueueOrder::shortest_first, 30min);
  const Time now = Time{} + 2h;
  QueuedPod plain = pod(2, 0, {}, now);
  plain.by_run_time = false;
  queue.push(plain);
  queue.push(pod(1, 0, {0}, now - 31min));
  EXPECT_EQ(drain(queue, {{1, 60}}, now), "1 2 ");
}

TEST(PendingQueue, GivesARetriedPodItsOldPlaceBack) {
  for (const QueueOrder order : {QueueOrder::arrival, QueueOrder::shortest_first}) {
    PendingQueue queue(order, 30min);
    for (std::uint32_t i = 1; i <= 3; ++i) queue.push(pod(i));
    const auto first = queue.pop(Time{}, [](PodId) { return 0.0; });
    queue.push(*first);
    EXPECT_EQ(drain(queue), "1 2 3 ");
  }
}

TEST(PendingQueue, TakesTheShortestFirstAndEqualsByArrival) {
  PendingQueue queue(QueueOrder::shortest_first, 30min);
  for (std::uint32_t i = 1; i <= 4; ++i) queue.push(pod(i, 0, {i}));
  EXPECT_EQ(drain(queue, {{1, 60}, {2, 10}, {3, 30}, {4, 10}}), "2 4 3 1 ");
}

TEST(PendingQueue, PutsPriorityAboveShortness) {
  PendingQueue queue(QueueOrder::shortest_first, 30min);
  queue.push(pod(1, 0, {1}));
  queue.push(pod(2, 1, {2}));
  EXPECT_EQ(drain(queue, {{1, 1}, {2, 1000}}), "2 1 ");
}

TEST(PendingQueue, PutsPriorityFirstWithinAWorkloadToo) {
  PendingQueue queue(QueueOrder::shortest_first, 30min);
  queue.push(pod(1, 0, {1}));
  queue.push(pod(2, 1, {1}));
  EXPECT_EQ(drain(queue), "2 1 ");
}

TEST(PendingQueue, LetsNobodyWaitTooLongForBeingSlow) {
  PendingQueue queue(QueueOrder::shortest_first, 30min);
  queue.push(pod(1, 0, {1}, Time{}));
  queue.push(pod(2, 0, {2}, Time{} + 40min));
  queue.push(pod(3, 0, {3}, Time{} - 1min));
  const std::map<std::uint32_t, double> seconds{{1, 1000}, {2, 1}, {3, 2000}};
  EXPECT_EQ(drain(queue, seconds, Time{} + 31min), "3 1 2 ");  // who waited longest goes first
}

TEST(PendingQueue, HoldsAWorkloadBackUntilItIsReleased) {
  PendingQueue queue(QueueOrder::shortest_first, 30min);
  for (const QueuedPod& p : {pod(1, 0, {1}), pod(2, 0, {1}), pod(3, 0, {2})}) queue.push(p);
  const auto first = queue.pop(Time{}, [](PodId) { return 0.0; });
  ASSERT_EQ(first->pod.slot, 1U);
  queue.hold(*first);
  EXPECT_TRUE(queue.holding());
  EXPECT_EQ(drain(queue), "3 ");  // others pass
  EXPECT_EQ(queue.size(), 2U);
  queue.release_held();
  EXPECT_FALSE(queue.holding());
  EXPECT_EQ(drain(queue), "1 2 ");
}

TEST(PendingQueue, HoldsASinglePodBackInOrderOfArrival) {
  PendingQueue queue(QueueOrder::arrival, 30min);
  queue.push(pod(1));
  queue.push(pod(2));
  queue.hold(*queue.pop(Time{}, nullptr));
  EXPECT_EQ(drain(queue), "2 ");
  queue.release_held();
  EXPECT_EQ(drain(queue), "1 ");
}

}  // namespace
}  // namespace evenkeel::scheduling
