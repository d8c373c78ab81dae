// The simulated API server is what the fault tests trust, so it is tested first: by its rules, and by the
// real ListWatch following it through every fault it knows.
#include "simulated_api_server.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "kubernetes/list_watch.h"
#include "kubernetes/writes.h"
#include "simulated_connection.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;
using kubernetes::ApiAnswer;
using kubernetes::ListWatch;
using kubernetes::ObjectChange;
namespace types = kubernetes::types;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kHistories = 200;
#else
constexpr std::uint64_t kHistories = 2000;
#endif
constexpr Time kStart{1'800'000'000s};

json pod(const std::string& name, const std::string& node = "") {
  json object = {{"metadata", {{"namespace", "default"}, {"name", name}, {"labels", {{"app", "web"}}}}},
                 {"spec", json::object()},
                 {"status", {{"phase", "Pending"}}}};
  if (!node.empty()) object["spec"]["nodeName"] = node;
  return object;
}

class ApiServer : public testing::Test {
 protected:
  ApiAnswer ask(const kubernetes::ApiRequest& request) { return server.execute("test", request); }
  StoredPtr make(const json& object) { return server.storage().create(pods, object, kStart); }
  kubernetes::PodReference reference(const StoredPtr& made) {
    return {"default", text_at(made->object, {"metadata", "name"}), made->uid};
  }

  VirtualTime clock{kStart};
  SimulatedApiServer server{clock};
  Kind& pods = server.kind(types::pods());
};

TEST_F(ApiServer, BindsAPodOnceAndOnlyThePodThatIsMeant) {
  const StoredPtr made = make(pod("web"));
  auto other = reference(made);
  other.uid = "another";
  EXPECT_EQ(ask(kubernetes::bind_request(other, "n1")).code, 409);
  EXPECT_EQ(ask(kubernetes::bind_request(reference(made), "n1")).code, 201);
  EXPECT_EQ(text_at(pods.objects.at("default/web")->object, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(ask(kubernetes::bind_request(reference(made), "n1")).code, 409);
  EXPECT_EQ(ask(kubernetes::bind_request({"default", "nobody", ""}, "n1")).code, 404);
  json gated = pod("gated");
  gated["spec"]["schedulingGates"] = {{{"name", "wait"}}};
  EXPECT_EQ(ask(kubernetes::bind_request(reference(make(gated)), "n1")).code, 409);
}

TEST_F(ApiServer, LetsARunningPodEndInGraceAndRemovesAWaitingOneAtOnce) {
  const StoredPtr waiting = make(pod("waiting")), running = make(pod("running", "n1"));
  EXPECT_EQ(ask(kubernetes::delete_request(types::pods(), "default", "waiting", "another")).code, 409);
  EXPECT_EQ(ask(kubernetes::delete_request(types::pods(), "default", "waiting", waiting->uid)).code, 200);
  EXPECT_FALSE(pods.objects.contains("default/waiting"));
  EXPECT_EQ(ask(kubernetes::delete_request(types::pods(), "default", "running", running->uid)).code, 200);
  ASSERT_TRUE(pods.objects.contains("default/running"));
  const StoredPtr ending = pods.objects.at("default/running");
  EXPECT_TRUE(ending->object["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(ask(kubernetes::bind_request(reference(ending), "n2")).code, 409);
}

TEST_F(ApiServer, HonoursDisruptionBudgets) {
  Kind& budgets = server.kind(types::pod_disruption_budgets());
  server.storage().create(budgets,
                          {{"metadata", {{"namespace", "default"}, {"name", "web"}}},
                           {"spec", {{"selector", {{"matchLabels", {{"app", "web"}}}}}}},
                           {"status", {{"disruptionsAllowed", 1}}}},
                          kStart);
  const StoredPtr first = make(pod("one", "n1")), second = make(pod("two", "n1"));
  EXPECT_EQ(ask(kubernetes::evict_request(reference(first))).code, 201);
  EXPECT_EQ(ask(kubernetes::evict_request(reference(second))).code, 429);
}

TEST_F(ApiServer, LetsOneOfTwoTakeALease) {
  kubernetes::LeaseRecord lease{"a", 15, kStart, kStart, 0};
  const ApiAnswer made = ask(kubernetes::create_lease_request("kube-system", "evenkeel", lease));
  EXPECT_EQ(made.code, 201);
  EXPECT_EQ(ask(kubernetes::create_lease_request("kube-system", "evenkeel", lease)).code, 409);
  const std::string version = text_at(json::parse(made.body), {"metadata", "resourceVersion"});
  EXPECT_EQ(ask(kubernetes::replace_lease_request("kube-system", "evenkeel", version, lease)).code, 200);
  EXPECT_EQ(ask(kubernetes::replace_lease_request("kube-system", "evenkeel", version, lease)).code, 409);
}

TEST_F(ApiServer, MergesConditionsByTypeAndTellsNobodyOfAPatchThatChangesNothing) {
  const StoredPtr made = make(pod("web"));
  const kubernetes::PodCondition condition{"PodScheduled", "False", "Unschedulable", "0/0 nodes"};
  EXPECT_EQ(ask(kubernetes::pod_condition_request(reference(made), condition, kStart)).code, 200);
  const std::uint64_t version = server.storage().version();
  EXPECT_EQ(ask(kubernetes::pod_condition_request(reference(made), condition, kStart)).code, 200);
  EXPECT_EQ(server.storage().version(), version);
  EXPECT_EQ(pods.objects.at("default/web")->object["status"]["conditions"].size(), 1U);
  auto other = reference(made);
  other.uid = "another";
  EXPECT_EQ(ask(kubernetes::pod_condition_request(other, condition, kStart)).code, 409);
}

TEST_F(ApiServer, ListsInPagesOfOneMomentUntilTheyExpire) {
  for (const char* name : {"a", "b", "c"}) make(pod(name));
  kubernetes::ApiRequest request;
  request.path = "/api/v1/pods?limit=2";
  const json first = json::parse(ask(request).body);
  EXPECT_EQ(first["items"].size(), 2U);
  make(pod("d"));
  request.path = "/api/v1/pods?limit=2&continue=" + text_at(first, {"metadata", "continue"});
  const json second = json::parse(ask(request).body);
  EXPECT_EQ(second["items"].size(), 1U);
  EXPECT_EQ(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
  EXPECT_FALSE(second["metadata"].contains("continue"));
  EXPECT_EQ(ask(request).code, 410);
}

TEST_F(ApiServer, TellsAWatchWithASelectorOfWhatComesIntoItAndLeavesIt) {
  kubernetes::ApiRequest request;
  request.path = "/api/v1/pods?watch=1&resourceVersion=1&fieldSelector=status.phase!=Succeeded";
  const StoredPtr made = make(pod("web"));
  auto [watch, status] = server.open_watch(request);
  ASSERT_EQ(status.code, 0);
  json done = made->object;
  done["status"]["phase"] = "Succeeded";
  server.storage().replace(pods, made, done);
  const auto frames = server.news(watch);
  ASSERT_TRUE(frames && frames->size() == 1);
  EXPECT_TRUE(frames->front().is_deletion);
  server.storage().remove(pods, pods.objects.at("default/web"));
  EXPECT_TRUE(server.news(watch)->empty());
  make(pod("late"));
  server.compact();
  EXPECT_FALSE(server.news(watch)) << "history is gone";
}

TEST_F(ApiServer, TellsAWatchOfOneNodeOfPodsThatComeThereAndOneOfWaitingPodsThatTheyWaitNoLonger) {
  kubernetes::ApiRequest there, waiting;
  there.path = "/api/v1/pods?watch=1&resourceVersion=1&fieldSelector=spec.nodeName%3Dn1";
  waiting.path =
      "/api/v1/pods?watch=1&resourceVersion=1&fieldSelector=spec.nodeName%3D%2Cspec.schedulerName%3Dours";
  json object = pod("web");
  object["spec"]["schedulerName"] = "ours";
  make(pod("first"));
  auto [on_node, on_node_status] = server.open_watch(there);
  auto [of_waiting, of_waiting_status] = server.open_watch(waiting);
  ASSERT_EQ(on_node_status.code + of_waiting_status.code, 0);
  const StoredPtr made = make(object);
  make(pod("other"));
  EXPECT_TRUE(server.news(on_node)->empty());
  auto frames = server.news(of_waiting);
  ASSERT_EQ(frames->size(), 1U);
  EXPECT_EQ(frames->front().object->key, "default/web");
  ask(kubernetes::bind_request(reference(made), "n1"));
  frames = server.news(on_node);
  ASSERT_EQ(frames->size(), 1U);
  EXPECT_TRUE(frames->front().text.starts_with(R"({"type":"ADDED")"));
  frames = server.news(of_waiting);
  ASSERT_EQ(frames->size(), 1U);
  const json left = json::parse(frames->front().text);
  EXPECT_EQ(left["type"], "DELETED");
  EXPECT_FALSE(left["object"]["spec"].contains("nodeName")) << "as it was while it matched";
  EXPECT_EQ(left["object"]["metadata"]["resourceVersion"], std::to_string(server.storage().version()))
      << "under the version that took it away";
}

TEST_F(ApiServer, ListsWhatFieldsSelectAndRefusesFieldsThatKubernetesDoesNotSelectBy) {
  make(pod("here", "n1"));
  make(pod("there", "n2"));
  make(pod("nowhere"));
  const auto names = [&](const std::string& fields) {
    kubernetes::ApiRequest request;
    request.path = "/api/v1/pods?fieldSelector=" + fields;
    const json list = json::parse(ask(request).body);
    std::string text;
    for (const json& item : list["items"]) text += text_at(item, {"metadata", "name"}) + " ";
    return text;
  };
  EXPECT_EQ(names("spec.nodeName%3Dn1"), "here ");
  EXPECT_EQ(names("spec.nodeName%3D"), "nowhere ");
  EXPECT_EQ(names("spec.nodeName!%3D"), "here there ");
  EXPECT_EQ(names("metadata.name%3Dthere"), "there ");
  kubernetes::ApiRequest request;
  request.path = "/api/v1/pods?fieldSelector=spec.priority%3D1";
  EXPECT_EQ(ask(request).code, 400);
  EXPECT_EQ(server.open_watch(request).second.code, 400);
}

TEST_F(ApiServer, KeepsHowOftenALeaseChangedHands) {
  const kubernetes::LeaseRecord lease{"a", 15, kStart, kStart, 6};
  EXPECT_EQ(ask(kubernetes::create_lease_request("kube-system", "evenkeel", lease)).code, 201);
  const Kind& leases = server.kind(types::leases());
  EXPECT_EQ(part(leases.objects.at("kube-system/evenkeel")->object, {"spec", "leaseTransitions"}), 6);
}

TEST_F(ApiServer, TurnsABindingAwayThatNoPolicyAdmits) {
  const StoredPtr made = make(pod("web"));
  server.admits_binding = [](const json& binding) {
    return text_at(binding, {"target", "name"}) == "n1" ? "not there" : "";
  };
  EXPECT_EQ(ask(kubernetes::bind_request(reference(made), "n1")).code, 422);
  EXPECT_EQ(ask(kubernetes::bind_request(reference(made), "n2")).code, 201);
}

// Hears changes and holds them to what a gapless stream promises.
class Mirror {
 public:
  Mirror(SimulatedConnection& line, const kubernetes::ResourceType& type, std::uint64_t seed)
      : follower_(line, type, options(seed),
                  {[this](const ObjectChange& change) { hear(change); }, [] {}, [](const std::string&) {}}) {
    follower_.start();
  }
  void expect_same_as(const Kind& kind) const {
    EXPECT_TRUE(follower_.synced());
    ASSERT_EQ(versions_.size(), kind.objects.size());
    for (const auto& [key, object] : kind.objects) {
      const auto mine = versions_.find(key);
      ASSERT_TRUE(mine != versions_.end()) << key << " was lost";
      EXPECT_EQ(mine->second, std::pair(object->uid, object->version)) << key;
    }
  }

 private:
  static ListWatch::Options options(std::uint64_t seed) {
    ListWatch::Options options;
    options.page_size = 3;
    options.watch_time = 20s;
    options.seed = seed;
    return options;
  }
  void hear(const ObjectChange& change) {
    const auto& identity = change.object.identity;
    const std::string key = identity.key();
    const std::pair mine(identity.uid, std::stoull(identity.resource_version));
    const auto known = versions_.find(key);
    if (change.type == ObjectChange::Type::added) {
      EXPECT_TRUE(known == versions_.end()) << key << " was added twice";
    } else {
      ASSERT_TRUE(known != versions_.end()) << key << " was not there";
      EXPECT_EQ(known->second.first, mine.first) << key << " is another";
    }
    if (change.type == ObjectChange::Type::changed) {
      EXPECT_GT(mine.second, known->second.second) << key << " is no news";
    }
    if (change.type == ObjectChange::Type::deleted) {
      versions_.erase(known);
    } else {
      versions_[key] = mine;
    }
  }

  std::map<std::string, std::pair<std::string, std::uint64_t>> versions_;
  ListWatch follower_;
};

void churn(SimulatedApiServer& server, Kind& kind, Random& random) {
  const std::string name = "o" + std::to_string(random.below(12));
  const auto found = kind.objects.find(kind.type.is_namespaced ? "default/" + name : name);
  if (found == kind.objects.end()) {
    json object = {{"metadata", {{"name", name}}}, {"spec", {{"n", 0}}}};
    if (kind.type.is_namespaced) object["metadata"]["namespace"] = "default";
    server.storage().create(kind, std::move(object), server.clock().now());
  } else if (random.chance(0.3)) {
    server.storage().remove(kind, found->second);
  } else {
    json object = found->second->object;
    object["spec"]["n"] = random.below(1000);
    server.storage().replace(kind, found->second, std::move(object));
  }
}

SimulatedNetwork::Counts follow_one_history(std::uint64_t seed) {
  Random random = Random(seed).fork("history");
  VirtualTime clock(kStart);
  SimulatedApiServer server(clock);
  SimulatedNetwork network(server, Random(seed).fork("network"));
  network.weather = Weather::drawn(random);
  network.max_tries = 1 + static_cast<int>(random.below(8));
  const std::vector<kubernetes::ResourceType> followed{types::pods(), types::nodes()};
  SimulatedConnection line(network, "follower");
  std::vector<std::unique_ptr<Mirror>> mirrors;
  for (const auto& type : followed) mirrors.push_back(std::make_unique<Mirror>(line, type, seed));
  for (int i = 0; i < 150; ++i) {
    churn(server, server.kind(followed[random.below(2)]), random);
    if (random.chance(0.01)) server.compact();
    if (random.chance(0.01)) server.expire_pages();
    if (random.chance(0.01)) network.restart(from_seconds(random.between(0, 20)));
    if (random.chance(0.02) && !line.is_paused()) {
      line.pause();
      clock.after(from_seconds(random.between(0, 30)), [&line] { line.resume(); });
    }
    line.run_for(from_seconds(random.exponential(0.5)), [] { return false; });
  }
  network.weather = {};
  line.run_for(240s, [] { return false; });
  for (std::size_t i = 0; i < followed.size(); ++i) mirrors[i]->expect_same_as(server.kind(followed[i]));
  return network.counts;
}

TEST(ListWatch, LosesAndRepeatsNothingWhateverTheServerDoes) {
  std::uint64_t first = 1, last = kHistories;
  const char* only = std::getenv("EVENKEEL_SEED");
  if (only) first = last = std::strtoull(only, nullptr, 10);
  SimulatedNetwork::Counts all;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const auto counts = follow_one_history(seed);
    if (HasFailure()) FAIL() << "seed " << seed << "; replay it with EVENKEEL_SEED=" << seed;
    all.cut += counts.cut;
    all.stalled += counts.stalled;
    all.repeated += counts.repeated;
    all.expired += counts.expired;
    all.refused += counts.refused;
    all.restarts += counts.restarts;
  }
  if (only) return;
  // A test in which nothing went wrong would say nothing.
  for (const std::uint64_t count :
       {all.cut, all.stalled, all.repeated, all.expired, all.refused, all.restarts})
    EXPECT_GT(count, kHistories / 4);
}

}  // namespace
}  // namespace evenkeel::faults
