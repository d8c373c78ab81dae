#include "kubernetes/writes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace evenkeel::kubernetes {
namespace {

using nlohmann::json;

const PodReference kPod{"shop", "web-1", "u-1"};
const Time kNow{std::chrono::microseconds(1'763'280'000'000'042)};

TEST(Writes, BindsThePodOfThatUidOnly) {
  const auto request = bind_request(kPod, "node-3");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/api/v1/namespaces/shop/pods/web-1/binding");
  const auto body = json::parse(request.body);
  EXPECT_EQ(body["metadata"]["uid"], "u-1");
  EXPECT_EQ(body["target"]["name"], "node-3");
}

TEST(Writes, EvictsThePodOfThatUidOnly) {
  const auto request = evict_request(kPod);
  EXPECT_EQ(request.path, "/api/v1/namespaces/shop/pods/web-1/eviction");
  EXPECT_EQ(json::parse(request.body)["deleteOptions"]["preconditions"]["uid"], "u-1");
}

TEST(Writes, ScalesByTheScaleSubresource) {
  const auto request = scale_request({"apps/v1", "Deployment", "deployments"}, "shop", "web", 7);
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.path, "/apis/apps/v1/namespaces/shop/deployments/web/scale");
  EXPECT_EQ(request.content_type, "application/merge-patch+json");
  EXPECT_EQ(json::parse(request.body), json::parse(R"({"spec":{"replicas":7}})"));
}

TEST(Writes, LeaseTimesHaveMicroseconds) {
  const auto body =
      json::parse(create_lease_request("kube-system", "evenkeel", {"me", 15, kNow, kNow, 2}).body);
  EXPECT_EQ(body["spec"]["renewTime"], "2025-11-16T08:00:00.000042Z");
  EXPECT_EQ(body["spec"]["leaseTransitions"], 2);
}

TEST(Writes, AnEventsNoteIsCutWhereTheApiWouldRefuseItAndNeverWithinACharacter) {
  EventRecord event;
  event.about = kPod;
  for (std::size_t length = 1020; length < 1030; ++length) {
    event.message = std::string(length, 'x') + "ééééé";
    const auto request = event_request(event, kNow);
    const std::string note = json::parse(request.body)["note"];
    EXPECT_LE(note.size(), 1024u);
    EXPECT_TRUE(note.ends_with("..."));
    EXPECT_EQ(note.find("\xef\xbf\xbd"), std::string::npos);
  }
}

TEST(Writes, HostileTextBecomesValidJson) {
  EventRecord event;
  event.about = {"shop", "a\"b", "u"};
  event.message = "\xff\xfe broken";
  EXPECT_TRUE(json::accept(event_request(event, kNow).body));
}

TEST(Writes, NamesAreEscapedInPaths) {
  EXPECT_EQ(types::pods().object("a/b", "c?d", "binding"), "/api/v1/namespaces/a%2Fb/pods/c%3Fd/binding");
  EXPECT_EQ(types::nodes().collection("ignored"), "/api/v1/nodes");
}

}  // namespace
}  // namespace evenkeel::kubernetes
