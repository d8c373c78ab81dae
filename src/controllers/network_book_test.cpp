#include "controllers/network_book.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/random.h"
#include "controllers/test_groups.h"

namespace evenkeel::controllers {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kSeeds = 100;
#else
constexpr std::uint64_t kSeeds = 1200;
#endif

constexpr BitsPerSecond kMega{1'000'000};

NetworkPod pod(const std::string& name, const std::string& workload, const std::string& node) {
  NetworkPod made;
  made.name_space = "shop";
  made.name = name;
  made.uid = "uid-" + name;
  made.group = "group";
  made.workload = workload;
  made.node = node;
  made.phase = PodPhase::running;
  return made;
}

LinkId zone(const std::string& from, const std::string& to) { return {LinkId::Level::zone, from, to}; }
LinkId region(const std::string& from, const std::string& to) { return {LinkId::Level::region, from, to}; }

class Booked : public testing::Test {
 protected:
  Booked() {
    book.set_node("w1", {"west", "z1"});
    book.set_node("w2", {"west", "z2"});
    book.set_node("w2b", {"west", "z2"});
    book.set_node("e1", {"east", "z3"});
    book.set_node("bare", {});
    book.set_group(make_group("KahnSort", {{"web", {"db"}}, {"db", {}}}, kMega));
  }
  NetworkBook book;
};
using NetworkBookTest = Booked;

TEST_F(NetworkBookTest, ReservesForEveryPairOnTheLinkBetweenTheirPlaces) {
  book.set_pod(pod("web-1", "web", "w1"));
  book.set_pod(pod("web-2", "web", "w1"));
  EXPECT_TRUE(book.loads().empty());
  book.set_pod(pod("db-1", "db", "w2"));
  book.set_pod(pod("db-2", "db", "w2b"));
  book.set_pod(pod("db-3", "db", "e1"));
  book.set_pod(pod("db-4", "db", "w1"));  // the same zone: nothing
  EXPECT_EQ(book.loads(),
            (LinkLoads{{region("west", "east"), {2'000'000}}, {zone("z1", "z2"), {4'000'000}}}));
}

TEST_F(NetworkBookTest, IsTheSameHoweverOftenItIsToldAndWhateverEndedThatItNeverKnew) {
  for (int i = 0; i < 3; ++i) {
    book.set_pod(pod("web-1", "web", "w1"));
    book.set_pod(pod("db-1", "db", "w2"));
    book.drop_pod("shop/stranger");
  }
  EXPECT_EQ(book.loads(), (LinkLoads{{zone("z1", "z2"), {1'000'000}}}));
  book.drop_pod("shop/db-1");
  book.drop_pod("shop/db-1");
  EXPECT_TRUE(book.loads().empty());
}

TEST_F(NetworkBookTest, LetsGoOfWhatPodsHeldThatEndedMovedOrBelongToAnotherGroupNow) {
  book.set_pod(pod("web-1", "web", "w1"));
  book.set_pod(pod("db-1", "db", "w2"));
  NetworkPod changed = pod("db-1", "db", "w2");
  changed.terminating = true;
  book.set_pod(changed);
  EXPECT_EQ(book.loads().size(), 1U);  // until it is gone it talks
  changed.phase = PodPhase::succeeded;
  book.set_pod(changed);
  EXPECT_TRUE(book.loads().empty());
  book.set_pod(pod("db-1", "db", "e1"));
  EXPECT_EQ(book.loads(), (LinkLoads{{region("west", "east"), {1'000'000}}}));
  changed = pod("db-1", "db", "e1");
  changed.group = "other";
  book.set_pod(changed);
  EXPECT_TRUE(book.loads().empty());
}

TEST_F(NetworkBookTest, FollowsLabelsOfNodesAndSpecsOfGroups) {
  book.set_pod(pod("web-1", "web", "w1"));
  book.set_pod(pod("db-1", "db", "w2"));
  book.set_node("w2", {"east", "z3"});
  EXPECT_EQ(book.loads(), (LinkLoads{{region("west", "east"), {1'000'000}}}));
  book.set_group(make_group("KahnSort", {{"db", {"web"}}, {"web", {}}}, {3}));
  EXPECT_EQ(book.loads(), (LinkLoads{{region("east", "west"), {3}}}));
  book.drop_node("w2");
  EXPECT_TRUE(book.loads().empty());
  book.set_node("w2", {"west", "z2"});
  EXPECT_EQ(book.loads(), (LinkLoads{{zone("z2", "z1"), {3}}}));
  book.drop_group("shop/group");
  EXPECT_TRUE(book.loads().empty());
}

TEST_F(NetworkBookTest, LeavesOutNodesWithoutANameForTheirPlace) {
  book.set_pod(pod("web-1", "web", "w1"));
  book.set_pod(pod("db-1", "db", "bare"));
  book.set_pod(pod("db-2", "db", "nowhere"));
  EXPECT_TRUE(book.loads().empty());
}

TEST_F(NetworkBookTest, StopsCountingBeforeANumberOverflows) {
  book.set_group(make_group("KahnSort", {{"web", {"db", "db"}}, {"db", {}}}, {std::int64_t{1} << 61}));
  for (int i = 0; i < 9; ++i) {
    book.set_pod(pod("web-" + std::to_string(i), "web", "w1"));
    book.set_pod(pod("db-" + std::to_string(i), "db", "w2"));
  }
  EXPECT_EQ(book.loads().at(zone("z1", "z2")).count, std::int64_t{1} << 62);
}

TEST_F(NetworkBookTest, SaysWhichGroupsItHasNewsOfOnce) {
  (void)book.take_changed();
  book.set_pod(pod("web-1", "web", "w1"));
  EXPECT_EQ(book.take_changed(), (std::set<std::string>{"shop/group"}));
  book.set_pod(pod("web-1", "web", "w1"));
  EXPECT_TRUE(book.take_changed().empty());
}

// A cluster in which anything happens, a book that hears most of it, and a count pair by pair to judge it by.
class SeededWorld {
 public:
  explicit SeededWorld(std::uint64_t seed) : random_(seed) {}

