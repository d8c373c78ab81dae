#include "scheduling/bandwidth_ledger.h"

#include <gtest/gtest.h>

#include "scheduling/network_view.h"
#include "scheduling/test_networks.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::int64_t kM = 1'000'000;

class BandwidthLedgerTest : public testing::Test {
 protected:
  BandwidthLedgerTest() {
    add_eight_nodes(state);
    state.set_object(eight_node_costs());
    state.set_object(group_of("shop", {{"web", "api", 10 * kM}, {"api", "db", 3 * kM}}));
  }
  Pod pod(const std::string& workload, const std::string& group = "shop") {
    return test_pod({next_++, 1}, member_shape(group, workload));
  }
  PodId run(const std::string& workload, std::uint32_t node) {
    const Pod made = pod(workload);
    state.found(made, {node}, {}, {});
    return made.id;
  }
  std::int64_t zones(const std::string& from, const std::string& to) {
    const NetworkView view = view_network(state, {});
    auto& places = const_cast<NetworkPlaces&>(view.places);
    return static_cast<std::int64_t>(view.ledger.between_zones(places.number(from), places.number(to)));
  }
  std::int64_t regions(const std::string& from, const std::string& to) {
    const NetworkView view = view_network(state, {});
    auto& places = const_cast<NetworkPlaces&>(view.places);
    return static_cast<std::int64_t>(view.ledger.between_regions(places.number(from), places.number(to)));
  }
  std::int64_t leaving(std::uint32_t node) {
    return static_cast<std::int64_t>(view_network(state, {}).ledger.leaving(NodeId{node}));
  }

  ClusterState state;
  std::uint32_t next_ = 0;
};

TEST_F(BandwidthLedgerTest, ReservesOnTheLinkBetweenZonesAndOnTheSendersNode) {
  run("web", 0);
  EXPECT_EQ(leaving(0), 0);
  run("api", 2);
  EXPECT_EQ(zones("Z1", "Z2"), 10 * kM);
  EXPECT_EQ(zones("Z2", "Z1"), 0);
  EXPECT_EQ(leaving(0), 10 * kM);
  EXPECT_EQ(leaving(2), 0);
}

TEST_F(BandwidthLedgerTest, ReservesBetweenRegionsAndThenNotBetweenZones) {
  run("web", 0);
  run("api", 4);
  EXPECT_EQ(regions("us-west-1", "us-east-1"), 10 * kM);
  EXPECT_EQ(zones("Z1", "Z3"), 0);
}

TEST_F(BandwidthLedgerTest, ReservesNothingWithinANodeAndNoLinkWithinAZone) {
  run("web", 0);
  run("api", 0);
  EXPECT_EQ(leaving(0), 0);
  run("api", 1);
  EXPECT_EQ(leaving(0), 10 * kM);
}

TEST_F(BandwidthLedgerTest, CountsEveryPairOfReplicas) {
  for (int i = 0; i < 3; ++i) run("web", 0);
  for (int i = 0; i < 2; ++i) run("api", 2);
  EXPECT_EQ(zones("Z1", "Z2"), 60 * kM);
  run("db", 0);  // two pods of api talk to it
  EXPECT_EQ(zones("Z2", "Z1"), 6 * kM);
}

TEST_F(BandwidthLedgerTest, CountsFromTheAssumptionAndUntilItIsTakenBackOrThePodIsGone) {
  run("web", 0);
  const Pod waits = pod("api");
  state.add_pending(waits);
  EXPECT_EQ(zones("Z1", "Z2"), 0);
  state.assume(waits.id, {2}, {}, {});
  EXPECT_EQ(zones("Z1", "Z2"), 10 * kM);
  state.unassume(waits.id);
  EXPECT_EQ(zones("Z1", "Z2"), 0);
  state.assume(waits.id, {2}, {}, {});
  state.confirm(waits.id, {4}, {});  // reports win: it is elsewhere
  EXPECT_EQ(zones("Z1", "Z2"), 0);
  EXPECT_EQ(regions("us-west-1", "us-east-1"), 10 * kM);
  state.remove_pod(waits.id);
  EXPECT_EQ(regions("us-west-1", "us-east-1"), 0);
  EXPECT_EQ(leaving(0), 0);
}

