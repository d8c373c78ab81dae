#include "kubernetes/cluster_feed.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

using Type = ObjectChange::Type;

// A feed and what it said, in short: "added web-1", "bound web-1 n1", …
class ClusterFeedTest : public ::testing::Test {
 protected:
  static ClusterFeed::Options options() {
    ClusterFeed::Options made;
    made.scheduler_names = {"evenkeel"};
    return made;
  }

  static std::string pod_json(const std::string& name, const std::string& uid, const std::string& spec,
                              const std::string& status = "", const std::string& metadata = "") {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":")" + name +
           R"(","uid":")" + uid + "\"" + metadata +
           R"(},"spec":{"schedulerName":"evenkeel","containers":[{"name":"c","image":"i",)" +
           R"("resources":{"requests":{"cpu":"1"}}}])" + spec + R"(},"status":{)" + status + "}}";
  }
  static std::string on(const std::string& node) { return R"(,"nodeName":")" + node + "\""; }

  void pod(Type type, const std::string& name, const std::string& spec, const std::string& status = "",
           const std::string& uid = "u1", const std::string& metadata = "") {
    feed.apply(types::pods(), {type,
                               {{"shop", name, uid, std::to_string(++version)},
                                type == Type::deleted && spec.empty() && status.empty()
                                    ? ""
                                    : pod_json(name, uid, spec, status, metadata)}});
  }
  void node(Type type, const std::string& name, const std::string& labels = "") {
    feed.apply(types::nodes(),
               {type,
                {{"", name, "n-" + name, std::to_string(++version)},
                 R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels +
                     R"(}},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})"}});
  }

  std::string said() {
    std::string text;
    const auto say = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
    for (const ClusterEvent& event : feed.events()) {
      if (const auto* e = std::get_if<NodeAdded>(&event)) say("node " + e->node.name);
      if (std::get_if<NodeUpdated>(&event)) say("node changed");
      if (std::get_if<NodeRemoved>(&event)) say("node left");
      if (const auto* e = std::get_if<PodAdded>(&event)) say("added " + e->pod.name);
      if (const auto* e = std::get_if<PodFound>(&event))
        say("found " + e->pod.name + " on " + std::to_string(e->node.slot));
      if (const auto* e = std::get_if<PodBound>(&event)) say("bound on " + std::to_string(e->node.slot));
      if (std::get_if<PodUpdated>(&event)) say("updated");
      if (std::get_if<PodStarted>(&event)) say("started");
      if (const auto* e = std::get_if<PodGone>(&event))
        say(e->how == PodEnd::completed ? "completed" : e->how == PodEnd::failed ? "failed" : "gone");
      if (const auto* e = std::get_if<BindFailed>(&event)) say("bind failed: " + e->why);
      if (std::get_if<ObjectSet>(&event)) say("object");
      if (std::get_if<ObjectGone>(&event)) say("object gone");
    }
    feed.events().clear();
    return text;
  }
  PodId id(const std::string& name) { return feed.pod_named("shop", name).value(); }

  std::vector<std::string> troubles;
  ClusterFeed feed{options(), [this](const std::string& what) { troubles.push_back(what); }};
  int version = 0;
};

TEST_F(ClusterFeedTest, FollowsAPodFromArrivalToItsEnd) {
  node(Type::added, "n1");
  pod(Type::added, "web", "");
  EXPECT_EQ(said(), "node n1, added web");
  pod(Type::changed, "web", on("n1"));
  EXPECT_EQ(said(), "bound on 0");
  pod(Type::changed, "web", on("n1"), R"("phase":"Running")");
  EXPECT_EQ(said(), "started");
  pod(Type::changed, "web", on("n1"), R"("phase":"Succeeded")");
  EXPECT_EQ(said(), "completed");
  pod(Type::deleted, "web", "");
  EXPECT_EQ(said(), "");
}

TEST_F(ClusterFeedTest, CountsAPodOnceItsNodeIsKnown) {
  pod(Type::added, "web", on("n1"));
  EXPECT_EQ(said(), "");
  node(Type::added, "n1");
  EXPECT_EQ(said(), "node n1, found web on 0");
}

