#include "kubernetes/binder.h"

#include <gtest/gtest.h>

#include "kubernetes/scripted_connection.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;

class BinderTest : public ::testing::Test {
 protected:
  BinderTest() {
    feed.apply(types::nodes(), {ObjectChange::Type::added,
                                {{"", "n1", "n", "1"},
                                 R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4"}}})"}});
    feed.apply(types::pods(), {ObjectChange::Type::added, {{"shop", "web", "u1", "2"}, pod_json("u1", "")}});
    feed.events().clear();
    feed.assumed(id(), {0});
    binder.bind({id(), {"shop", "web", "u1"}, "n1"});
  }
  static std::string pod_json(const std::string& uid, const std::string& node) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"web","uid":")" + uid +
           R"("},"spec":{"schedulerName":"evenkeel","containers":[{"name":"c"}])" +
           (node.empty() ? "" : R"(,"nodeName":")" + node + "\"") + "}}";
  }
  PodId id() { return feed.pod_named("shop", "web").value(); }
  void give(ApiAnswer answer) {
    connection.give(std::move(answer));
    connection.run(0s);
  }
  template <class Event>
  bool said() {
    return feed.events().size() == 1 && std::holds_alternative<Event>(feed.events().front());
  }

  ScriptedConnection connection;
  ClusterFeed feed{{{"evenkeel"}, {}, {}}, [](const std::string&) {}};
  int bound = 0, failed = 0;
  Binder binder{connection,
                feed,
                WireFormat::json,
                {[this](const Binder::Binding&) { ++bound; },
                 [this](const Binder::Binding&, const std::string&) { ++failed; }}};
};

TEST_F(BinderTest, AnAnswerConfirms) {
  EXPECT_EQ(binder.outstanding(), 1u);
  give(ScriptedConnection::ok());
  EXPECT_TRUE(said<PodBound>());
  EXPECT_EQ(bound, 1);
  EXPECT_EQ(binder.outstanding(), 0u);
}

TEST_F(BinderTest, ARefusalThatIsCertainFailsAtOnce) {
  give(ScriptedConnection::refusal(403, "Forbidden"));
  EXPECT_TRUE(said<BindFailed>());
  EXPECT_EQ(failed, 1);
}

TEST_F(BinderTest, AConflictIsResolvedByLookingAtThePod) {
  give(ScriptedConnection::refusal(409));
  EXPECT_EQ(connection.requests.back().method, "GET");
  give(ScriptedConnection::ok(pod_json("u1", "n1")));
  EXPECT_TRUE(said<PodBound>());
  EXPECT_EQ(bound, 1);
}

TEST_F(BinderTest, AConflictWithAPodThatWaitsIsAFailure) {
  give(ScriptedConnection::refusal(409));
  give(ScriptedConnection::ok(pod_json("u1", "")));
  EXPECT_TRUE(said<BindFailed>());
}

TEST_F(BinderTest, APodBoundElsewhereIsCountedThere) {
  feed.apply(types::nodes(), {ObjectChange::Type::added,
                              {{"", "n2", "n", "3"}, R"({"metadata":{"name":"n2"},"status":{}})"}});
  feed.events().clear();
  give(ScriptedConnection::refusal(409));
  give(ScriptedConnection::ok(pod_json("u1", "n2")));
  ASSERT_TRUE(said<PodBound>());
  EXPECT_EQ(std::get<PodBound>(feed.events().front()).node, NodeId{1});
  EXPECT_EQ(bound, 0);
}

TEST_F(BinderTest, APodThatIsGoneOrAnotherByNowIsGone) {
  give(ScriptedConnection::refusal(404));
  give(ScriptedConnection::ok(pod_json("u2", "")));
  EXPECT_TRUE(said<PodGone>());
  EXPECT_EQ(binder.outstanding(), 0u);
}

TEST_F(BinderTest, AfterSilenceItFailsOnlyWhenThePodStillWaitsAtASecondLook) {
  give(ScriptedConnection::silence());
  give(ScriptedConnection::ok(pod_json("u1", "")));
  EXPECT_TRUE(feed.events().empty());
  connection.run(5s);
  give(ScriptedConnection::ok(pod_json("u1", "n1")));  // it was on its way after all
  EXPECT_TRUE(said<PodBound>());
}

TEST_F(BinderTest, LooksUntilThereIsAnAnswer) {
  give(ScriptedConnection::silence());
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(connection.unanswered.size(), 1u);
    give(ScriptedConnection::refusal(500));
    EXPECT_TRUE(feed.events().empty());
    connection.run(10s);
  }
  give(ScriptedConnection::refusal(404));
  EXPECT_TRUE(said<PodGone>());
}

TEST_F(BinderTest, APodDeletedMeanwhileIsToldOnce) {
  feed.apply(types::pods(), {ObjectChange::Type::deleted, {{"shop", "web", "u1", "9"}, ""}});
  EXPECT_TRUE(said<PodGone>());
  give(ScriptedConnection::refusal(404));
  give(ScriptedConnection::refusal(404));
  EXPECT_TRUE(said<PodGone>());
  EXPECT_EQ(binder.outstanding(), 0u);
}

}  // namespace
}  // namespace evenkeel::kubernetes
