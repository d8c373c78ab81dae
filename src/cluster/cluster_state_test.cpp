#include "cluster/cluster_state.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <map>

#include "base/random.h"
#include "cluster/test_objects.h"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

constexpr PodId kPod{3, 1};
constexpr NodeId kHere{0}, kThere{1};
constexpr Time kNow{10s};
constexpr std::int64_t kGi = 1LL << 30;

Demand uses(double cores) {
  Demand demand;
  demand.mean[Dimension::cpu] = cores;
  demand.variance[Dimension::cpu] = cores * cores / 4;
  return demand;
}

ClusterState two_nodes() {
  ClusterState cluster;
  cluster.set_node(test_node(0));
  cluster.set_node(test_node(1));
  return cluster;
}

ClusterState with_a_pending_pod() {
  ClusterState cluster = two_nodes();
  cluster.add_pending(test_pod(kPod, shape_asking(500, kGi)));
  return cluster;
}

TEST(ClusterState, CountsAnAssumedPodBeforeItIsConfirmed) {
  ClusterState cluster = with_a_pending_pod();
  EXPECT_EQ(cluster.columns().requested_cpu[0], 0);
  cluster.assume(kPod, kHere, uses(0.4), kNow);
  EXPECT_EQ(cluster.pod(kPod)->place, PodPlace::assumed);
  EXPECT_EQ(cluster.columns().requested_cpu[0], 500);
  EXPECT_EQ(cluster.columns().requested_memory[0], static_cast<double>(kGi));
  EXPECT_EQ(cluster.columns().pods[0], 1);
  EXPECT_FLOAT_EQ(cluster.columns().utilization[0][0], 0.1F);
  EXPECT_EQ(cluster.pods_on(kHere).size(), 1U);
}

TEST(ClusterState, ConfirmsWithoutCountingTwice) {
  ClusterState cluster = with_a_pending_pod();
  cluster.assume(kPod, kHere, uses(0.4), kNow);
  EXPECT_TRUE(cluster.confirm(kPod, kHere, kNow + 1s));
  EXPECT_TRUE(cluster.confirm(kPod, kHere, kNow + 2s));  // delivered twice
  EXPECT_EQ(cluster.pod(kPod)->place, PodPlace::bound);
  EXPECT_EQ(cluster.columns().pods[0], 1);
  EXPECT_EQ(cluster.columns().requested_cpu[0], 500);
}

TEST(ClusterState, BelievesAReportOverItsOwnAssumption) {
  ClusterState cluster = with_a_pending_pod();
  cluster.assume(kPod, kHere, uses(0.4), kNow);
  cluster.confirm(kPod, kThere, kNow);
  EXPECT_EQ(cluster.columns().requested_cpu[0], 0);
  EXPECT_EQ(cluster.columns().requested_cpu[1], 500);
  EXPECT_FLOAT_EQ(cluster.columns().utilization[0][1], 0.1F);
  EXPECT_FALSE(cluster.unassume(kPod));  // it is bound: the failed binding was an echo
  EXPECT_EQ(cluster.columns().pods[1], 1);
}

TEST(ClusterState, ForgetsAnAssumptionWithoutATrace) {
  ClusterState cluster = with_a_pending_pod();
  const ClusterState before = cluster;
  cluster.assume(kPod, kHere, uses(0.4), kNow);
  EXPECT_TRUE(cluster.unassume(kPod));
  EXPECT_FALSE(cluster.unassume(kPod));
  EXPECT_EQ(cluster.pod(kPod)->place, PodPlace::pending);
  EXPECT_EQ(cluster.columns().requested_cpu, before.columns().requested_cpu);
  EXPECT_EQ(cluster.columns().utilization, before.columns().utilization);
  EXPECT_EQ(cluster.columns().variance, before.columns().variance);
  EXPECT_TRUE(cluster.pods_on(kHere).empty());
  cluster.assume(kPod, kThere, uses(0.4), kNow);  // and it may be tried again
  EXPECT_EQ(cluster.columns().pods[1], 1);
}

