#include "kubernetes/event_recorder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "kubernetes/scripted_connection.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

EventRecord about(const std::string& uid, const std::string& message = "m") {
  EventRecord event;
  event.about = {"shop", "web", uid};
  event.reason = "FailedScheduling";
  event.message = message;
  return event;
}

TEST(EventRecorder, NeverHasMoreUnderWayThanAllowedAndDropsWhatDoesNotFit) {
  ScriptedConnection connection;  // which answers nothing
  EventRecorder recorder(connection, {.most_waiting = 10, .most_in_flight = 4});
  for (int i = 0; i < 100; ++i) recorder.record(about("u"));
  EXPECT_EQ(connection.requests.size(), 4u);
  EXPECT_EQ(recorder.waiting(), 14u);
  EXPECT_EQ(recorder.counts().dropped, 86u);
  connection.give(ScriptedConnection::ok());
  connection.run(0s);
  EXPECT_EQ(connection.requests.size(), 5u);
  EXPECT_EQ(recorder.counts().written, 1u);
}

TEST(EventRecorder, EveryNameIsAnother) {
  ScriptedConnection connection;
  EventRecorder recorder(connection, {.most_in_flight = 1000});
  for (int i = 0; i < 500; ++i) recorder.record(about("u"));
  std::set<std::string> names;
  for (const ApiRequest& request : connection.requests)
    names.insert(json::parse(request.body)["metadata"]["name"]);
  EXPECT_EQ(names.size(), 500u);
  EXPECT_TRUE(names.begin()->starts_with("web."));
}

TEST(EventRecorder, ARepeatCountsOnOneEventAndAnotherMessageIsAnother) {
  ScriptedConnection connection;
  EventRecorder recorder(connection, {});
  for (int i = 0; i < 30; ++i) {
    recorder.record_repeating(about("u"));
    connection.run(10s);
  }
  recorder.record_repeating(about("u", "other"));
  recorder.record_repeating(about("v"));
  int created = 0;
  std::vector<int> counts;
  for (const ApiRequest& request : connection.requests) {
    created += request.method == "POST" ? 1 : 0;
    if (request.method == "PATCH") counts.push_back(json::parse(request.body)["series"]["count"]);
  }
  EXPECT_EQ(created, 3);
  EXPECT_EQ(counts, (std::vector<int>{2, 8, 14, 20, 26}));  // the first repeat, then once a minute
}

TEST(EventRecorder, ASeriesEndsWhenNothingHappensForLong) {
  ScriptedConnection connection;
  EventRecorder recorder(connection, {});
  recorder.record_repeating(about("u"));
  connection.run(10min);
  recorder.record_repeating(about("u"));
  EXPECT_EQ(connection.requests.back().method, "POST");
}

TEST(EventRecorder, SwitchedOffItWritesNothing) {
  ScriptedConnection connection;
  EventRecorder recorder(connection, {.on = false});
  recorder.record(about("u"));
  recorder.record_repeating(about("u"));
  EXPECT_TRUE(connection.requests.empty());
}

}  // namespace
}  // namespace evenkeel::kubernetes
