#include "kubernetes/reflector.h"

#include <gtest/gtest.h>

#include <map>

namespace evenkeel::kubernetes {
namespace {

using Change = ObjectChange::Type;
using Event = WatchEvent::Type;

WireObject pod(const std::string& name, const std::string& uid, int version) {
  return {{"default", name, uid, std::to_string(version)}, "{}"};
}
WatchEvent event(Event type, WireObject object) { return {type, std::move(object), {}}; }
WatchEvent gone() { return {Event::error, {}, {410, "Expired", "too old resource version", 0}}; }
ListPage page(int version, std::vector<WireObject> items, std::string next = "") {
  return {std::to_string(version), std::move(next), std::move(items), {}};
}

std::string told(const std::vector<ObjectChange>& changes) {
  std::string text;
  for (const ObjectChange& change : changes) {
    const char* const sign = change.type == Change::added ? "+" : change.type == Change::changed ? "~" : "-";
    text +=
        (text.empty() ? "" : " ") + (sign + change.object.identity.name) + ":" + change.object.identity.uid;
  }
  return text;
}

class ReflectorTest : public testing::Test {
 protected:
  Reflector::Request next() { return reflector.next(random); }
  std::string list(ListPage read) { return told(reflector.page_read(std::move(read))); }
  std::string watch(Event type, WireObject object) {
    return told(reflector.event_read(event(type, std::move(object))));
  }