TEST(ClusterState, IgnoresLateEchoesOfADeadGeneration) {
  ClusterState cluster = with_a_pending_pod();
  cluster.remove_pod(kPod);
  const PodId next{kPod.slot, kPod.generation + 1};
  cluster.add_pending(test_pod(next, shape_asking(100, kGi)));
  EXPECT_EQ(cluster.pod(kPod), nullptr);
  EXPECT_FALSE(cluster.confirm(kPod, kHere, kNow));
  EXPECT_FALSE(cluster.unassume(kPod));
  cluster.mark_started(kPod, kNow);
  cluster.add_sample(kPod, uses(1).mean, kNow);
  cluster.remove_pod(kPod);
  ASSERT_NE(cluster.pod(next), nullptr);
  EXPECT_EQ(cluster.pod(next)->place, PodPlace::pending);
  EXPECT_EQ(cluster.pod(next)->samples, 0U);
  EXPECT_EQ(cluster.pod_count(), 1U);
}

TEST(ClusterState, GivesASlotToItsNextPodEvenIfTheLastOnesEndWasNeverReported) {
  ClusterState cluster = with_a_pending_pod();
  cluster.assume(kPod, kHere, uses(0.4), kNow);
  cluster.add_pending(test_pod({kPod.slot, 2}, shape_asking(100, kGi)));
  EXPECT_EQ(cluster.columns().pods[0], 0);
  EXPECT_EQ(cluster.columns().requested_cpu[0], 0);
  EXPECT_EQ(cluster.pod_count(), 1U);
}

TEST(ClusterState, TakesAPodDeliveredTwiceForOne) {
  ClusterState cluster = with_a_pending_pod();
  cluster.assume(kPod, kHere, uses(0.4), kNow);
  cluster.add_pending(test_pod(kPod, shape_asking(500, kGi)));
  EXPECT_EQ(cluster.pod(kPod)->place, PodPlace::assumed);
  EXPECT_EQ(cluster.pod_count(), 1U);
  cluster.found(test_pod(kPod, shape_asking(500, kGi)), kThere, uses(0.2), kNow);
  cluster.found(test_pod(kPod, shape_asking(500, kGi)), kThere, uses(0.2), kNow);
  EXPECT_EQ(cluster.columns().pods[0], 0);
  EXPECT_EQ(cluster.columns().pods[1], 1);
  EXPECT_FLOAT_EQ(cluster.columns().utilization[0][1], 0.05F);
}

TEST(ClusterState, KeepsAPodThatIsReportedBeforeItsNode) {
  ClusterState cluster;
  cluster.found(test_pod(kPod, shape_asking(500, kGi)), {5}, uses(1), kNow);
  EXPECT_FALSE(cluster.has_node({5}));
  EXPECT_EQ(cluster.node_count(), 0U);
  EXPECT_EQ(cluster.columns().utilization[0][5], 0);
  cluster.set_node(test_node(5));
  EXPECT_EQ(cluster.columns().requested_cpu[5], 500);
  EXPECT_FLOAT_EQ(cluster.columns().utilization[0][5], 0.25F);
  EXPECT_FLOAT_EQ(cluster.columns().balance[5], 100);  // an eighth of the CPU, an eighth of the memory
}

TEST(ClusterState, KeepsRoomForAPodThatIsOnItsWay) {
  ClusterState cluster = two_nodes();
  const auto shape = shape_asking(500, kGi);
  cluster.reserve(kHere, *shape, uses(0.4));
  EXPECT_EQ(cluster.columns().requested_cpu[0], 500);
  EXPECT_EQ(cluster.columns().pods[0], 1);
  EXPECT_FLOAT_EQ(cluster.columns().utilization[0][0], 0.1F);
  EXPECT_TRUE(cluster.pods_on(kHere).empty());
  EXPECT_TRUE(cluster.replicas({0}).empty());
  cluster.release(kHere, *shape, uses(0.4));
  EXPECT_EQ(cluster.columns().requested_cpu[0], 0);
  EXPECT_EQ(cluster.columns().utilization[0][0], 0);
}

TEST(ClusterState, ShowsNothingOfANodeThatLeftAndEverythingWhenItIsBack) {
  ClusterState cluster = with_a_pending_pod();
  cluster.assume(kPod, kHere, uses(0.4), kNow);
  Usage base;
  base[Dimension::cpu] = 1;
  cluster.set_base_load(kHere, base, kNow);
  EXPECT_FLOAT_EQ(cluster.columns().utilization[0][0], 0.35F);
  cluster.remove_node(kHere);
  cluster.remove_node(kHere);
  EXPECT_FALSE(cluster.has_node(kHere));
  EXPECT_EQ(cluster.node_count(), 1U);
  EXPECT_EQ(cluster.columns().utilization[0][0], 0);
  EXPECT_EQ(cluster.measured_at(kHere), Time::min());
  cluster.set_base_load(kHere, base, kNow);  // a late report about it
  EXPECT_EQ(cluster.columns().utilization[0][0], 0);
  cluster.set_node(test_node(0));
  EXPECT_EQ(cluster.node_count(), 2U);
  EXPECT_FLOAT_EQ(cluster.columns().utilization[0][0], 0.1F);  // its pod, not yet reported gone
  cluster.remove_pod(kPod);
  EXPECT_EQ(cluster.columns().utilization[0][0], 0);
  EXPECT_EQ(cluster.columns().pods[0], 0);
}