  void step() {
    const std::string name = "p" + std::to_string(random_.below(30));
    switch (random_.below(8)) {
      case 0:
        return change_node();
      case 1:
        return change_group();
      case 2:
        return end_pod(name);
      default:
        return change_pod(name);
    }
  }
  // What a list does after a watch was lost: everything there is, and the end of everything else.
  void list_again() {
    const auto known = [](const auto& map) {
      std::vector<std::string> keys;
      for (const auto& entry : map) keys.push_back(entry.first);
      return keys;
    };
    for (const std::string& key : known(book_.pods()))
      if (!pods_.contains(key)) book_.drop_pod(key);
    for (const std::string& key : known(book_.groups()))
      if (!groups_.contains(key)) book_.drop_group(key);
    for (const std::string& key : known(book_.places()))
      if (!nodes_.contains(key)) book_.drop_node(key);
    for (const auto& [key, made] : pods_) book_.set_pod(made);
    for (const auto& [key, made] : groups_) book_.set_group(made);
    for (const auto& [key, place] : nodes_) book_.set_node(key, place);
    missed_ = false;
  }
  bool has_missed() const { return missed_; }
  void restart() {
    book_ = NetworkBook();
    list_again();
  }

  LinkLoads counted() const {
    LinkLoads loads;
    for (const auto& [key, from] : pods_)
      for (const auto& [other, to] : pods_) count_pair(from, to, loads);
    return loads;
  }
  LinkLoads booked() { return book_.loads(); }

