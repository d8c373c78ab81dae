#include "kubernetes/client_api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kubernetes/client_test_server.h"
#include "kubernetes/list_watch.h"

namespace evenkeel::kubernetes {
namespace {

using Reply = TestServer::Reply;
using Seen = TestServer::Seen;
using std::chrono::milliseconds;

Result<std::string> no_file(const std::string& path) { return not_found(path); }

std::unique_ptr<ApiClient> client_of(EventLoop& loop, const TestServer& server,
                                     ApiClient::Options options = {}, const std::string& token = "") {
  ClusterAccess access;
  access.server = server.url();
  access.token = token;
  options.backoff = {milliseconds(1), milliseconds(2)};
  auto client = ApiClient::open(loop, access, no_file, options);
  EXPECT_TRUE(client) << client.error().message;
  return *std::move(client);
}

ApiRequest get(const std::string& path) {
  ApiRequest request;
  request.path = path;
  return request;
}
ApiRequest post(const std::string& path) {
  ApiRequest request;
  request.method = "POST";
  request.path = path;
  return request;
}

TEST(ApiClient, KeepsItsConnection) {
  EventLoop loop;
  TestServer server(loop, [](const Seen&) { return Reply{http_reply(200, "{}")}; });
  const auto client = client_of(loop, server, {}, "tok");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client->call_now(get("/api")).code, 200);
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_NE(server.seen()[0].headers.find("Authorization: Bearer tok\r\n"), std::string::npos);
}

TEST(ApiClient, HasAsManyRequestsUnderWayAsConnectionsAndTheRestWait) {
  EventLoop loop;
  TestServer server(loop, [](const Seen&) { return Reply{http_reply(200, "{}")}; });
  const auto client = client_of(loop, server, {.max_connections = 4});
  int answers = 0;
  for (int i = 0; i < 50; ++i) {
    client->call(get("/" + std::to_string(i)),
                 [&](const ApiAnswer& answer) { answers += answer.ok() ? 1 : 0; });
  }
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return answers == 50; }));
  EXPECT_EQ(server.connections(), 4u);
}

TEST(ApiClient, WhatIsUrgentGoesBeforeWhatWaits) {
  EventLoop loop;
  TestServer server(loop, [](const Seen&) { return Reply{http_reply(200, "{}")}; });
  const auto client = client_of(loop, server, {.max_connections = 1});
  int answers = 0;
  for (int i = 0; i < 10; ++i) client->call(get("/slow"), [&](const ApiAnswer&) { ++answers; });
  ApiRequest lease = get("/lease");
  lease.is_urgent = true;
  client->call(lease, [&](const ApiAnswer&) { ++answers; });
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return answers == 11; }));
  EXPECT_NE(server.seen()[1].line.find("/lease"), std::string::npos);
}

TEST(ApiClient, WhatNobodyWantsAnyMoreIsNotSentAndSaysSoForCertain) {
  EventLoop loop;
  TestServer server(loop, [](const Seen&) { return Reply{http_reply(200, "{}")}; });
  const auto client = client_of(loop, server, {.max_connections = 1});
  bool leads = true;
  int sent = 0, unsent = 0;
  for (int i = 0; i < 10; ++i) {
    ApiRequest request = post("/bind");
    request.is_wanted = [&] { return leads; };
    client->call(request, [&](const ApiAnswer& answer) {
      leads = false;
      ++(answer.ok() ? sent : unsent);
      EXPECT_FALSE(answer.is_uncertain);
    });
  }
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return sent + unsent == 10; }));
  EXPECT_LE(server.seen().size(), 2u);  // the second may have gone out before the first was answered
  EXPECT_GE(unsent, 8);
}

TEST(ApiClient, KeepsToItsRateLimit) {
  EventLoop loop;
  TestServer server(loop, [](const Seen&) { return Reply{http_reply(200, "{}")}; });
  ApiClient::Options options;
  options.limit = {100, 5};
  const auto client = client_of(loop, server, options);
  int answers = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 15; ++i) client->call(get("/x"), [&](const ApiAnswer&) { ++answers; });
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return answers == 15; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(99));
}

TEST(ApiClient, TriesAgainWhenTurnedAwayAndTellsARefusalApart) {
  EventLoop loop;
  int asked = 0;
  TestServer server(loop, [&](const Seen& seen) {
    if (seen.line.starts_with("POST /busy")) return Reply{http_reply(++asked < 4 ? 429 : 201, "{}")};
    return Reply{http_reply(409, R"({"code":409,"reason":"AlreadyExists","message":"is there"})")};
  });
  const auto client = client_of(loop, server);
  EXPECT_EQ(client->call_now(post("/busy")).code, 201);
  EXPECT_EQ(asked, 4);
  const ApiAnswer answer = client->call_now(post("/x"));
  EXPECT_EQ(answer.error().kind, Error::Kind::conflict);
  EXPECT_EQ(answer.error().message, "HTTP 409: is there");
  EXPECT_FALSE(answer.is_uncertain);
}