TEST(ClusterState, CountsTaintedCordonedAndOddNodesAsTheyComeChangeAndGo) {
  ClusterState cluster = two_nodes();
  Node node = test_node(0, 0);
  node.taints = {{"k", "v", TaintEffect::no_schedule}};
  node.unschedulable = true;
  cluster.set_node(node);
  cluster.set_node(node);
  EXPECT_EQ(cluster.columns().tainted_nodes, 1U);
  EXPECT_EQ(cluster.columns().cordoned_nodes, 1U);
  EXPECT_EQ(cluster.columns().odd_nodes, 1U);
  cluster.remove_node(kHere);
  EXPECT_EQ(cluster.columns().tainted_nodes + cluster.columns().cordoned_nodes + cluster.columns().odd_nodes,
            0U);
  cluster.set_node(node);
  cluster.set_node(test_node(0));
  EXPECT_EQ(cluster.columns().tainted_nodes + cluster.columns().cordoned_nodes + cluster.columns().odd_nodes,
            0U);
}

TEST(ClusterState, KnowsHowManyPodsOfAWorkloadEachNodeHolds) {
  ClusterState cluster = two_nodes();
  const auto shape = shape_asking(1, 1, {4});
  for (std::uint32_t i = 0; i < 3; ++i) cluster.found(test_pod({i, 1}, shape), {i % 2}, {}, kNow);
  ASSERT_EQ(cluster.replicas({4}).size(), 2U);
  EXPECT_EQ(cluster.replicas({4})[0].count, 2U);
  EXPECT_EQ(cluster.replicas({4})[1].count, 1U);
  cluster.remove_pod({1, 1});
  ASSERT_EQ(cluster.replicas({4}).size(), 1U);
  EXPECT_EQ(cluster.replicas({4})[0].node, 0U);
  EXPECT_TRUE(cluster.replicas({99}).empty());
}

TEST(ClusterState, RemembersHowAPodWasSeen) {
  ClusterState cluster = with_a_pending_pod();
  cluster.add_sample(kPod, uses(9).mean, kNow);  // not placed: nobody can have seen it
  cluster.assume(kPod, kHere, uses(0.4), kNow);
  cluster.mark_started(kPod, kNow + 3s);
  cluster.add_sample(kPod, uses(1).mean, kNow);
  cluster.add_sample(kPod, uses(2).mean, kNow + 15min);
  const PodRecord& record = *cluster.pod(kPod);
  EXPECT_TRUE(record.started);
  EXPECT_EQ(record.since, kNow + 3s);
  EXPECT_EQ(record.samples, 2U);
  EXPECT_DOUBLE_EQ(record.sampled[Dimension::cpu], 3);
  EXPECT_DOUBLE_EQ(record.recent[Dimension::cpu], 1.5);
}

// --- a model of it, too simple to be wrong ----------------------------------------------------

struct Model {
  struct Placed {
    NodeId node;
    std::shared_ptr<const PodTemplate> shape;
    Demand expected;
  };
  std::map<PodId, Placed> placed;
  std::vector<Placed> reserved;
  std::map<std::uint32_t, Usage> base;
};

