#include "controllers/constrained_links.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "controllers/test_groups.h"

namespace evenkeel::controllers {
namespace {

using namespace std::chrono_literals;
const LinkId kLink{LinkId::Level::zone, "z1", "z2"};

NetworkPod pod(const std::string& name, const std::string& workload, const std::string& node,
               int priority = 0) {
  NetworkPod made;
  made.name_space = "shop";
  made.name = name;
  made.group = "group";
  made.workload = workload;
  made.node = node;
  made.phase = PodPhase::running;
  made.priority = priority;
  return made;
}

NetworkBook busy_book() {
  NetworkBook book;
  book.set_node("n1", {"west", "z1"});
  book.set_node("n2", {"west", "z2"});
  book.set_group(make_group("KahnSort", {{"web", {"db"}}, {"db", {}}}, {100}));
  book.set_pod(pod("db", "db", "n2", 1000));
  return book;
}

std::vector<std::string> names(const std::vector<LinkEviction>& all) {
  std::vector<std::string> made;
  for (const LinkEviction& one : all) made.push_back(one.pod.name);
  return made;
}

std::vector<LinkEviction> chosen(NetworkBook& book, std::int64_t capacity, std::size_t at_most = 9) {
  const auto links = constrained_links(book.loads(), {{kLink, {capacity}}});
  return links.empty() ? std::vector<LinkEviction>{} : choose_evictions(book, links.front(), at_most);
}

TEST(ConstrainedLinks, AreThoseWithMorePromisedThanTheyCarryByTheSmallestOfTheirCapacities) {
  NetworkTopology topology;
  const auto weights = [](const char* name, std::int64_t capacity) {
    return NetworkTopology::Weights{
        name,
        {{std::string(kZoneLabel), {{"z1", {{"z2", 5, BitsPerSecond{capacity}, {}}, {"z3", 5, {}, {}}}}}},
         {"somebody's/own", {{"z1", {{"z2", 5, BitsPerSecond{1}, {}}}}}}}};
  };
  topology.weights = {weights("UserDefined", 300), weights("mine", 200), weights("NetperfCosts", 100)};
  const auto capacities = link_capacities(topology);
  EXPECT_EQ(capacities, (std::map<LinkId, BitsPerSecond>{{kLink, {200}}}));
  EXPECT_TRUE(constrained_links({{kLink, {200}}}, capacities).empty());
  ASSERT_EQ(constrained_links({{kLink, {201}}}, capacities).size(), 1U);
}

TEST(ConstrainedLinks, AskTheLeastImportantFirstAndNoMoreThanItTakes) {
  NetworkBook book = busy_book();
  book.set_pod(pod("web-1", "web", "n1", 5));
  book.set_pod(pod("web-2", "web", "n1", 3));
  book.set_pod(pod("web-3", "web", "n1", 9));
  EXPECT_EQ(names(chosen(book, 200)), (std::vector<std::string>{"web-2"}));
  EXPECT_EQ(names(chosen(book, 100)), (std::vector<std::string>{"web-2", "web-1"}));
  EXPECT_EQ(names(chosen(book, 0, 2)).size(), 2U);
  EXPECT_TRUE(chosen(book, 300).empty());
}

TEST(ConstrainedLinks, AskOneThatIsEnoughRatherThanSeveralOfTheSameRank) {
  NetworkBook book = busy_book();
  book.set_pod(pod("db", "db", "n2"));  // takes all of it away
  for (int i = 0; i < 4; ++i) book.set_pod(pod("web-" + std::to_string(i), "web", "n1"));
  EXPECT_EQ(names(chosen(book, 100)), (std::vector<std::string>{"db"}));
  EXPECT_EQ(names(chosen(book, 300)).front().substr(0, 4), "web-");  // the smallest that is enough
}

TEST(ConstrainedLinks, SpareTheEldestOfEqualsAndWaitForThoseThatAreLeaving) {
  NetworkBook book = busy_book();
  for (int i = 0; i < 3; ++i) {
    NetworkPod made = pod("web-" + std::to_string(i), "web", "n1");
    made.created = Time(std::chrono::seconds(i));
    book.set_pod(made);
  }
  EXPECT_EQ(names(chosen(book, 200)), (std::vector<std::string>{"web-2"}));
  NetworkPod leaving = pod("web-2", "web", "n1");
  leaving.terminating = true;
  book.set_pod(leaving);
  EXPECT_TRUE(chosen(book, 200).empty());
}

TEST(ConstrainedLinks, NeverAskSystemPodsThoseThatRefuseAndThoseThatNobodyMakesAgain) {
  NetworkBook book = busy_book();
  NetworkPod one = pod("critical", "web", "n1", 2'000'000'000);
  book.set_pod(one);
  one = pod("stays", "web", "n1");
  one.bar = MoveBar::asked_not_to;
  book.set_pod(one);
  one = pod("bare", "web", "n1");
  one.comes_back = false;
  book.set_pod(one);
  one = pod("db", "db", "n2", 1000);
  one.bar = MoveBar::local_storage;
  book.set_pod(one);
  AppGroup system = make_group("KahnSort", {{"web", {"db"}}, {"db", {}}}, {100});
  system.name_space = "kube-system";
  book.set_group(system);
  for (const char* name : {"web", "db"}) {
    one = pod(name, name, std::string(name) == "web" ? "n1" : "n2");
    one.name_space = "kube-system";
    book.set_pod(one);
  }
  EXPECT_EQ(book.loads().at(kLink).count, 400);
  EXPECT_TRUE(chosen(book, 100).empty());
}

TEST(ConstrainedLinks, FitAfterwardsAndWouldNotWithOneEvictionFewerInAThousandSeededWorlds) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    NetworkBook book = busy_book();
    book.set_pod(pod("db", "db", "n2"));
    for (std::uint64_t i = 1 + random.below(12); i > 0; --i)
      book.set_pod(pod("p" + std::to_string(i), random.chance(0.5) ? "web" : "db",
                       random.chance(0.5) ? "n1" : "n2", static_cast<int>(random.below(3))));
    const std::int64_t capacity = static_cast<std::int64_t>(random.below(10)) * 100;
    const auto all = chosen(book, capacity, 99);
    const auto load = [](NetworkBook& of) {
      const auto at = of.loads().find(kLink);
      return at == of.loads().end() ? 0 : at->second.count;
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_GT(load(book), capacity) << seed;
      book.drop_pod(all[i].pod.key());
    }
    ASSERT_LE(load(book), capacity) << seed;
  }
}

}  // namespace
}  // namespace evenkeel::controllers
