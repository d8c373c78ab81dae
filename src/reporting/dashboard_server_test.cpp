#include "reporting/dashboard_server.h"

#include <gtest/gtest.h>

#include <string_view>
#include <thread>
#include <vector>

#include "reporting/test_client.h"

namespace evenkeel::reporting {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

using Client = RawClient;

std::unique_ptr<DashboardServer> started(DashboardServer::Options options = {}) {
  if (options.page.empty()) options.page = "<!doctype html><title>Evenkeel</title>";
  auto server = DashboardServer::start(std::move(options));
  EXPECT_TRUE(static_cast<bool>(server)) << (server ? "" : server.error().message);
  return server ? std::move(*server) : nullptr;
}

std::string ask(const DashboardServer& server, std::string_view method, std::string_view path,
                std::string_view host = "localhost") {
  Client client(server.port());
  client.send(std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: " + std::string(host) +
              "\r\nConnection: close\r\n\r\n");
  return client.read_to_end();
}

std::string get(const DashboardServer& server, std::string_view path) { return ask(server, "GET", path); }

constexpr std::string_view kSubscribe = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST(DashboardServer, ServesThePage) {
  const auto server = started();
  const std::string response = get(*server, "/?theme=dark");
  EXPECT_TRUE(has_status(response, 200)) << response;
  EXPECT_NE(response.find("text/html; charset=utf-8"), std::string::npos);
  EXPECT_NE(response.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_NE(response.find("<title>Evenkeel</title>"), std::string::npos);
}

TEST(DashboardServer, ChoosesAFreePortAndSaysWhich) {
  const auto server = started();
  EXPECT_NE(server->port(), 0);
  EXPECT_EQ(server->url(), "http://127.0.0.1:" + std::to_string(server->port()) + "/");
  EXPECT_TRUE(has_status(get(*server, "/healthz"), 200));
}

TEST(DashboardServer, GivesTheLatestStateOnly) {
  const auto server = started();
  EXPECT_TRUE(get(*server, "/api/state").ends_with("\r\n\r\n{}"));
  server->publish(R"({"now_s":1})");
  server->publish(R"({"now_s":2})");
  EXPECT_TRUE(get(*server, "/api/state").ends_with("\r\n\r\n{\"now_s\":2}"));
}

TEST(DashboardServer, KnowsNoOtherPathAndNoOtherMethod) {
  const auto server = started();
  EXPECT_TRUE(has_status(get(*server, "/etc/passwd"), 404));
  EXPECT_TRUE(has_status(get(*server, "/../../etc/passwd"), 404));
  EXPECT_TRUE(has_status(ask(*server, "DELETE", "/nowhere"), 404));
  for (const char* path : {"/", "/api/state", "/api/events", "/healthz"}) {
    const std::string response = ask(*server, "POST", path);
    EXPECT_TRUE(has_status(response, 405)) << path << ": " << response;
    EXPECT_NE(response.find("Allow: GET, HEAD"), std::string::npos);
  }
}

TEST(DashboardServer, AnswersHeadWithoutABody) {
  const auto server = started();
  const std::string response = ask(*server, "HEAD", "/healthz");
  EXPECT_TRUE(has_status(response, 200));
  EXPECT_NE(response.find("Content-Length: 3"), std::string::npos) << response;
  EXPECT_TRUE(response.ends_with("\r\n\r\n"));
}

TEST(DashboardServer, AnswersSeveralRequestsOnOneConnection) {
  const auto server = started();
  Client client(server->port());
  const std::string request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(request + request);  // pipelined
  client.read_until("ok\n");
  client.send("GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_to_end();
  EXPECT_NE(all.find("ok\nHTTP/1.1 200"), std::string::npos) << all;
  EXPECT_NE(all.find("HTTP/1.1 404"), std::string::npos) << all;
}

TEST(DashboardServer, RefusesAHostThatIsNotItself) {
  const auto server = started();
  const std::string port = ":" + std::to_string(server->port());
  for (const std::string& host : {std::string("localhost"), std::string("LocalHost") + port,
                                  "127.0.0.1" + port, "[::1]" + port, std::string("localhost:1")}) {
    EXPECT_TRUE(has_status(ask(*server, "GET", "/api/state", host), 200)) << host;
  }
  for (const char* host : {"evil.example", "evil.example:80", "localhost.evil.example",
                           "127.0.0.1.evil.example", "", "10.0.0.1", "[::2]"}) {
    EXPECT_TRUE(has_status(ask(*server, "GET", "/api/state", host), 403)) << host;
  }
  Client client(server->port());
  client.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(has_status(client.read_to_end(), 403));
}

TEST(DashboardServer, PushesEveryNewStateToAnEventStream) {
  const auto server = started();
  server->publish(R"({"now_s":1})");
  Client client(server->port());
  client.send(kSubscribe);
  const std::string first = client.read_until("data: {\"now_s\":1}\n\n");
  EXPECT_TRUE(has_status(first, 200)) << first;
  EXPECT_NE(first.find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_NE(first.find("data: {\"now_s\":1}\n\n"), std::string::npos) << first;
  server->publish(R"({"now_s":2})");
  EXPECT_NE(client.read_until("data: {\"now_s\":2}\n\n").find("{\"now_s\":2}"), std::string::npos);
}

TEST(DashboardServer, KeepsAnIdleEventStreamAlive) {
  const auto server = started({.heartbeat = 20ms});
  Client client(server->port());
  client.send(kSubscribe);
  EXPECT_NE(client.read_until(": still here\n\n").find(": still here"), std::string::npos);
}

TEST(DashboardServer, DropsAClientThatStopsReading) {
  const auto server = started({.client_timeout = 1s});
  Client slow(server->port()), quick(server->port());
  slow.send(kSubscribe);
  quick.send(kSubscribe);
  quick.read_until("\r\n\r\n");
  // More than the kernel buffers between two sockets, so the write to the slow one has to wait.
  server->publish("\"" + std::string(8 << 20, 'x') + "\"");
  quick.read_until("\"\n\n");
  std::this_thread::sleep_for(1200ms);
  server->publish(R"({"now_s":2})");
  EXPECT_NE(quick.read_until("{\"now_s\":2}").find("{\"now_s\":2}"), std::string::npos);
  EXPECT_EQ(slow.read_to_end().find("{\"now_s\":2}"), std::string::npos);
  EXPECT_TRUE(slow.ended());
}

TEST(DashboardServer, CutsOffARequestThatNeverArrives) {
  const auto server = started({.client_timeout = 100ms});
  Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHo");
  client.read_to_end();
  EXPECT_TRUE(client.ended());
}

TEST(DashboardServer, SaysWhyAPortCannotBeHad) {
  const auto first = started();
  const auto second = DashboardServer::start({.port = first->port()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Error::Kind::unavailable);
  EXPECT_NE(second.error().message.find(std::to_string(first->port())), std::string::npos);
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
}

TEST(DashboardServer, ListensBeyondLoopbackOnlyWhenTold) {
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1"}) {
    const auto server = DashboardServer::start({.address = address});
    ASSERT_FALSE(server) << address;
    EXPECT_EQ(server.error().kind, Error::Kind::invalid);
    EXPECT_NE(server.error().message.find("no authentication"), std::string::npos);
  }
  const auto server = started({.address = "0.0.0.0", .allow_beyond_loopback = true});
  EXPECT_TRUE(has_status(ask(*server, "GET", "/", "127.0.0.1"), 200));
  EXPECT_TRUE(has_status(ask(*server, "GET", "/", "evil.example"), 403));
}

TEST(DashboardServer, NamesAnAddressItCannotRead) {
  const auto server = DashboardServer::start({.address = "my-host"});
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().message.find("'my-host'"), std::string::npos);
}

TEST(DashboardServer, SurvivesRequestsThatAreNotHttp) {
  const auto server = started();
  const std::string nul_bytes(4096, '\0');
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02garbage\r\n\r\n"), nul_bytes, std::string("GET\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"), std::string("GET / HTTP/1.1\r\nHost localhost\r\n\r\n")}) {
    Client client(server->port());
    client.send(garbage);
    EXPECT_TRUE(has_status(client.read_to_end(), 400)) << garbage;
  }
  Client huge(server->port());
  huge.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(1 << 20, 'a'));
  huge.read_to_end();
  EXPECT_TRUE(huge.ended());
  Client wordy(server->port());
  wordy.send("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_TRUE(has_status(wordy.read_to_end(), 413));
  EXPECT_TRUE(has_status(get(*server, "/healthz"), 200));
}

TEST(DashboardServer, RefusesMoreConnectionsThanAllowed) {
  const auto server = started({.max_connections = 2});
  Client first(server->port()), second(server->port());
  first.send(kSubscribe);
  first.read_until("retry");
  second.send(kSubscribe);
  second.read_until("retry");
  Client third(server->port());
  third.read_to_end();
  EXPECT_TRUE(third.ended());
  EXPECT_FALSE(first.ended());
}

TEST(DashboardServer, StopsQuicklyWithTwoHundredConnectionsOpen) {
  const auto server = started();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<Client>(server->port()));
    ASSERT_TRUE(clients.back()->connected());
    if (i % 2 == 0) clients.back()->send(kSubscribe);
  }
  clients[198]->read_until("retry");
  server->publish(R"({"finished":true})");
  const auto before = Clock::now();
  server->stop();
  EXPECT_LT(Clock::now() - before, 2s);
  EXPECT_NE(clients[0]->read_to_end().find("{\"finished\":true}"), std::string::npos)
      << "the last state was lost";
  EXPECT_TRUE(clients[0]->ended());
  clients[1]->read_to_end();
  EXPECT_TRUE(clients[1]->ended());
  EXPECT_FALSE(Client(server->port()).connected());
  server->stop();  // once more does no harm
}

TEST(DashboardServer, TakesStatesFromManyThreads) {
  const auto server = started();
  Client client(server->port());
  client.send(kSubscribe);
  std::vector<std::thread> publishers;
  for (int p = 0; p < 4; ++p) {
    publishers.emplace_back([&server] {
      for (int i = 0; i < 1000; ++i) server->publish(R"({"now_s":1})");
    });
  }
  for (std::thread& publisher : publishers) publisher.join();
  server->publish(R"({"last":true})");
  EXPECT_NE(client.read_until("{\"last\":true}").find("{\"last\":true}"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::reporting