  Reflector reflector;
  Random random{1};
};

TEST_F(ReflectorTest, ListsByPagesThenWatchesFromTheListsVersion) {
  EXPECT_FALSE(next().is_watch);
  EXPECT_EQ(list(page(10, {pod("a", "1", 3)}, "more")), "+a:1");
  EXPECT_FALSE(reflector.synced());
  EXPECT_EQ(next().continue_token, "more");
  EXPECT_EQ(list(page(10, {pod("b", "2", 4)})), "+b:2");
  EXPECT_TRUE(reflector.synced());
  const auto request = next();
  EXPECT_TRUE(request.is_watch);
  EXPECT_EQ(request.resource_version, "10");
  EXPECT_EQ(request.pause, Duration::zero());
}

TEST_F(ReflectorTest, ResumesAnEndedWatchFromTheLastEventOrBookmark) {
  (void)list(page(10, {}));
  (void)next();
  EXPECT_EQ(watch(Event::added, pod("a", "1", 12)), "+a:1");
  reflector.watch_ended();
  EXPECT_EQ(next().resource_version, "12");
  EXPECT_EQ(watch(Event::bookmark, {{"", "", "", "40"}, ""}), "");
  reflector.watch_ended();
  const auto request = next();
  EXPECT_EQ(request.resource_version, "40");
  EXPECT_EQ(request.pause, Duration::zero());
}

TEST_F(ReflectorTest, TellsNothingTwice) {
  (void)list(page(10, {pod("a", "1", 9)}));
  EXPECT_EQ(watch(Event::added, pod("a", "1", 9)), "");
  EXPECT_EQ(watch(Event::modified, pod("a", "1", 11)), "~a:1");
  EXPECT_EQ(watch(Event::modified, pod("a", "1", 11)), "");
  EXPECT_EQ(watch(Event::modified, pod("a", "1", 10)), "");  // late, and older
  EXPECT_EQ(watch(Event::deleted, pod("a", "1", 12)), "-a:1");
  EXPECT_EQ(watch(Event::deleted, pod("a", "1", 12)), "");
}

TEST_F(ReflectorTest, ComparesVersionsAsNumbersNotAsText) {
  (void)list(page(99, {pod("a", "1", 99)}));
  EXPECT_EQ(watch(Event::modified, pod("a", "1", 100)), "~a:1");
}

TEST_F(ReflectorTest, ListsAnewWhenHistoryIsGoneAndTellsWhatItMissed) {
  (void)list(
      page(10, {pod("stays", "1", 1), pod("changes", "2", 2), pod("goes", "3", 3), pod("returns", "4", 4)}));
  (void)next();
  (void)reflector.event_read(gone());
  const auto request = next();
  EXPECT_FALSE(request.is_watch);
  EXPECT_EQ(request.continue_token, "");
  EXPECT_EQ(list(page(50, {pod("stays", "1", 1), pod("changes", "2", 30), pod("new", "5", 31),
                           pod("returns", "6", 32)})),
            "~changes:2 +new:5 -returns:4 +returns:6 -goes:3");
  EXPECT_EQ(next().resource_version, "50");
  EXPECT_EQ(reflector.known(), 4u);
}

TEST_F(ReflectorTest, ListsAnewWhenTheWatchIsRefusedWith410) {
  (void)list(page(10, {}));
  (void)next();
  reflector.refused({410, "Gone", "", 0});
  EXPECT_FALSE(next().is_watch);
}

TEST_F(ReflectorTest, TakesTheListWholeWhenItsPagesExpire) {
  (void)list(page(10, {pod("a", "1", 1)}, "more"));
  reflector.refused({410, "Expired", "the provided continue parameter is too old", 0});
  const auto request = next();
  EXPECT_TRUE(request.whole);
  EXPECT_EQ(request.continue_token, "");
  EXPECT_EQ(list(page(20, {pod("b", "2", 2)})), "+b:2 -a:1");
}

TEST_F(ReflectorTest, GoesOnWithTheSamePageAfterALostConnection) {
  (void)list(page(10, {pod("a", "1", 1)}, "more"));
  reflector.refused({0, "", "connection reset", 0});
  EXPECT_EQ(next().continue_token, "more");
}

TEST_F(ReflectorTest, BacksOffFromAServerThatKeepsFailing) {
  (void)list(page(10, {}));
  Duration last{};
  for (int i = 0; i < 4; ++i) {
    (void)next();
    reflector.refused({500, "InternalError", "", 0});
    const Duration pause = next().pause;
    EXPECT_GT(pause, last / 2);
    last = pause;
    reflector.refused({500, "InternalError", "", 0});
  }
  EXPECT_GT(last, std::chrono::seconds(5));
}

TEST_F(ReflectorTest, WaitsAsLongAsTheServerAsks) {
  reflector.refused({429, "TooManyRequests", "", 17});
  EXPECT_GE(next().pause, std::chrono::seconds(17));
  reflector.refused({429, "TooManyRequests", "", 1'000'000'000});
  EXPECT_LE(next().pause, std::chrono::minutes(5));
}

TEST_F(ReflectorTest, DoesNotSpinOnAServerThatEndsEveryWatchUnread) {
  (void)list(page(10, {}));
  (void)next();
  reflector.watch_ended();
  EXPECT_GT(next().pause, Duration::zero());
}

TEST_F(ReflectorTest, AsksAgainAtOnceAfterAWatchThatHeldThoughNothingHappened) {
  (void)list(page(10, {}));
  for (int i = 0; i < 6; ++i) {
    reflector.refused({0, "", "the connection was lost", 0});
    (void)next();
  }
  reflector.watch_ended(std::chrono::seconds(20));
  EXPECT_EQ(next().pause, Duration::zero());
  reflector.refused({410, "Expired", "", 0});
  EXPECT_LT(next().pause, std::chrono::seconds(2));  // and what came before it is forgotten
}

TEST_F(ReflectorTest, ListsSoonWhereAWatchIsTooOldHoweverMuchFailedBefore) {
  (void)list(page(10, {}));
  for (int i = 0; i < 12; ++i) {
    reflector.refused({0, "", "the connection was lost", 0});
    (void)next();
  }
  reflector.refused({410, "Expired", "", 0});
  const auto request = next();
  EXPECT_FALSE(request.is_watch);
  EXPECT_LE(request.pause, std::chrono::seconds(5));
  EXPECT_GT(request.pause, Duration::zero());
}

TEST_F(ReflectorTest, TakesAKindThatTheServerDoesNotHaveForNoneOfItAndLooksAgainLater) {
  (void)next();
  EXPECT_EQ(told(reflector.absent()), "");
  EXPECT_TRUE(reflector.synced());
  EXPECT_FALSE(next().is_watch);
  EXPECT_EQ(list(page(10, {pod("a", "1", 9)})), "+a:1");
  EXPECT_TRUE(next().is_watch);
  EXPECT_EQ(told(reflector.absent()), "-a:1");  // its definition was deleted
  EXPECT_GE(next().pause, std::chrono::seconds(10));
}

TEST_F(ReflectorTest, BelievesAListWhoseVersionsWentBack) {
  (void)list(page(1000, {pod("a", "1", 900)}));
  (void)reflector.event_read(gone());
  EXPECT_EQ(list(page(50, {pod("a", "1", 40)})), "~a:1");  // etcd was restored from a backup
  EXPECT_EQ(watch(Event::modified, pod("a", "1", 51)), "~a:1");
}

// A server with a history that may be compacted, and a wire that ends watches and repeats events at random.
struct FakeServer {
  struct Entry {
    Event type;
    WireObject object;
  };
  std::map<std::string, WireObject> objects;
  std::vector<Entry> history;
  int version = 1, compacted = 0, uids = 0;

  void change(Random& random) {
    const std::string name = "p" + std::to_string(random.below(12));
    const auto found = objects.find(name);
    ++version;
    if (found == objects.end()) {
      const WireObject created = pod(name, std::to_string(++uids), version);
      objects.emplace(name, created);
      history.push_back({Event::added, created});
    } else if (random.chance(0.4)) {
      found->second.identity.resource_version = std::to_string(version);
      history.push_back({Event::deleted, found->second});
      objects.erase(found);
    } else {
      found->second.identity.resource_version = std::to_string(version);
      history.push_back({Event::modified, found->second});
    }
    if (random.chance(0.03)) compacted = version - static_cast<int>(random.below(4));
  }
};

// What a follower believes, applied change by change; refuses changes that make no sense.
struct Mirror {
  std::map<std::string, std::string> version_of_uid;

  void apply(const std::vector<ObjectChange>& changes) {
    for (const ObjectChange& change : changes) {
      const auto& identity = change.object.identity;
      const bool known = version_of_uid.contains(identity.uid);
      if (change.type == Change::added) {
        ASSERT_FALSE(known) << "added twice: " << identity.uid;
        version_of_uid[identity.uid] = identity.resource_version;
      } else if (change.type == Change::changed) {
        ASSERT_TRUE(known) << "changed but never added: " << identity.uid;
        ASSERT_NE(version_of_uid[identity.uid], identity.resource_version) << "told twice";
        version_of_uid[identity.uid] = identity.resource_version;
      } else {
        ASSERT_TRUE(known) << "deleted but never added, or twice: " << identity.uid;
        version_of_uid.erase(identity.uid);
      }
    }
  }
};

void follow(std::uint64_t seed) {
  Random random(seed);
  FakeServer server;
  Reflector reflector;
  Mirror mirror;
  const auto watch_once = [&](const Reflector::Request& request, bool faulty) {
    const int from = std::stoi(request.resource_version);
    if (from < server.compacted) return reflector.refused({410, "Expired", "", 0});
    for (const auto& entry : server.history) {
      if (std::stoi(entry.object.identity.resource_version) <= from) continue;
      if (faulty && random.chance(0.1)) break;
      mirror.apply(reflector.event_read(event(entry.type, entry.object)));
      if (faulty && random.chance(0.1)) mirror.apply(reflector.event_read(event(entry.type, entry.object)));
    }
    if (faulty && random.chance(0.05)) mirror.apply(reflector.event_read(gone()));
    reflector.watch_ended();
  };
  std::map<std::string, WireObject> snapshot;  // what a list in pages goes on reading
  int snapshot_version = 0;
  const auto list_once = [&](const Reflector::Request& request, bool faulty) {
    const std::string& after = request.continue_token;
    if (after.empty()) {
      snapshot = server.objects;
      snapshot_version = server.version;
    }
    if (faulty && random.chance(0.1)) return reflector.refused({after.empty() ? 500 : 410, "", "", 0});
    ListPage read{std::to_string(snapshot_version), "", {}, {}};
    for (auto place = snapshot.upper_bound(after); place != snapshot.end(); ++place) {
      read.items.push_back(place->second);
      if (request.whole || read.items.size() < 3 || std::next(place) == snapshot.end()) continue;
      read.continue_token = place->first;
      break;
    }
    mirror.apply(reflector.page_read(std::move(read)));
  };
  const auto step = [&](bool faulty) {
    const auto request = reflector.next(random);
    if (request.is_watch) {
      watch_once(request, faulty);
    } else {
      list_once(request, faulty);
    }
  };
  for (int turn = 0; turn < 60; ++turn) {
    for (auto changes = random.below(6); changes > 0; --changes) server.change(random);
    step(true);
  }
  for (int turn = 0; turn < 12; ++turn) step(false);  // faults end: it must catch up
  std::map<std::string, std::string> truth;
  for (const auto& [name, object] : server.objects)
    truth[object.identity.uid] = object.identity.resource_version;
  ASSERT_EQ(mirror.version_of_uid, truth);
}

TEST(Reflector, ArrivesAtTheTruthThroughTwoThousandUnreliableHistories) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    follow(seed);
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace evenkeel::kubernetes