 private:
  void count_pair(const NetworkPod& from, const NetworkPod& to, LinkLoads& loads) const {
    const auto group = groups_.find(from.group_key());
    if (group == groups_.end() || from.group_key() != to.group_key() || !from.talks() || !to.talks()) return;
    const auto a = nodes_.find(from.node), b = nodes_.find(to.node);
    if (a == nodes_.end() || b == nodes_.end() || a->second == b->second) return;
    const bool same = a->second.region == b->second.region;
    const LinkId link =
        same ? zone(a->second.zone, b->second.zone) : region(a->second.region, b->second.region);
    if (link.origin.empty() || link.destination.empty()) return;
    for (const AppWorkload& one : group->second.workloads)
      for (const AppDependency& edge : one.dependencies)
        if (one.workload.selector == from.workload && edge.workload.selector == to.workload &&
            edge.min_bandwidth.count > 0)
          loads[link] += edge.min_bandwidth;
  }
  // Mostly once, sometimes twice, sometimes not at all.
  template <class Tell>
  void tell(const Tell& say) {
    const double fate = random_.uniform();
    if (fate < 0.05) {
      missed_ = true;
      return;
    }
    say();
    if (fate > 0.9) say();
  }
  void change_node() {
    const std::string name = "n" + std::to_string(random_.below(8));
    if (random_.chance(0.2)) {
      nodes_.erase(name);
      return tell([&] { book_.drop_node(name); });
    }
    const std::string labels[] = {"", "a", "b", "c"};
    nodes_[name] = {labels[random_.below(3)], labels[random_.below(4)]};
    tell([&] { book_.set_node(name, nodes_[name]); });
  }
  void change_group() {
    const std::string name = "g" + std::to_string(random_.below(3)), key = "shop/" + name;
    if (random_.chance(0.2)) {
      groups_.erase(key);
      return tell([&] { book_.drop_group(key); });
    }
    std::vector<std::pair<std::string, std::vector<std::string>>> spec;
    for (std::uint64_t i = 0; i < 4; ++i) {
      std::vector<std::string> next;
      for (std::uint64_t j = 0; j < 5; ++j)
        if (random_.chance(0.4)) next.push_back("w" + std::to_string(j));  // itself and strangers too
      spec.emplace_back("w" + std::to_string(i), next);
    }
    AppGroup group = make_group("KahnSort", spec, {static_cast<std::int64_t>(random_.below(1'000))});
    group.name = name;
    groups_[key] = group;
    tell([&] { book_.set_group(groups_[key]); });
  }
  void change_pod(const std::string& name) {
    NetworkPod made = pod(name, "w" + std::to_string(random_.below(5)), "");
    made.group = "g" + std::to_string(random_.below(3));
    if (random_.chance(0.8)) made.node = "n" + std::to_string(random_.below(9));
    made.phase = static_cast<PodPhase>(random_.below(4));
    made.terminating = random_.chance(0.1);
    pods_[made.key()] = made;
    tell([&] { book_.set_pod(pods_[made.key()]); });
  }
  void end_pod(const std::string& name) {
    pods_.erase("shop/" + name);
    tell([&] { book_.drop_pod("shop/" + name); });
  }

  Random random_;
  std::map<std::string, NetworkPod> pods_;
  std::map<std::string, AppGroup> groups_;
  Places nodes_;
  NetworkBook book_;
  bool missed_ = false;
};

TEST(NetworkBook, EqualsACountFromScratchInTwelveHundredSeededWorldsOfLostAndRepeatedEvents) {
  std::size_t busy = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SeededWorld world(seed);
    for (int i = 0; i < 120; ++i) {
      world.step();
      if (world.has_missed() && i % 10 == 9) world.list_again();
      if (i % 50 == 49) world.restart();
      if (i % 3 == 0 && !world.has_missed()) {
        ASSERT_EQ(world.booked(), world.counted()) << "seed " << seed << ", step " << i;
        busy += world.counted().empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(busy, 3 * kSeeds);
}

}  // namespace
}  // namespace evenkeel::controllers
