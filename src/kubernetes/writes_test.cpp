#include "kubernetes/writes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kubernetes/protobuf_wire.h"

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
    EXPECT_TRUE(note.ends_with(" ..."));
    EXPECT_EQ(note.find("\xef\xbf\xbd"), std::string::npos);
  }
}

// Field `number` of a message, found by its path.
std::string_view field(std::string_view message, std::initializer_list<std::uint32_t> path) {
  for (const std::uint32_t number : path) message = protobuf_bytes(message, number);
  return message;
}
std::string_view raw_of(const ApiRequest& request) {
  EXPECT_EQ(request.content_type, "application/vnd.kubernetes.protobuf");
  EXPECT_TRUE(request.body.starts_with(std::string_view("k8s\0", 4)));
  return protobuf_bytes(std::string_view(request.body).substr(4), 2);
}

TEST(Writes, ABindingInProtobufSaysTheSame) {
  const Annotation why[] = {{"evenkeel.io/decision", "best"}};
  const auto request = bind_request(kPod, "node-3", why, WireFormat::protobuf);
  const auto raw = raw_of(request);
  EXPECT_EQ(field(raw, {1, 1}), "web-1");
  EXPECT_EQ(field(raw, {1, 3}), "shop");
  EXPECT_EQ(field(raw, {1, 5}), "u-1");
  EXPECT_EQ(field(raw, {1, 12, 1}), "evenkeel.io/decision");
  EXPECT_EQ(field(raw, {1, 12, 2}), "best");
  EXPECT_EQ(field(raw, {2, 1}), "Node");
  EXPECT_EQ(field(raw, {2, 3}), "node-3");
  EXPECT_EQ(field(std::string_view(request.body).substr(4), {1, 2}), "Binding");
}

TEST(Writes, AnEventInProtobufSaysTheSame) {
  EventRecord event;
  event.name = "web-1.17";
  event.about = kPod;
  event.reason = "Scheduled";
  event.message = "Successfully assigned";
  const auto request = event_request(event, kNow, WireFormat::protobuf);
  const auto raw = raw_of(request);
  EXPECT_EQ(field(raw, {1, 1}), "web-1.17");
  EXPECT_EQ(field(raw, {7}), "Scheduled");
  EXPECT_EQ(field(raw, {8, 4}), "u-1");
  EXPECT_EQ(field(raw, {10}), "Successfully assigned");
  EXPECT_EQ(field(raw, {11}), "Normal");
  event.message = "\xff";  // no text: JSON can replace it, protobuf cannot say it
  EXPECT_EQ(event_request(event, kNow, WireFormat::protobuf).content_type, "application/json");
}

TEST(Writes, AConditionThatIsNoTransitionKeepsItsTime) {
  PodStatusChange change;
  change.condition = PodCondition{"PodScheduled", "False", "Unschedulable", "why"};
  change.nominated_node = "";
  change.is_transition = false;
  const auto body = json::parse(pod_status_request(kPod, change, kNow).body);
  EXPECT_FALSE(body["status"]["conditions"][0].contains("lastTransitionTime"));
  EXPECT_TRUE(body["status"]["nominatedNodeName"].is_null());
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
