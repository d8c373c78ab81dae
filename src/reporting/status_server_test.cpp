#include "reporting/status_server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "reporting/metrics.h"
#include "reporting/process_figures.h"
#include "reporting/test_client.h"

namespace evenkeel::reporting {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

std::unique_ptr<StatusServer> started(StatusServer::Options options = {}) {
  auto server = StatusServer::start(std::move(options));
  EXPECT_TRUE(static_cast<bool>(server)) << (server ? "" : server.error().message);
  return server ? std::move(*server) : nullptr;
}

std::string get(const StatusServer& server, const std::string& target, const std::string& headers = "",
                const std::string& host = "localhost") {
  RawClient client(server.port());
  client.send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers +
              "Connection: close\r\n\r\n");
  return client.read_to_end();
}

std::string body_of(const std::string& response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

HealthCheck well(const std::string& name) {
  return {name, [] { return std::nullopt; }};
}
HealthCheck ill(const std::string& name) {
  return {name, [] { return std::optional<std::string>("the lease was lost"); }};
}

JournalEntry entry_of(const std::string& name_space, const std::string& pod, const std::string& node) {
  JournalEntry entry;
  entry.name_space = name_space;
  entry.pod = pod;
  entry.node = node;
  if (node.empty()) entry.outcome = DecisionOutcome::unschedulable;
  return entry;
}

TEST(StatusServer, AnswersHealthInKubernetesWords) {
  const auto server = started({.live = {well("ping")}, .ready = {well("ping"), well("informer-sync")}});
  EXPECT_EQ(body_of(get(*server, "/livez")), "ok");
  EXPECT_EQ(body_of(get(*server, "/healthz")), "ok");
  EXPECT_EQ(body_of(get(*server, "/readyz")), "ok");
  EXPECT_EQ(body_of(get(*server, "/readyz?verbose")),
            "[+]ping ok\n[+]informer-sync ok\nreadyz check passed\n");
  EXPECT_EQ(body_of(get(*server, "/readyz/ping")), "ok");
  EXPECT_TRUE(has_status(get(*server, "/readyz/nonsense"), 404));
  EXPECT_TRUE(has_status(get(*server, "/readyzzz"), 404));
}

TEST(StatusServer, NamesTheCheckThatFailsAndKeepsTheReasonToItself) {
  const auto server = started({.live = {well("ping")}, .ready = {well("ping"), ill("leaderElection")}});
  const std::string response = get(*server, "/readyz");
  EXPECT_TRUE(has_status(response, 500)) << response;
  EXPECT_EQ(body_of(response),
            "[+]ping ok\n[-]leaderElection failed: reason withheld\nreadyz check failed\n");
  EXPECT_TRUE(has_status(get(*server, "/livez"), 200));
  EXPECT_TRUE(has_status(get(*server, "/readyz/leaderElection"), 500));
  EXPECT_EQ(body_of(get(*server, "/readyz?verbose&exclude=leaderElection")),
            "[+]ping ok\n[+]leaderElection excluded: ok\nreadyz check passed\n");
}

TEST(StatusServer, ShowsMetricsAndTheProcessThatMakesThem) {
  MetricsRegistry registry;
  ProcessFigures process(registry);
  const auto server = started({.metrics = [&] {
    process.refresh();
    return registry.render();
  }});
  const std::string response = get(*server, "/metrics");
  EXPECT_NE(response.find("Content-Type: text/plain; version=0.0.4; charset=utf-8"), std::string::npos);
  for (const char* name : {"\nprocess_cpu_seconds_total 0.", "\nprocess_resident_memory_bytes ",
                           "# TYPE process_cpu_seconds_total counter", "\nprocess_open_fds "})
    EXPECT_NE(response.find(name), std::string::npos) << name << "\n" << response;
  const double start = std::stod(response.substr(response.rfind("process_start_time_seconds ") + 27));
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_LT(start, now + 1);
  EXPECT_GT(start, now - 600);
}

TEST(StatusServer, TellsDecisionsAsAskedFor) {
  DecisionJournal journal({});
  journal.record(entry_of("default", "web-1", "n1"));
  journal.record(entry_of("shop", "web-1", ""));
  journal.record(entry_of("shop", "web-2", "n2"));
  journal.publish();
  const auto server = started({.journal = &journal});
  const auto pods = [&](const std::string& target) {
    const Json answer = Json::parse(body_of(get(*server, target)));
    std::vector<std::string> names;
    for (const Json& decision : answer["decisions"]) names.push_back(decision["pod"]);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(pods("/decisions"), (Names{"shop/web-2", "shop/web-1", "default/web-1"}));
  EXPECT_EQ(pods("/decisions?pod=shop%2Fweb-1"), Names{"shop/web-1"});
  EXPECT_EQ(pods("/decisions/shop/web-2"), Names{"shop/web-2"});
  EXPECT_EQ(pods("/decisions?outcome=unschedulable&limit=5"), Names{"shop/web-1"});
  EXPECT_EQ(pods("/decisions?node=n2"), Names{"shop/web-2"});
  EXPECT_EQ(pods("/decisions/shop/nobody"), Names{});
  const std::string lines = body_of(get(*server, "/decisions?format=lines"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  const std::string refused = get(*server, "/decisions?limit=lots");
  EXPECT_TRUE(has_status(refused, 400));
  EXPECT_NE(refused.find("limit: found 'lots'"), std::string::npos);
}

TEST(StatusServer, KnowsNoOtherPathAndOnlyReads) {
  const auto server = started();
  for (const char* path : {"/", "/decisions", "/metrics", "/../etc/passwd", "/debug/pprof"})
    EXPECT_TRUE(has_status(get(*server, path), 404)) << path;
  EXPECT_EQ(body_of(get(*server, "/configz")), "{}\n");
  RawClient client(server->port());
  client.send("DELETE /configz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(has_status(client.read_to_end(), 405));
}

TEST(StatusServer, ShowsHealthAloneBeyondLoopbackWithoutAToken) {
  DecisionJournal journal({});
  const auto server = started({.address = "0.0.0.0",
                               .live = {well("ping")},
                               .metrics = [] { return "a_total 1\n"; },
                               .journal = &journal});
  EXPECT_TRUE(has_status(get(*server, "/livez", "", "10.1.2.3:10259"), 200));
  for (const char* path : {"/metrics", "/decisions", "/configz", "/"}) {
    const std::string refused = get(*server, path);
    EXPECT_TRUE(has_status(refused, 403)) << path;
    EXPECT_NE(refused.find("--listen-token-file"), std::string::npos);
  }
  const auto wrong = StatusServer::start({.address = "my-host"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, Error::Kind::invalid);
}

TEST(StatusServer, ShowsNothingButHealthToWhoeverLacksTheToken) {
  DecisionJournal journal({});
  const auto server = started({.address = "0.0.0.0",
                               .token = "open-sesame",
                               .live = {well("ping")},
                               .ready = {well("ping")},
                               .metrics = [] { return "a_total 1\n"; },
                               .journal = &journal});
  for (const char* path : {"/livez", "/readyz", "/healthz"})
    EXPECT_TRUE(has_status(get(*server, path, "", "scheduler.kube-system"), 200)) << path;
  for (const char* path : {"/metrics", "/decisions", "/decisions/a/b", "/configz", "/nowhere"}) {
    EXPECT_TRUE(has_status(get(*server, path), 401)) << path;
    for (const char* wrong : {"open-sesam", "open-sesamE", "open-sesame ", "", "open-sesameopen-sesame"})
      EXPECT_TRUE(
          has_status(get(*server, path, "Authorization: Bearer " + std::string(wrong) + "x\r\n"), 401))
          << path << wrong;
    EXPECT_TRUE(has_status(get(*server, path, "Authorization: Basic open-sesame\r\n"), 401));
  }
  EXPECT_EQ(body_of(get(*server, "/metrics", "Authorization: Bearer open-sesame\r\n", "any.name")),
            "a_total 1\n");
}

TEST(StatusServer, RefusesAForeignHostOnLoopback) {
  const auto server = started({.live = {well("ping")}});
  EXPECT_TRUE(has_status(get(*server, "/livez", "", "evil.example"), 403));
}

TEST(StatusServer, OutlivesClientsThatDribbleStareOrTalkNonsense) {
  const auto server = started({.live = {well("ping")}, .max_connections = 8, .client_timeout = 300ms});
  std::vector<std::unique_ptr<RawClient>> lazy;
  for (int i = 0; i < 8; ++i) {
    lazy.push_back(std::make_unique<RawClient>(server->port()));
    lazy.back()->send("GET /livez HTTP/1.1\r\n");
  }
  // A header a byte at a time does not buy more time than a whole one gets.
  const auto begin = Clock::now();
  bool taken = true;
  while (taken && Clock::now() - begin < 5s) {
    for (auto& client : lazy) taken = client->send("X") && taken;
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_LT(Clock::now() - begin, 2s);
  lazy.clear();
  for (const std::string& garbage :
       {std::string("\x16\x03\x01 TLS?"), std::string(100'000, 'A'),
        std::string("GET /decisions?") + std::string(50'000, '%') + " HTTP/1.1\r\n\r\n"}) {
    RawClient client(server->port());
    client.send(garbage + "\r\n\r\n");
    client.read_to_end();
    EXPECT_TRUE(client.ended());
  }
  EXPECT_TRUE(has_status(get(*server, "/livez"), 200));
}

TEST(StatusServer, UnderstandsWhereToListen) {
  const auto at = [](std::string_view text) {
    const auto read = parse_listen_address(text);
    return read ? read->address + " " + std::to_string(read->port) : "refused";
  };
  EXPECT_EQ(at("127.0.0.1:10259"), "127.0.0.1 10259");
  EXPECT_EQ(at("[::1]:80"), "::1 80");
  EXPECT_EQ(at("0.0.0.0:0"), "0.0.0.0 0");
  EXPECT_EQ(at(":8080"), "127.0.0.1 8080");
  EXPECT_EQ(at("8080"), "127.0.0.1 8080");
  for (const char* wrong :
       {"", "localhost", "::1:80", "[::1:80", "[]:80", "1.2.3.4:", "1.2.3.4:99999", "a:b"})
    EXPECT_EQ(at(wrong), "refused") << wrong;
}

}  // namespace
}  // namespace evenkeel::reporting
