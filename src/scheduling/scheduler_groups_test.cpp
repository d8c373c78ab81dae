#include <gtest/gtest.h>

#include "base/random.h"
#include "scheduling/filters/filter.h"
#include "scheduling/network_view.h"
#include "scheduling/test_desk.h"

namespace evenkeel::scheduling {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kSeeds = 100;
#else
constexpr std::uint64_t kSeeds = 1000;
#endif

using namespace std::chrono_literals;

std::shared_ptr<const PodTemplate> member(const std::string& workload, std::int64_t milli_cpu,
                                          bool apart = false) {
  PodSpec spec = spec_of(milli_cpu);
  if (apart) {
    PodAffinityTerm term;
    term.selector.emplace();
    term.selector->requirements.push_back({"app", SelectorOperator::in, {workload}});
    term.topology_key = "kubernetes.io/hostname";
    spec.pod_anti_affinity.required.push_back(term);
  }
  Labels labels;
  labels.set(std::string(kAppGroupLabel), "shop");
  labels.set(std::string(kAppWorkloadLabel), workload);
  labels.set("app", workload);
  return std::make_shared<const PodTemplate>("default", labels, std::vector<OwnerReference>{}, WorkloadId{},
                                             std::move(spec));
}

// a -> b -> c
AppGroup shop(bool gang, std::int32_t members = 1, std::int64_t bits = 0) {
  AppGroup group;
  group.name_space = "default";
  group.name = "shop";
  group.members = members;
  group.gang = gang;
  for (const auto& [from, to] : {std::pair{"a", "b"}, std::pair{"b", "c"}}) {
    AppWorkload workload;
    workload.workload = {"Deployment", from, from, "apps/v1", "default"};
    AppDependency dependency;
    dependency.workload = {"Deployment", to, to, "apps/v1", "default"};
    dependency.min_bandwidth = {bits};
    workload.dependencies.push_back(dependency);
    group.workloads.push_back(workload);
  }
  return group;
}

Node placed_node(std::uint32_t slot, std::uint32_t zones, std::int64_t milli_cpu) {
  Node node = test_node(slot, milli_cpu);
  node.labels.set(std::string(kRegionLabel), "r1");
  node.labels.set(std::string(kZoneLabel), "z" + std::to_string(slot % zones));
  node.labels.set("kubernetes.io/hostname", node.name);
  return node;
}

NetworkTopology zones_apart(std::uint32_t zones, std::int64_t cost,
                            std::optional<std::int64_t> capacity = {}) {
  NetworkTopology topology;
  topology.name_space = "default";
  topology.name = "nt-default";
  NetworkTopology::Level level;
  level.topology_key = kZoneLabel;
  for (std::uint32_t a = 0; a < zones; ++a) {
    NetworkTopology::Origin origin;
    origin.origin = "z" + std::to_string(a);
    for (std::uint32_t b = 0; b < zones; ++b) {
      if (a == b) continue;
      NetworkTopology::Cost to;
      to.destination = "z" + std::to_string(b);
      to.cost = cost;
      if (capacity) to.capacity = BitsPerSecond{*capacity};
      origin.costs.push_back(to);
    }
    level.origins.push_back(origin);
  }
  topology.weights.push_back({"UserDefined", {level}});
  return topology;
}

SchedulingOptions joint() {
  SchedulingOptions options;
  options.joint.on = true;
  options.joint.budget = 20'000;
  return options;
}

struct Desk : TestDesk {
  explicit Desk(std::uint32_t nodes, std::uint32_t zones = 2, std::int64_t milli_cpu = 2000)
      : TestDesk(0, joint()) {
    for (std::uint32_t slot = 0; slot < nodes; ++slot) tell(NodeAdded{placed_node(slot, zones, milli_cpu)});
    tell(ObjectSet{zones_apart(zones, 10)});
  }
  NodeId node_of(PodId id) const { return scheduler.cluster().pod(id)->node; }
};

TEST(JointPlacement, PutsAGroupThatFitsOnOneNodeThere) {
  Desk desk(4);
  desk.tell(ObjectSet{shop(false)});
  desk.add_running({0}, spec_of(1500));
  desk.add_running({1}, spec_of(1000));
  desk.add_running({2}, spec_of(1500));
  const PodId a = desk.add(member("a", 500)), b = desk.add(member("b", 1000)), c = desk.add(member("c", 500));
  desk.steps();
  EXPECT_EQ(desk.node_of(a), NodeId{3});
  EXPECT_EQ(desk.node_of(b), NodeId{3});
  EXPECT_EQ(desk.node_of(c), NodeId{3});
  EXPECT_EQ(desk.scheduler.planned(), 0U);
  EXPECT_TRUE(desk.scheduler.nominations().empty());
}

TEST(JointPlacement, BindsInTheOrderOfTheTopology) {
  Desk desk(2);
  AppGroup group = shop(false);
  group.order = {{"a", 2}, {"b", 1}, {"c", 0}};
  desk.tell(ObjectSet{group});
  desk.add(member("a", 100));
  desk.add(member("b", 100));
  desk.add(member("c", 100));
  EXPECT_EQ(desk.step().substr(0, 7), "bind 2 ");
  EXPECT_EQ(desk.step().substr(0, 7), "bind 1 ");
  EXPECT_EQ(desk.step().substr(0, 7), "bind 0 ");
  EXPECT_EQ(desk.step(), "");
}

TEST(JointPlacement, PlansAgainWhenAPlannedNodeLeaves) {
  Desk desk(4, 2, 2000);
  desk.tell(ObjectSet{shop(false)});
  const PodId a = desk.add(member("a", 1500)), b = desk.add(member("b", 1500)),
              c = desk.add(member("c", 1500));
  desk.step();
  for (std::uint32_t slot = 0; slot < 4; ++slot)
    if (desk.scheduler.cluster().pods_on({slot}).empty() &&
        !desk.scheduler.nominations().on({slot}).empty()) {
      desk.tell(NodeRemoved{{slot}});
      break;
    }
  desk.steps();
  for (const PodId pod : {a, b, c}) EXPECT_NE(desk.place(pod), PodPlace::pending);
}

TEST(JointPlacement, KeepsMatesApartThatWantToBe) {
  Desk desk(3, 2, 4000);
  desk.tell(ObjectSet{shop(false)});
  const PodId first = desk.add(member("b", 100, true)), second = desk.add(member("b", 100, true)),
              third = desk.add(member("b", 100, true)), fourth = desk.add(member("b", 100, true));
  desk.steps();
  std::vector<std::uint32_t> nodes;
  int waiting = 0;
  for (const PodId pod : {first, second, third, fourth})
    desk.place(pod) == PodPlace::pending ? void(++waiting) : nodes.push_back(desk.node_of(pod).slot);
  std::sort(nodes.begin(), nodes.end());
  EXPECT_EQ(nodes, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(waiting, 1);
}

TEST(Gang, WaitsUntilAllMembersAreThere) {
  Desk desk(2);
  desk.tell(ObjectSet{shop(true, 3)});
  const PodId a = desk.add(member("a", 100));
  const PodId b = desk.add(member("b", 100));
  EXPECT_EQ(desk.steps(), "mark 0; mark 1");
  EXPECT_EQ(desk.why, "gang default/shop: waits for 1 of its 3 members, which are not there or not ready");
  const PodId c = desk.add(member("c", 100));
  desk.steps();
  for (const PodId pod : {a, b, c}) EXPECT_NE(desk.place(pod), PodPlace::pending);
}

TEST(Gang, IsPlacedAsAWholeOrNotAtAllAndSaysWhatIsMissing) {
  Desk desk(1, 2, 2000);
  desk.tell(ObjectSet{shop(true, 3)});
  const PodId a = desk.add(member("a", 1000)), b = desk.add(member("b", 1000)),
              c = desk.add(member("c", 1000));
  desk.steps();
  for (const PodId pod : {a, b, c}) EXPECT_EQ(desk.place(pod), PodPlace::pending);
  EXPECT_NE(desk.why.find("2 of 3 members would find a place"), std::string::npos) << desk.why;
  EXPECT_NE(desk.why.find("Insufficient cpu"), std::string::npos) << desk.why;
  EXPECT_TRUE(desk.scheduler.nominations().empty());
  desk.tell(NodeAdded{placed_node(1, 2, 1000)});
  desk.now += 20s;
  desk.steps();
  for (const PodId pod : {a, b, c}) EXPECT_NE(desk.place(pod), PodPlace::pending);
}

TEST(Gang, RetriesAMemberWhoseBindingFailedAndLeavesItsMatesWhereTheyAre) {
  Desk desk(2);
  desk.tell(ObjectSet{shop(true, 3)});
  const PodId a = desk.add(member("a", 500)), b = desk.add(member("b", 500)), c = desk.add(member("c", 500));
  desk.steps();
  const NodeId where = desk.node_of(b);
  desk.tell(PodBound{a, desk.node_of(a)});
  desk.tell(PodBound{b, where});
  desk.tell(BindFailed{c, "conflict"});
  EXPECT_EQ(desk.steps(), "");
  desk.now += 2s;
  desk.steps();
  EXPECT_NE(desk.place(c), PodPlace::pending);
  EXPECT_EQ(desk.node_of(b), where);
}

// Worlds in which anything may fail, judged after every step.
class World {
 public:
  explicit World(std::uint64_t seed)
      : random_(seed), gang_(random_.chance(0.5)), desk_(2 + static_cast<std::uint32_t>(random_.below(4))) {
    desk_.tell(ObjectSet{zones_apart(2, 10, random_.chance(0.5) ? std::optional(kLink) : std::nullopt)});
    members_ = 3 + static_cast<std::int32_t>(random_.below(5));
    desk_.tell(ObjectSet{shop(gang_, members_, random_.chance(0.5) ? 10 : 0)});
  }

  void run() {
    for (std::int32_t i = 0; i < members_; ++i) {
      const char* const workloads[] = {"a", "b", "c"};
      pods_.push_back(
          desk_.add(member(workloads[random_.below(3)],
                           100 + 100 * static_cast<std::int64_t>(random_.below(9)), random_.chance(0.2))));
      if (random_.chance(0.3)) turn();
    }
    for (int i = 0; i < 60; ++i) turn();
    quiet_ = true;
    for (int i = 0; i < 40; ++i) turn();
    judge_end();
  }

 private:
  static constexpr std::int64_t kLink = 40;

  void turn() {
    if (!quiet_) disturb();
    for (int i = 0; i < 50; ++i) {
      const Next next = desk_.scheduler.next(desk_.now);
      if (std::holds_alternative<NothingToDo>(next)) break;
      if (const auto* request = std::get_if<PlacementRequest>(&next)) answer(*request);
    }
    judge_links();
    desk_.now += 1s;
  }

  void answer(const PlacementRequest& request) {
    NodeId node{0};
    while (!request.feasible[node.slot]) ++node.slot;
    ASSERT_TRUE(objections({request.pod, request.cluster, request.demand, request.options}, node).empty());
    const PodId pod = request.pod.id;
    desk_.scheduler.commit(request, node);
    if (!quiet_ && random_.chance(0.2)) {
      failing_.push_back(pod);
      disturbed_ = true;
    } else {
      binding_.push_back({pod, node});
    }
  }

  void disturb() {
    for (const PodId pod : failing_) desk_.tell(BindFailed{pod, "conflict"});
    failing_.clear();
    for (const auto& [pod, node] : binding_) desk_.tell(PodBound{pod, node});
    binding_.clear();
    const std::uint64_t what = random_.below(12);
    if (what == 0 && !pods_.empty()) {
      const std::size_t at = random_.below(pods_.size());
      desk_.tell(PodGone{pods_[at], PodEnd::deleted});
      pods_.erase(pods_.begin() + static_cast<std::ptrdiff_t>(at));
      disturbed_ = true;
    } else if (what == 1) {
      const NodeId node{static_cast<std::uint32_t>(random_.below(6))};
      if (desk_.scheduler.cluster().has_node(node) && desk_.scheduler.cluster().pods_on(node).empty()) {
        desk_.tell(NodeRemoved{node});
        disturbed_ = true;
      }
    } else if (what == 2) {
      desk_.tell(NodeAdded{placed_node(static_cast<std::uint32_t>(random_.below(6)), 2, 2000)});
    }
  }

  // What is on a link is never more than it carries: worked out from where pods are, not from any ledger.
  void judge_links() {
    const ClusterState& cluster = desk_.scheduler.cluster();
    const NetworkView view = view_network(cluster, desk_.scheduler.options().profile.network);
    for (Place a = 1; a < view.places.count(); ++a)
      for (Place b = 1; b < view.places.count(); ++b) booked_ = booked_ || view.room(a, b) < 0;
  }

  void judge_end() {
    const ClusterState& cluster = desk_.scheduler.cluster();
    std::size_t placed = 0;
    for (const PodId pod : pods_) placed += cluster.pod(pod)->place != PodPlace::pending ? 1 : 0;
    if (gang_ && !disturbed_) {
      EXPECT_TRUE(placed == 0 || placed == pods_.size()) << placed << " of " << pods_.size();
    }
    if (!gang_ || placed > 0)
      for (const PodId id : pods_) {
        const Pod& pod = cluster.pod(id)->pod;
        if (cluster.pod(id)->place != PodPlace::pending) continue;
        std::vector<std::uint8_t> feasible(cluster.columns().present);
        const Demand demand = desk_.scheduler.history().demand(pod);
        apply_filters({pod, cluster, demand, desk_.scheduler.options()}, feasible);
        EXPECT_EQ(std::count(feasible.begin(), feasible.end(), 1), 0) << "a pod that fits waits";
      }
    EXPECT_EQ(desk_.scheduler.planned(), 0U);
    EXPECT_TRUE(desk_.scheduler.nominations().empty());
  }

  Random random_;
  bool gang_;
  Desk desk_;
  std::int32_t members_ = 0;
  std::vector<PodId> pods_, failing_;
  std::vector<std::pair<PodId, NodeId>> binding_;
  bool quiet_ = false, disturbed_ = false, booked_ = false;
};

TEST(JointPlacement, HoldsInSeededWorlds) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace evenkeel::scheduling