void expect_equal(const ClusterState& cluster, const Model& model, const std::vector<Node>& nodes, int step) {
  const NodeColumns& c = cluster.columns();
  std::size_t present = 0;
  for (std::uint32_t i = 0; i < nodes.size() && i < c.size(); ++i) {
    double cpu = 0, memory = 0, non_zero_cpu = 0, non_zero_memory = 0, pods = 0;
    Demand load;
    Resources beyond;
    std::map<std::uint32_t, std::uint32_t> replicas;
    const auto count = [&](const Model::Placed& p) {
      cpu += static_cast<double>(p.shape->request.cpu.count);
      memory += static_cast<double>(p.shape->request.memory.count);
      non_zero_cpu += static_cast<double>(p.shape->non_zero.cpu.count);
      non_zero_memory += static_cast<double>(p.shape->non_zero.memory.count);
      if (!p.shape->request.extended.empty()) beyond += p.shape->request;
      load.mean += p.expected.mean;
      load.variance += p.expected.variance;
      ++pods;
    };
    for (const auto& [id, p] : model.placed)
      if (p.node.slot == i) {
        count(p);
        ++replicas[p.shape->workload.slot];
      }
    ASSERT_EQ(cluster.pods_on({i}).size(), static_cast<std::size_t>(pods)) << step;
    for (const auto& p : model.reserved)
      if (p.node.slot == i) count(p);
    const bool here = cluster.has_node({i});
    present += here;
    if (const auto base = model.base.find(i); base != model.base.end()) load.mean += base->second;
    ASSERT_EQ(c.requested_cpu[i], cpu) << step;
    ASSERT_EQ(c.requested_memory[i], memory) << step;
    ASSERT_EQ(c.allocatable_cpu[i] - c.room_cpu[i], non_zero_cpu) << step;
    ASSERT_EQ(c.allocatable_memory[i] - c.room_memory[i], non_zero_memory) << step;
    ASSERT_EQ(c.pods[i], static_cast<float>(pods)) << step;
    ASSERT_EQ(cluster.requested({i}).extended, beyond.extended) << step;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const double capacity = here ? nodes[i].capacity.of[d] : 0;
      const double share = capacity > 0 ? load.mean.of[d] / capacity : 0;
      const double variance = capacity > 0 ? load.variance.of[d] / capacity / capacity : 0;
      ASSERT_NEAR(c.utilization[d][i], share, 1e-5) << step;
      ASSERT_NEAR(c.variance[d][i], variance, 1e-5) << step;
      ASSERT_GE(c.utilization[d][i], 0) << step;
    }
    for (const auto& [workload, number] : replicas) {
      const auto all = cluster.replicas({workload});
      const auto at = std::find_if(all.begin(), all.end(), [&](const auto& r) { return r.node == i; });
      ASSERT_TRUE(at != all.end() && at->count == number) << step;
    }
  }
  ASSERT_EQ(cluster.node_count(), present) << step;
  std::size_t replicas = 0;
  for (std::uint32_t workload = 0; workload < 3; ++workload)
    for (const auto& on_node : cluster.replicas({workload})) replicas += on_node.count;
  ASSERT_EQ(replicas, model.placed.size()) << step;
}