TEST(ApiClient, GivesUpInTheEndAndAtOnceWhereAsked) {
  EventLoop loop;
  TestServer server(loop, [](const Seen&) { return Reply{http_reply(429, "{}")}; });
  const auto client = client_of(loop, server, {.max_tries = 3});
  EXPECT_EQ(client->call_now(post("/x")).code, 429);
  EXPECT_EQ(server.seen().size(), 3u);
  ApiRequest hasty = post("/x");
  hasty.waits_its_turn = false;
  EXPECT_EQ(client->call_now(hasty).code, 429);
  EXPECT_EQ(server.seen().size(), 4u);
}

TEST(ApiClient, AsksAgainWhenTheAnswerWasLostButNeverRepeatsAWrite) {
  EventLoop loop;
  std::size_t lost = 0;
  TestServer server(
      loop, [&](const Seen&) { return lost++ % 2 == 0 ? Reply{"", true} : Reply{http_reply(200, "{}")}; });
  const auto client = client_of(loop, server);
  EXPECT_EQ(client->call_now(get("/x")).code, 200);
  EXPECT_EQ(server.seen().size(), 2u);
  const ApiAnswer answer = client->call_now(post("/x"));
  EXPECT_EQ(answer.code, 0);
  EXPECT_TRUE(answer.is_uncertain);
  EXPECT_TRUE(answer.error().retryable());
  EXPECT_EQ(server.seen().size(), 3u);
}

TEST(ApiClient, NoticesThatAnIdleConnectionWasClosedBeforeItWritesOnIt) {
  EventLoop loop;
  TestServer server(loop, [](const Seen&) { return Reply{http_reply(201, "{}")}; });
  const auto client = client_of(loop, server);
  EXPECT_EQ(client->call_now(post("/x")).code, 201);
  server.close_all();
  (void)loop.run_for(milliseconds(0), [] { return false; });  // the farewell is read
  EXPECT_EQ(client->call_now(post("/x")).code, 201);
  EXPECT_EQ(server.connections(), 2u);
}

TEST(ApiClient, TimesOutOnAServerThatSaysNothing) {
  EventLoop loop;
  TestServer server(loop, [](const Seen&) { return Reply{"", false, true}; });
  const auto client = client_of(loop, server, {.max_tries = 1});
  ApiRequest request = post("/x");
  request.timeout = milliseconds(20);
  const ApiAnswer answer = client->call_now(request);
  EXPECT_EQ(answer.code, 0);
  EXPECT_TRUE(answer.is_uncertain);
}

TEST(ApiClient, SaysWhyNobodyAnswers) {
  EventLoop loop;
  std::string url;
  {
    TestServer closed(loop, [](const Seen&) { return Reply{}; });
    url = closed.url();
  }
  ClusterAccess access;
  access.server = url;
  const auto client = ApiClient::open(loop, access, no_file, {.max_tries = 1});
  ASSERT_TRUE(client);
  const ApiAnswer answer = (*client)->call_now(get("/x"));
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.status.message.find("cannot connect: Connection refused"), std::string::npos)
      << answer.status.message;
}

TEST(ApiClient, RefusesKeysThatAreNone) {
  EventLoop loop;
  ClusterAccess access;
  access.server = "https://127.0.0.1:1";
  access.ca_pem = "not a certificate";
  const auto client = ApiClient::open(loop, access, no_file, {});
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().message.find("certificate-authority"), std::string::npos);
}

std::string event(const std::string& type, const std::string& name, int version) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"namespace":"d","name":")" + name +
         R"(","uid":"u-)" + name + R"(","resourceVersion":")" + std::to_string(version) + "\"}}}\n";
}
std::string list(int version, const std::string& names, const std::string& next = "") {
  std::string items;
  for (const char name : names) {
    const std::string one(1, name);
    items += std::string(items.empty() ? "" : ",") + R"({"metadata":{"namespace":"d","name":")" + one +
             R"(","uid":"u-)" + one + R"(","resourceVersion":"1"}})";
  }
  return http_reply(200, R"({"metadata":{"resourceVersion":")" + std::to_string(version) +
                             R"(","continue":")" + next + R"("},"items":[)" + items + "]}");
}
std::string stream(const std::string& events) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + events;
}

struct Followed {
  std::string told;
  bool synced = false;
  std::vector<std::string> troubles;

  ListWatch::Handlers handlers() {
    ListWatch::Handlers handlers;
    handlers.changed = [this](const ObjectChange& change) {
      const char* const sign = change.type == ObjectChange::Type::added     ? "+"
                               : change.type == ObjectChange::Type::changed ? "~"
                                                                            : "-";
      told += sign + change.object.identity.name;
    };
    handlers.synced = [this] { synced = true; };
    handlers.trouble = [this](const std::string& what) { troubles.push_back(what); };
    return handlers;
  }
};

