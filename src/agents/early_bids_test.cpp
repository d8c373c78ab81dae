#include "agents/early_bids.h"

#include <gtest/gtest.h>

#include <string>

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
const Time kStart = Time{} + 1h;

PodKey pod(int number) { return pod_key("pod-" + std::to_string(number)); }
Said said(std::uint32_t agent, std::uint32_t awards = 0, Time at = kStart) {
  return {agent, agent + 1, BidVerdict::accept, 0.5F, awards, at};
}

TEST(EarlyBids, AreKeptByAgentUntilTheyAreTaken) {
  EarlyBids bids;
  bids.add(pod(1), said(4));
  bids.add(pod(1), said(2));
  bids.add(pod(2), said(4));
  const std::vector<Said> taken = bids.take(pod(1));
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].agent, 2U);
  EXPECT_EQ(taken[1].agent, 4U);
  EXPECT_TRUE(bids.take(pod(1)).empty());
  EXPECT_EQ(bids.of(4), 1U);
}

TEST(EarlyBids, GoByTheWordThatKnowsOfMoreAwards) {
  EarlyBids bids;
  bids.add(pod(1), said(4, 2));
  bids.add(pod(1), said(4, 1));
  EXPECT_EQ(bids.take(pod(1)).front().awards, 2U);
  bids.add(pod(1), said(4, 2));
  Said again = said(4, 0);
  again.joining = 99;
  bids.add(pod(1), again);
  EXPECT_EQ(bids.take(pod(1)).front().joining, 99U) << "who comes back starts anew";
}

TEST(EarlyBids, TurnAwayWhatIsBeyondTheirLimits) {
  EarlyBids bids({3, 5});
  for (int number = 0; number < 10; ++number) bids.add(pod(number), said(1));
  EXPECT_EQ(bids.of(1), 3U);
  EXPECT_EQ(bids.take(pod(0)).size(), 1U) << "the oldest are asked about first";
  for (int number = 0; number < 10; ++number) bids.add(pod(number), said(2));
  for (int number = 20; number < 30; ++number) bids.add(pod(number), said(3));
  EXPECT_LE(bids.pods(), 5U);
}

TEST(EarlyBids, AreForgottenByThePodsFirstBid) {
  EarlyBids bids;
  bids.add(pod(1), said(1, 0, kStart));
  bids.add(pod(1), said(2, 0, kStart + 10s));
  bids.add(pod(2), said(1, 0, kStart + 5s));
  bids.forget_before(kStart + 1s);
  EXPECT_EQ(bids.pods(), 1U);
  EXPECT_EQ(bids.of(2), 0U);
  EXPECT_EQ(bids.take(pod(2)).size(), 1U);
}

TEST(EarlyBids, StaySmallWhileManyPodsPassAndOneNeverDoes) {
  EarlyBids bids({100, 100});
  bids.add(pod(-1), said(1));
  for (int number = 0; number < 100'000; ++number) {
    bids.add(pod(number), said(1));
    bids.take(pod(number));
  }
  EXPECT_EQ(bids.pods(), 1U);
  EXPECT_EQ(bids.of(1), 1U);
}

}  // namespace
}  // namespace evenkeel::agents