TEST_F(BandwidthLedgerTest, CountsAgainWhenAGroupOrANodesPlaceOrAPodsPartChanges) {
  run("web", 0);
  const PodId api = run("api", 2);
  ASSERT_EQ(zones("Z1", "Z2"), 10 * kM);
  state.set_object(group_of("shop", {{"web", "api", 25 * kM}}));
  EXPECT_EQ(zones("Z1", "Z2"), 25 * kM);
  state.set_node(placed_node(2, "us-east-1", "Z3"));
  EXPECT_EQ(zones("Z1", "Z2"), 0);
  EXPECT_EQ(regions("us-west-1", "us-east-1"), 25 * kM);
  Pod changed = state.pod(api)->pod;
  changed.shape = member_shape("shop", "db");
  state.update_pod(changed);
  EXPECT_EQ(regions("us-west-1", "us-east-1"), 0);
  state.remove_object(group_of("shop", {}));
  EXPECT_EQ(leaving(0), 0);
}

TEST_F(BandwidthLedgerTest, StaysWhenAGroupsStatusAloneChanges) {
  run("web", 0);
  run("api", 2);
  AppGroup group = group_of("shop", {{"web", "api", 10 * kM}, {"api", "db", 3 * kM}});
  group.order = {{"api", 1}, {"web", 0}};
  state.set_object(group);
  EXPECT_EQ(zones("Z1", "Z2"), 10 * kM);
}

TEST_F(BandwidthLedgerTest, CountsPodsThatWereReportedBeforeTheirNodeOrWhoseNodeHasLeft) {
  run("web", 0);
  run("api", 8);  // nobody knows that node yet
  EXPECT_EQ(leaving(0), 10 * kM);
  state.set_node(placed_node(8, "us-west-1", "Z2"));
  EXPECT_EQ(zones("Z1", "Z2"), 10 * kM);
  state.remove_node({8});
  EXPECT_EQ(zones("Z1", "Z2"), 10 * kM);  // it may be back, and the pod was never reported gone
}

TEST_F(BandwidthLedgerTest, CountsAWorkloadThatTalksToItselfOncePerPairAndDirection) {
  state.set_object(group_of("shop", {{"redis", "redis", kM}}));
  run("redis", 0);
  run("redis", 2);
  run("redis", 2);
  EXPECT_EQ(zones("Z1", "Z2"), 2 * kM);
  EXPECT_EQ(zones("Z2", "Z1"), 2 * kM);
  EXPECT_EQ(leaving(2), 2 * kM);
}

TEST_F(BandwidthLedgerTest, AddsUpWhatNobodyCouldSendWithoutOverflowing) {
  state.set_object(group_of("shop", {{"web", "api", std::numeric_limits<std::int64_t>::max()}}));
  std::vector<PodId> pods;
  for (int i = 0; i < 100; ++i) pods.push_back(run("web", 0));
  for (int i = 0; i < 100; ++i) pods.push_back(run("api", 2));
  const NetworkView view = view_network(state, {});
  EXPECT_GT(view.ledger.leaving(NodeId{0}), BandwidthLedger::Bits{std::numeric_limits<std::int64_t>::max()});
  for (const PodId id : pods) state.remove_pod(id);
  EXPECT_EQ(leaving(0), 0);
  EXPECT_EQ(zones("Z1", "Z2"), 0);
}

TEST_F(BandwidthLedgerTest, AgreesWithOneThatBeginsAnewWhateverHappened) {
  std::vector<PodId> pods;
  for (std::uint32_t i = 0; i < 6000; ++i) {  // more than the log keeps between two looks
    pods.push_back(run(i % 3 == 0 ? "web" : "api", i * 7 % 8));
    if (i % 2 == 1) {
      state.remove_pod(pods[i / 2]);
    }
    if (i % 1500 == 7) leaving(0);
  }
  for (int i = 0; i < 50; ++i) {
    run("db", static_cast<std::uint32_t>(i) % 8);
    leaving(0);
  }
  const ClusterState copy = state;  // keeps nothing of what was counted
  const NetworkView kept = view_network(state, {}), anew = view_network(copy, {});
  for (std::uint32_t node = 0; node < 8; ++node)
    EXPECT_EQ(static_cast<std::int64_t>(kept.ledger.leaving(NodeId{node})),
              static_cast<std::int64_t>(anew.ledger.leaving(NodeId{node})));
}

}  // namespace
}  // namespace evenkeel::scheduling