TEST(ListWatch, FollowsThroughPagesEndedWatchesAndGoneHistory) {
  EventLoop loop;
  std::vector<std::string> script = {
      list(10, "ab", "next page"),
      list(10, "c"),
      stream(event("ADDED", "x", 11) + event("MODIFIED", "a", 12)),    // ends
      stream(event("MODIFIED", "a", 12) + event("DELETED", "b", 13)),  // repeats itself
      stream(R"({"type":"ERROR","object":{"code":410,"reason":"Expired"}})"
             "\n"),  // history is gone
      list(20, "acz"),
      stream(event("ADDED", "y", 21)),
  };
  std::size_t turn = 0;
  TestServer server(loop, [&](const Seen&) {
    if (turn >= script.size()) return Reply{"", false, true};
    const std::string& bytes = script[turn++];
    return Reply{bytes, bytes.find("Connection: close") != std::string::npos};
  });
  const auto client = client_of(loop, server);
  Followed followed;
  ListWatch::Options options;
  options.field_selector = "spec.nodeName=";
  options.format = WireFormat::json;
  options.backoff = {milliseconds(1), milliseconds(2)};
  ListWatch follower(*client, types::pods(), options, followed.handlers());
  follower.start();
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return followed.told.ends_with("+y"); }))
      << followed.told;
  EXPECT_EQ(followed.told, "+a+b+c+x~a-b~a+z-x+y");
  EXPECT_TRUE(followed.synced);
  EXPECT_EQ(follower.counts().lists, 2u);
  const auto& seen = server.seen();
  EXPECT_NE(seen[0].line.find("/api/v1/pods?limit=500&fieldSelector=spec.nodeName%3D "), std::string::npos);
  EXPECT_NE(seen[1].line.find("continue=next%20page"), std::string::npos);
  EXPECT_NE(seen[2].line.find("resourceVersion=10&"), std::string::npos);
  EXPECT_NE(seen[3].line.find("resourceVersion=12&"), std::string::npos);
  EXPECT_NE(seen[4].line.find("resourceVersion=13&"), std::string::npos);
}

TEST(ListWatch, GoesOnAfterAnEventItCannotRead) {
  EventLoop loop;
  int turn = 0;
  TestServer server(loop, [&](const Seen&) {
    if (turn++ == 0) return Reply{list(10, "")};
    return Reply{
        stream(event("ADDED", "a", 11) + "{\"type\":\"ADDED\"}\nrubbish\n" + event("ADDED", "b", 12)), true};
  });
  const auto client = client_of(loop, server);
  Followed followed;
  ListWatch::Options options;
  options.format = WireFormat::json;
  options.backoff = {milliseconds(1), milliseconds(2)};
  ListWatch follower(*client, types::pods(), options, followed.handlers());
  follower.start();
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return followed.told == "+a+b"; }))
      << followed.told;
  EXPECT_EQ(follower.counts().damaged, 2u);
  EXPECT_NE(followed.troubles[0].find("pods: left out"), std::string::npos);
}

TEST(ListWatch, ListsAnewWhenAskedToAndTellsWhatChanged) {
  EventLoop loop;
  int lists = 0;
  TestServer server(loop, [&](const Seen& seen) {
    if (seen.line.find("watch=1") != std::string::npos) return Reply{stream(""), false, true};
    return Reply{++lists == 1 ? list(10, "a") : list(20, "b")};
  });
  const auto client = client_of(loop, server);
  Followed followed;
  ListWatch::Options options;
  options.format = WireFormat::json;
  ListWatch follower(*client, types::pods(), options, followed.handlers());
  follower.start();
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return follower.counts().watches == 1; }));
  bool refreshed = false;
  follower.refresh([&] { refreshed = true; });
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return refreshed; }));
  EXPECT_EQ(followed.told, "+a+b-a");
}

TEST(ListWatch, AListAskedForBeforeItWasToListAnewDoesNotCount) {
  EventLoop loop;
  int lists = 0;
  TestServer server(loop, [&](const Seen& seen) {
    if (seen.line.find("watch=1") != std::string::npos) return Reply{stream(""), false, true};
    return Reply{++lists == 1 ? list(10, "a") : list(20, "b")};
  });
  const auto client = client_of(loop, server);
  Followed followed;
  ListWatch::Options options;
  options.format = WireFormat::json;
  ListWatch follower(*client, types::pods(), options, followed.handlers());
  follower.start();
  bool refreshed = false;
  follower.refresh([&] { refreshed = true; });
  ASSERT_TRUE(loop.run_for(std::chrono::minutes(1), [&] { return refreshed; }));
  EXPECT_EQ(lists, 2);
  EXPECT_EQ(followed.told, "+b");
}

TEST(ListWatch, CanBePutAwayWhileItsAnswersAreUnderWay) {
  EventLoop loop;
  TestServer server(loop, [](const Seen& seen) {
    return Reply{seen.line.find("watch=1") == std::string::npos ? list(10, "a")
                                                                : stream(event("ADDED", "b", 11))};
  });
  const auto client = client_of(loop, server);
  for (int turns = 0; turns < 30; ++turns) {
    Followed followed;
    {
      ListWatch follower(*client, types::pods(), {}, followed.handlers());
      follower.start();
      int left = turns;
      (void)loop.run_for(milliseconds(10), [&] { return left-- == 0; });
    }
    const std::string before = followed.told;
    (void)loop.run_for(milliseconds(0), [] { return false; });
    EXPECT_EQ(followed.told, before);
  }
}

}  // namespace
}  // namespace evenkeel::kubernetes