TEST_F(ClusterFeedTest, CountsPodsAgainOnANodeThatCameBackUnderItsName) {
  node(Type::added, "n1");
  pod(Type::added, "web", on("n1"));
  said();
  const PodId before = id("web");
  node(Type::deleted, "n1");
  EXPECT_EQ(said(), "gone, node left");
  node(Type::added, "n1");
  EXPECT_EQ(said(), "node n1, found web on 0");
  EXPECT_NE(id("web"), before);
}

TEST_F(ClusterFeedTest, KeepsAHandleOfANodeThatLeftUntilOurBindingToItEnds) {
  node(Type::added, "n1");
  pod(Type::added, "web", "");
  feed.assumed(id("web"), {0});
  node(Type::deleted, "n1");
  node(Type::added, "n2");
  EXPECT_EQ(feed.node_named("n2"), NodeId{1});
  feed.bind_failed(id("web"), "gone");
  node(Type::added, "n3");
  EXPECT_EQ(feed.node_named("n3"), NodeId{0});
}

TEST_F(ClusterFeedTest, APodReplacedUnderItsNameIsAnother) {
  node(Type::added, "n1");
  pod(Type::added, "web", on("n1"), "", "u1");
  said();
  const PodId before = id("web");
  pod(Type::changed, "web", "", "", "u2");
  EXPECT_EQ(said(), "gone, added web");
  EXPECT_NE(id("web"), before);
  pod(Type::deleted, "web", "", "", "u1");  // late
  EXPECT_EQ(said(), "");
}

TEST_F(ClusterFeedTest, OthersPodsCountOnceTheyAreBound) {
  node(Type::added, "n1");
  said();
  const std::string theirs =
      R"({"metadata":{"namespace":"shop","name":"theirs","uid":"t"},"spec":{"containers":[{"name":"c"}])";
  feed.apply(types::pods(), {Type::added, {{"shop", "theirs", "t", "1"}, theirs + "}}"}});
  said();
  feed.apply(types::pods(),
             {Type::changed, {{"shop", "theirs", "t", "2"}, theirs + R"(,"nodeName":"n1"}})"}});
  EXPECT_EQ(said(), "found theirs on 0");
}

TEST_F(ClusterFeedTest, PodsThatDidNotAskForUsAreNotTold) {
  feed.apply(types::pods(), {Type::added,
                             {{"shop", "theirs", "t", "1"},
                              R"({"metadata":{"namespace":"shop","name":"theirs","uid":"t"},
                                  "spec":{"containers":[{"name":"c"}]}})"}});
  EXPECT_EQ(said(), "");
}

TEST_F(ClusterFeedTest, TerminatingPodsStillCountWhereTheyRunButWaitForNothing) {
  node(Type::added, "n1");
  pod(Type::added, "web", on("n1"));
  pod(Type::added, "late", "", "", "u2");
  said();
  const std::string ending = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  pod(Type::changed, "web", on("n1"), "", "u1", ending);
  EXPECT_EQ(said(), "updated");
  pod(Type::changed, "late", "", "", "u2", ending);
  EXPECT_EQ(said(), "gone");
}

TEST_F(ClusterFeedTest, SaysNothingOfChangesThatSchedulingDoesNotLookAt) {
  node(Type::added, "n1");
  pod(Type::added, "web", on("n1"));
  said();
  pod(Type::changed, "web", on("n1"), R"("conditions":[{"type":"Ready","status":"True"}])");
  node(Type::changed, "n1");
  EXPECT_EQ(said(), "");
}

TEST_F(ClusterFeedTest, PodsThatAreAlikeShareOneTemplateWaitingOrBound) {
  node(Type::added, "n1");
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    // The API server gives every pod a token volume under a name of its own.
    pod(Type::added, "web-" + number,
        R"(,"volumes":[{"name":"kube-api-access-)" + number + R"(","projected":{}}])" +
            (i % 2 == 0 ? on("n1") : ""),
        "", "u" + number);
  }
  EXPECT_EQ(feed.templates(), 1u);
  EXPECT_EQ(feed.pod(id("web-0"))->pod.shape, feed.pod(id("web-1"))->pod.shape);
  EXPECT_TRUE(feed.pod(id("web-1"))->pod.shape->plain);
}