TEST(ClusterState, EqualsARecountAfterTenThousandRandomOperations) {
  Random random(17);
  ClusterState cluster;
  Model model;
  std::vector<Node> nodes;
  for (std::uint32_t i = 0; i < 12; ++i)
    nodes.push_back(test_node(i, i == 3 ? 0 : 1000 * (1 + i % 4), (2 + i % 3) * kGi));
  std::vector<std::shared_ptr<const PodTemplate>> shapes;
  for (std::uint32_t i = 0; i < 8; ++i) {
    PodSpec spec = spec_asking(i * 50, static_cast<std::int64_t>(i % 3) * 100'000'000);
    if (i == 5) spec.containers.front().requests.set_extended("gpu", 2);
    shapes.push_back(test_shape(spec, {i % 3}));
  }
  std::vector<PodId> ids(40);
  for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = {i, 0};
  const auto demand = [&] {
    Demand d;
    for (double& amount : d.mean.of) amount = random.between(0, 1);
    for (double& amount : d.variance.of) amount = random.between(0, 0.1);
    return d;
  };

  for (int step = 0; step < 10'000; ++step) {
    PodId& id = ids[random.below(ids.size())];
    const NodeId node{static_cast<std::uint32_t>(random.below(nodes.size()))};
    const PodRecord* record = cluster.pod(id);
    switch (random.below(10)) {
      case 0:
        cluster.set_node(nodes[node.slot]);
        break;
      case 1:
        if (random.chance(0.3)) {
          cluster.remove_node(node);
          model.base.erase(node.slot);
        }
        break;
      case 2:
        if (!record) cluster.add_pending(test_pod({id.slot, ++id.generation}, shapes[random.below(8)]));
        break;
      case 3:
        if (record && record->place == PodPlace::pending && cluster.has_node(node)) {
          const Demand expected = demand();
          cluster.assume(id, node, expected, kNow);
          model.placed[id] = {node, record->pod.shape, expected};
        }
        break;
      case 4:
        if (record && record->place == PodPlace::assumed && random.chance(0.5)) {
          EXPECT_TRUE(cluster.unassume(id));
          model.placed.erase(id);
        } else if (record && record->place != PodPlace::pending) {
          EXPECT_TRUE(cluster.confirm(id, node, kNow));  // moved, as far as reports tell
          model.placed[id].node = node;
        }
        break;
      case 5:
        if (!record) {
          const Demand expected = demand();
          const auto& shape = shapes[random.below(8)];
          cluster.found(test_pod({id.slot, ++id.generation}, shape), node, expected, kNow);
          model.placed[id] = {node, shape, expected};
        }
        break;
      case 6:
        cluster.remove_pod(id);
        model.placed.erase(id);
        break;
      case 7:
        if (record && record->place != PodPlace::pending) {
          const Demand expected = demand();
          cluster.set_expected(id, expected);
          model.placed[id].expected = expected;
        }
        break;
      case 8:
        if (model.reserved.size() < 10 && cluster.columns().size() > node.slot) {
          model.reserved.push_back({node, shapes[random.below(8)], demand()});
          cluster.reserve(node, *model.reserved.back().shape, model.reserved.back().expected);
        } else if (!model.reserved.empty()) {
          const Model::Placed& p = model.reserved.back();
          cluster.release(p.node, *p.shape, p.expected);
          model.reserved.pop_back();
        }
        break;
      case 9:
        if (cluster.has_node(node)) {
          model.base[node.slot] = demand().mean;
          cluster.set_base_load(node, model.base[node.slot], kNow);
        }
        break;
    }
    if (step % 50 == 0 || step > 9'990) {
      expect_equal(cluster, model, nodes, step);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(model.placed.size(), 5U);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ClusterState, HoldsTenThousandNodesAndAHundredThousandPodsInLessThan300MB) {
  const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  ClusterState cluster;
  for (std::uint32_t i = 0; i < 10'000; ++i) cluster.set_node(test_node(i));
  std::vector<std::shared_ptr<const PodTemplate>> shapes;
  for (std::uint32_t i = 0; i < 500; ++i) shapes.push_back(shape_asking(10 + i, kGi / 64, {i}));
  for (std::uint32_t i = 0; i < 100'000; ++i)
    cluster.found(test_pod({i, 1}, shapes[i % shapes.size()]), {i % 10'000}, uses(0.01), kNow);
  const std::size_t used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
  RecordProperty("megabytes", static_cast<int>(used >> 20));
  EXPECT_LT(used, 300'000'000U);
  EXPECT_GT(used, 10'000'000U);  // else it was not counted at all
}
#endif

// One node with two pods that run, each expected to use one core, 1 GB and 10 MB/s.
class PartlyKnown : public ::testing::Test {
 protected:
  PartlyKnown() {
    state.set_node(test_node(0));
    for (std::uint32_t slot : {1, 2}) {
      state.found(test_pod({slot, 1}, shape_asking(100, 1)), {0}, expected, now - std::chrono::hours(1));
      state.mark_started({slot, 1}, now - std::chrono::hours(1));
    }
  }
  void tell(const Usage& total, KnownDimensions known, KnownDimensions pods_known,
            std::vector<PodUsage> pods = {}) {
    UsageReported report{{0}, now, total, pods, known, pods_known, std::chrono::minutes(1)};
    state.add_report(
        report,
        [&](const PodRecord&, const Usage& usage) {
          Demand seen = expected;
          seen.mean = usage;
          return seen;
        },
        [&](const PodRecord&) { return expected; });
  }
  double load(Dimension d) const { return state.load({0}).mean[d]; }

  static constexpr KnownDimensions kCpuMemory = {true, true, false, false, false, false};
  ClusterState state;
  Demand expected{Usage{{1, 1e9, 1e7, 0, 0, 0}}, {}, {}};
  Time now = Time{} + std::chrono::hours(5);
};

TEST_F(PartlyKnown, WhatIsNotMeasuredStaysAsExpectedAndIsNotTakenForNothing) {
  tell(Usage{{3, 4e9, 0, 0, 0, 0}}, kCpuMemory, kCpuMemory,
       {{{1, 1}, Usage{{0.5, 2e9, 0, 0, 0, 0}}}, {{2, 1}, Usage{{1.5, 1e9, 0, 0, 0, 0}}}});
  EXPECT_DOUBLE_EQ(load(Dimension::cpu), 3);
  EXPECT_DOUBLE_EQ(state.base_load({0})[Dimension::cpu], 1);
  EXPECT_DOUBLE_EQ(load(Dimension::receive), 2e7);  // of the two pods
  EXPECT_DOUBLE_EQ((*state.measured_use({0}))[Dimension::receive], 2e7);
  EXPECT_DOUBLE_EQ(state.base_load({0})[Dimension::receive], 0);
  tell(Usage{{3, 4e9, 5e7, 0, 0, 0}}, kAllKnown, kAllKnown);
  tell(Usage{{3, 4e9, 0, 0, 0, 0}}, kCpuMemory, kCpuMemory);
  EXPECT_DOUBLE_EQ(state.base_load({0})[Dimension::receive], 5e7);  // as it was last seen
}

TEST_F(PartlyKnown, ANodesTotalIsSharedOutAmongPodsThatAreNotToldApart) {
  tell(Usage{{3, 4e9, 5e7, 0, 0, 0}}, kAllKnown, {});
  EXPECT_DOUBLE_EQ(load(Dimension::cpu), 3);  // not 3 and the pods' 2 once more
  EXPECT_DOUBLE_EQ(state.base_load({0})[Dimension::cpu], 1);
  tell(Usage{{1, 4e9, 0, 0, 0, 0}}, kAllKnown, {});  // less than they were thought to use
  EXPECT_DOUBLE_EQ(load(Dimension::cpu), 1);
  EXPECT_DOUBLE_EQ(state.pod({1, 1})->expected.mean[Dimension::cpu], 0.5);
  EXPECT_DOUBLE_EQ(load(Dimension::receive), 0);
  tell(Usage{{3, 4e9, 5e7, 0, 0, 0}}, kAllKnown, {});  // and back
  EXPECT_DOUBLE_EQ(state.pod({1, 1})->expected.mean[Dimension::cpu], 1);
}

TEST_F(PartlyKnown, APodTooYoungToShowInTheAverageCountsOnTop) {
  state.found(test_pod({3, 1}, shape_asking(100, 1)), {0}, expected, now);
  state.mark_started({3, 1}, now - std::chrono::seconds(10));
  tell(Usage{{2, 4e9, 0, 0, 0, 0}}, kAllKnown, {});
  EXPECT_DOUBLE_EQ(load(Dimension::cpu), 3);
}

TEST_F(PartlyKnown, ForgottenSamplesLeaveThePodsProfilesAndWhatTheNodeUsuallyUsed) {
  const std::vector<PodUsage> idle = {{{1, 1}, Usage{{0.1, 1e8, 0, 0, 0, 0}}},
                                      {{2, 1}, Usage{{0.1, 1e8, 0, 0, 0, 0}}}};
  for (int i = 0; i < 200; ++i) {
    now += std::chrono::seconds(10);
    tell(Usage{{0.5, 1e9, 0, 0, 0, 0}}, kAllKnown, kAllKnown, idle);
  }
  now += std::chrono::seconds(10);
  tell(Usage{{3.7, 1e9, 0, 0, 0, 0}}, kAllKnown, kAllKnown, idle);  // something runs wild, and then silence
  EXPECT_TRUE(state.is_sampled({0}));
  EXPECT_NEAR(load(Dimension::cpu), 3.7, 1e-9);
  state.forget_samples({0}, [&](const PodRecord&) { return expected; });
  EXPECT_FALSE(state.is_sampled({0}));
  EXPECT_NEAR(load(Dimension::cpu), 2.3, 0.1);
  EXPECT_FALSE(state.measured_use({0}));
  EXPECT_EQ(state.pod({1, 1})->samples, 0U);
  EXPECT_NEAR(static_cast<double>(state.columns().utilization[0][0]), load(Dimension::cpu) / 4, 1e-6);
  now += std::chrono::seconds(10);
  tell(Usage{{0.5, 1e9, 0, 0, 0, 0}}, kAllKnown, kAllKnown, idle);
  EXPECT_TRUE(state.is_sampled({0}));
  EXPECT_NEAR(load(Dimension::cpu), 0.5, 1e-9);
}

TEST_F(PartlyKnown, AClockThatIsSetBackMakesNoSampleLastForEver) {
  tell(Usage{{3, 4e9, 0, 0, 0, 0}}, kAllKnown, kAllKnown);
  now -= std::chrono::hours(2);
  tell(Usage{{1, 4e9, 0, 0, 0, 0}}, kAllKnown, kAllKnown);
  EXPECT_EQ(state.measured_at({0}), now);
  EXPECT_EQ(state.last_measured(), now);
}

}  // namespace
}  // namespace evenkeel
