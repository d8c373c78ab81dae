#include "kubernetes/leader_election.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kubernetes/scripted_connection.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

// A server that keeps one Lease, and two who want it.
class LeaderElectionTest : public ::testing::Test {
 protected:
  LeaderElectionTest() {
    connection.answer = [this](const ApiRequest& request) -> std::optional<ApiAnswer> {
      if (is_down) return ScriptedConnection::silence();
      if (request.method == "GET")
        return stored.is_null() ? ScriptedConnection::refusal(404) : ScriptedConnection::ok(stored.dump());
      json written = json::parse(request.body);
      if (request.method == "POST" && !stored.is_null()) return ScriptedConnection::refusal(409);
      if (request.method == "PUT" &&
          written["metadata"]["resourceVersion"] != stored["metadata"]["resourceVersion"])
        return ScriptedConnection::refusal(409);
      written["metadata"]["resourceVersion"] = std::to_string(++version);
      stored = written;
      return ScriptedConnection::ok(stored.dump());
    };
  }
  static LeaderElector::Options options(const std::string& identity) {
    LeaderElector::Options made;
    made.lease.identity = identity;
    return made;
  }
  std::string holder() { return stored.is_null() ? "" : stored["spec"]["holderIdentity"].get<std::string>(); }

  ScriptedConnection connection;
  json stored;
  int version = 0;
  bool is_down = false;
  LeaderElector::Log quiet = [](const std::string&) {};
};

TEST_F(LeaderElectionTest, TheFirstLeadsAndTheSecondWaits) {
  LeaderElector a(connection, options("a"), quiet), b(connection, options("b"), quiet);
  a.start();
  connection.run(1s);
  b.start();
  connection.run(60s);
  EXPECT_TRUE(a.leads());
  EXPECT_FALSE(b.leads());
  EXPECT_TRUE(b.knows());
  EXPECT_EQ(holder(), "a");
  EXPECT_EQ(stored["spec"]["leaseTransitions"], 0);
}

TEST_F(LeaderElectionTest, TheStandbyTakesOverWhenTheLeaderVanishes) {
  auto a = std::make_unique<LeaderElector>(connection, options("a"), quiet);
  LeaderElector b(connection, options("b"), quiet);
  a->start();
  b.start();
  connection.run(10s);
  ASSERT_TRUE(a->leads());
  a.reset();
  connection.run(10s);
  EXPECT_FALSE(b.leads());  // for all it knows the leader is alive
  connection.run(15s);
  EXPECT_TRUE(b.leads());
  EXPECT_EQ(stored["spec"]["leaseTransitions"], 1);
}

TEST_F(LeaderElectionTest, ALeaderThatCannotRenewStopsBeforeAnotherMayBegin) {
  LeaderElector a(connection, options("a"), quiet);
  a.start();
  connection.run(5s);
  ASSERT_TRUE(a.leads());
  is_down = true;
  connection.run(8s);
  EXPECT_TRUE(a.leads());
  connection.run(3s);
  EXPECT_FALSE(a.leads());
  is_down = false;
  connection.run(10s);
  EXPECT_TRUE(a.leads());
  EXPECT_EQ(stored["spec"]["leaseTransitions"], 0);  // nobody else led meanwhile
}

TEST_F(LeaderElectionTest, AReleasedLeaseIsTakenAtOnce) {
  LeaderElector a(connection, options("a"), quiet), b(connection, options("b"), quiet);
  a.start();
  b.start();
  connection.run(10s);
  bool released = false;
  a.release([&] { released = true; });
  EXPECT_FALSE(a.leads());
  connection.run(100ms);
  EXPECT_TRUE(released);
  EXPECT_EQ(holder(), "");
  connection.run(5s);
  EXPECT_TRUE(b.leads());
  EXPECT_FALSE(a.leads());
}

TEST_F(LeaderElectionTest, ClocksOfOthersDoNotCount) {
  stored = {{"metadata", {{"name", "evenkeel"}, {"resourceVersion", "7"}}},
            {"spec",
             {{"holderIdentity", "b"},
              {"leaseDurationSeconds", 15},
              {"renewTime", "1999-01-01T00:00:00.000000Z"},
              {"leaseTransitions", 4}}}};
  LeaderElector a(connection, options("a"), quiet);
  a.start();
  connection.run(14s);
  EXPECT_FALSE(a.leads());
  connection.run(6s);
  EXPECT_TRUE(a.leads());
  EXPECT_EQ(stored["spec"]["leaseTransitions"], 5);
}

TEST_F(LeaderElectionTest, OfTwoWhoTakeAnExpiredLeaseOneWins) {
  LeaderElector a(connection, options("a"), quiet), b(connection, options("b"), quiet);
  a.start();
  b.start();
  for (int i = 0; i < 300; ++i) {
    connection.run(100ms);
    EXPECT_FALSE(a.leads() && b.leads());
  }
  EXPECT_TRUE(a.leads() || b.leads());
}

TEST_F(LeaderElectionTest, AHolderThatIsProvenDeadIsNotWaitedFor) {
  auto a = std::make_unique<LeaderElector>(connection, options("a"), quiet);
  LeaderElector b(connection, options("b"), quiet);
  a->start();
  connection.run(1s);
  b.start();
  connection.run(1s);
  a.reset();
  b.claim_from("somebody else");
  connection.run(1s);
  EXPECT_FALSE(b.leads()) << "that one does not hold it";
  b.claim_from("a");
  connection.run(10ms);
  EXPECT_TRUE(b.leads());
  EXPECT_EQ(stored["spec"]["leaseTransitions"], 1);
  EXPECT_EQ(b.transitions(), 1);
}

TEST_F(LeaderElectionTest, ALeaseThatWasDeletedDoesNotBeginToCountAnew) {
  stored = {{"metadata", {{"name", "evenkeel"}, {"namespace", "kube-system"}, {"resourceVersion", "1"}}},
            {"spec", {{"holderIdentity", "x"}, {"leaseDurationSeconds", 15}, {"leaseTransitions", 7}}}};
  LeaderElector a(connection, options("a"), quiet);
  a.start();
  connection.run(5s);
  EXPECT_FALSE(a.leads());
  stored = nullptr;
  connection.run(10s);
  EXPECT_TRUE(a.leads());
  EXPECT_EQ(stored["spec"]["leaseTransitions"], 8);
}

TEST_F(LeaderElectionTest, WhoDoesNotLeadLooksAsOftenAsItIsTold) {
  LeaderElector a(connection, options("a"), quiet), b(connection, options("b"), quiet);
  a.start();
  connection.run(1s);
  int looks = 0;
  b.pace_with([&] {
    ++looks;
    return 60s;
  });
  b.start();
  connection.run(50s);
  EXPECT_EQ(looks, 1);
  b.hurry();
  connection.run(1s);
  EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace evenkeel::kubernetes