TEST_F(ClusterFeedTest, AnAnswerThatSaysBoundIsNotTakenBackByAnOlderState) {
  node(Type::added, "n1");
  pod(Type::added, "web", "");
  said();
  feed.assumed(id("web"), {0});
  feed.bound(id("web"), "n1");
  EXPECT_EQ(said(), "bound on 0");
  pod(Type::changed, "web", "", R"("conditions":[{"type":"PodScheduled","status":"False"}])");
  EXPECT_EQ(said(), "");
  pod(Type::changed, "web", on("n1"));
  EXPECT_EQ(said(), "");
}

TEST_F(ClusterFeedTest, APodThatAWriteFoundGoneDoesNotComeBack) {
  pod(Type::added, "web", "");
  said();
  feed.vanished(id("web"));
  EXPECT_EQ(said(), "gone");
  pod(Type::changed, "web", "", R"("message":"late")");
  EXPECT_EQ(said(), "");
}

TEST_F(ClusterFeedTest, BoundToANodeNobodyToldOfItNoLongerWaits) {
  pod(Type::added, "web", "");
  said();
  pod(Type::changed, "web", on("n9"));
  EXPECT_EQ(said(), "gone");
  node(Type::added, "n9");
  EXPECT_EQ(said(), "node n9, found web on 0");
}

TEST_F(ClusterFeedTest, WhatCannotBeReadIsCountedNamedOnceAndSkipped) {
  for (int i = 0; i < 3; ++i)
    feed.apply(types::pods(),
               {Type::changed,
                {{"shop", "odd", "u", std::to_string(i)},
                 R"({"metadata":{"namespace":"shop","name":"odd"},"spec":{"containers":7}})"}});
  feed.apply(types::nodes(), {Type::added, {{"", "n1", "u", "1"}, "{"}});
  EXPECT_EQ(feed.unreadable(), 4u);
  ASSERT_EQ(troubles.size(), 2u);
  EXPECT_NE(troubles[0].find("Pod shop/odd"), std::string::npos) << troubles[0];
  EXPECT_EQ(said(), "");
}

TEST_F(ClusterFeedTest, ObjectsAreToldWhenWhatCountsOfThemChanges) {
  const auto set = [&](const std::string& replicas, const std::string& app) {
    return R"({"metadata":{"namespace":"shop","name":"web"},"spec":{"replicas":)" + replicas +
           R"(,"selector":{"matchLabels":{"app":")" + app + R"("}}}})";
  };
  feed.apply(types::replica_sets(), {Type::added, {{"shop", "web", "u", "1"}, set("1", "a")}});
  EXPECT_EQ(said(), "object");
  feed.apply(types::replica_sets(), {Type::changed, {{"shop", "web", "u", "2"}, set("2", "a")}});
  EXPECT_EQ(said(), "");
  feed.apply(types::replica_sets(), {Type::changed, {{"shop", "web", "u", "3"}, set("2", "b")}});
  EXPECT_EQ(said(), "object");
  feed.apply(types::replica_sets(), {Type::deleted, {{"shop", "web", "u", "4"}, ""}});
  EXPECT_EQ(said(), "object gone");
}

class PartitionedFeedTest : public ClusterFeedTest {
 protected:
  PartitionedFeedTest() {
    ClusterFeed::Options ours = options();
    ours.namespaces = {"other"};
    ours.nodes = LabelSelector{{{"pool", SelectorOperator::in, {"a"}}}};
    feed = ClusterFeed(ours, [](const std::string&) {});
  }
};

TEST_F(PartitionedFeedTest, NodesOutsideThePartitionDoNotExist) {
  node(Type::added, "n1", R"("pool":"a")");
  node(Type::added, "n2", R"("pool":"b")");
  EXPECT_EQ(said(), "node n1");
  node(Type::changed, "n1", R"("pool":"b")");
  node(Type::changed, "n2", R"("pool":"a")");
  EXPECT_EQ(said(), "node left, node n2");
}

TEST_F(PartitionedFeedTest, PodsThatWaitInOtherNamespacesAreNotOurs) {
  pod(Type::added, "web", "");
  EXPECT_EQ(said(), "");
}

}  // namespace
}  // namespace evenkeel::kubernetes
