// Both ends of a measured path, and what they do with others.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "messaging/dial.h"
#include "messaging/probe_client.h"
#include "messaging/probe_server.h"
#include "messaging/rate_meter.h"
#include "messaging/test_certificates.h"

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;

TlsFiles probe_files(const TestAuthority& authority, const std::string& node) {
  return authority.issue("probe-" + node, std::string(kProbeName) + node);
}

TlsContext context_of(const TlsFiles& files) {
  auto context = TlsContext::read(files, TlsContext::Role::peer);
  EXPECT_TRUE(context) << context.error().message;
  return *std::move(context);
}

class Probes : public testing::Test {
 protected:
  Probes() { listen({}); }

  void listen(ProbeServer::Options options) {
    server.reset();
    options.address = "127.0.0.1:0";
    options.tls = probe_files(authority, "n2");
    options.turn = &turn;
    options.budget = &budget;
    auto made = ProbeServer::listen(std::move(options));
    ASSERT_TRUE(made) << made.error().message;
    server = *std::move(made);
    server->set_members({"n1", "n2"});
  }
  ProbeOutcome probe(const TlsFiles& files, const ProbeSize& size = {}, const std::string& node = "n2") {
    return probe_peer(context_of(files), {node, *parse_host_port(server->address())}, size, stopping);
  }
  ProbeServer::Counts counts_when(const std::function<bool(const ProbeServer::Counts&)>& holds) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!holds(server->counts()) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(5ms);
    return server->counts();
  }
  Descriptor stranger() {
    auto socket = dial(*parse_host_port(server->address()), 5s, [](int fd) {
      pollfd one{.fd = fd, .events = POLLOUT, .revents = 0};
      return ::poll(&one, 1, 5000) > 0;
    });
    EXPECT_TRUE(socket);
    return socket ? *std::move(socket) : Descriptor();
  }

  TestAuthority authority;
  ProbeTurn turn;
  TrafficBudget budget{1e-3, 1e10};
  std::unique_ptr<ProbeServer> server;
  std::atomic<bool> stopping{false};
};

TEST_F(Probes, MeasureRoundTripsAndBandwidth) {
  const ProbeOutcome outcome = probe(probe_files(authority, "n1"),
                                     {.trips = 50, .trips_within = 60s, .data = 8 << 20, .data_within = 60s});
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_FALSE(outcome.is_busy);
  ASSERT_EQ(outcome.round_trips_us.size(), 50U);
  EXPECT_TRUE(std::ranges::all_of(outcome.round_trips_us, [](double us) { return us > 0; }));
  EXPECT_GT(outcome.bits_per_second, 1e6);
  EXPECT_GT(outcome.traffic.written, 8U << 20);
  EXPECT_LT(outcome.traffic.written + outcome.traffic.read, bytes_of_test(50, 8 << 20));
  const auto counts = counts_when([](const auto& now) { return now.received > 0; });
  EXPECT_EQ(counts.tests, 1U);
  EXPECT_GT(counts.received, 8U << 20);
  EXPECT_TRUE(turn.take()) << "its turn was given back";
}

TEST_F(Probes, EndEarlyWhereTheWayIsLong) {
  const ProbeOutcome outcome =
      probe(probe_files(authority, "n1"), {.trips = 1'000'000, .trips_within = 50ms});
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_GE(outcome.round_trips_us.size(), 1U);
  EXPECT_LT(outcome.round_trips_us.size(), 1'000'000U);
}

TEST_F(Probes, WorkWithCertificatesOfClientsAlone) {
  // As the signer of a cluster's clients gives them: the end that answers has no server's certificate either.
  listen({});
  EXPECT_EQ(probe(probe_files(authority, "n1"), {.trips = 1}).trouble, "");
}

TEST_F(Probes, AreRefusedWithAnotherAuthoritysCertificate) {
  const TestAuthority foreign;
  TlsFiles files = probe_files(foreign, "n1");
  files.authority = authority.folder() + "/ca.pem";
  EXPECT_NE(probe(files, {.trips = 1}).trouble, "");
  EXPECT_EQ(counts_when([](const auto& now) { return now.refused_unauthenticated > 0; }).tests, 0U);
}

TEST_F(Probes, AreRefusedToMonitorsAndToNodesThatAreNotOurs) {
  EXPECT_NE(probe(authority.monitor("n1"), {.trips = 1}).trouble, "");
  EXPECT_GE(
      counts_when([](const auto& now) { return now.refused_unauthenticated > 0; }).refused_unauthenticated,
      1U);
  EXPECT_NE(probe(probe_files(authority, "n7"), {.trips = 1}).trouble, "");
  EXPECT_EQ(counts_when([](const auto& now) { return now.refused_no_member > 0; }).refused_no_member, 1U);
  EXPECT_EQ(server->counts().tests, 0U);
}

TEST_F(Probes, DoNotTakeANodeForAnother) {
  const ProbeOutcome outcome = probe(probe_files(authority, "n1"), {.trips = 1}, "n3");
  EXPECT_NE(outcome.trouble.find("evenkeel:netprobe:n3"), std::string::npos) << outcome.trouble;
}

TEST_F(Probes, AreToldToComeAgainWhileTheNodeIsInATest) {
  ASSERT_TRUE(turn.take());
  EXPECT_TRUE(probe(probe_files(authority, "n1"), {.trips = 1}).is_busy);
  turn.give_back();
  EXPECT_FALSE(probe(probe_files(authority, "n1"), {.trips = 1}).is_busy);
  EXPECT_EQ(server->counts().busy, 1U);
}

TEST_F(Probes, AreToldToComeAgainWhereTheBudgetIsSpent) {
  ASSERT_TRUE(budget.take(1e10, 1h));
  EXPECT_TRUE(probe(probe_files(authority, "n1"), {.trips = 1}).is_busy);
  budget.settle(1e10, 0);
  EXPECT_FALSE(probe(probe_files(authority, "n1"), {.trips = 1}).is_busy);
}

TEST_F(Probes, StrangersAreFewAndDoNotLast) {
  listen({.address = {}, .tls = {}, .handshake_within = 2s});
  std::vector<Descriptor> crowd;
  for (int i = 0; i < 5; ++i) crowd.push_back(stranger());
  const auto counts = counts_when([](const auto& now) { return now.refused_crowd >= 3; });
  EXPECT_EQ(counts.refused_crowd, 3U) << "two of an address are let in, no more";
  EXPECT_EQ(
      counts_when([](const auto& now) { return now.refused_unauthenticated >= 2; }).refused_unauthenticated,
      2U);
  EXPECT_EQ(probe(probe_files(authority, "n1"), {.trips = 1}).trouble, "") << "there is room again";
}

TEST_F(Probes, ThatSayNothingMoreAreCutOffAndGiveTheirTurnBack) {
  listen({.address = {}, .tls = {}, .test_within = 1s});
  const ProbeOutcome outcome =
      probe(probe_files(authority, "n1"), {.trips = 1'000'000'000, .trips_within = 10min, .patience = 60s});
  EXPECT_NE(outcome.trouble, "") << "longer than a test may take";
  EXPECT_FALSE(probe(probe_files(authority, "n1"), {.trips = 1}).is_busy);
}

TEST_F(Probes, EndWhenToldTo) {
  std::thread end([&] {
    std::this_thread::sleep_for(100ms);
    server.reset();
    stopping = true;
  });
  const auto files = probe_files(authority, "n1");
  const auto context = context_of(files);
  const auto where = *parse_host_port(server->address());
  const ProbeOutcome outcome = probe_peer(
      context, {"n2", where}, {.trips = 1'000'000'000, .trips_within = 10min, .patience = 10min}, stopping);
  end.join();
  EXPECT_NE(outcome.trouble, "");
}

TEST(RateMeter, LeavesTheFirstQuarterOut) {
  RateMeter meter;
  for (int i = 0; i < 25; ++i) meter.add(100'000, 0s);  // a burst
  for (int i = 1; i <= 75; ++i) meter.add(100'000, i * 10ms);
  EXPECT_NEAR(meter.bits_per_second(), 80e6, 2e6);
  EXPECT_EQ(RateMeter().bits_per_second(), 0);
}

TEST(ProbeWire, ReadsWhatItWroteAndNothingElse) {
  const auto data = write_probe_request({.kind = ProbeRequest::Kind::data, .amount = 1000});
  EXPECT_EQ(read_probe_request(data)->amount, 1000U);
  EXPECT_FALSE(read_probe_request(write_probe_request({.kind = ProbeRequest::Kind::data, .amount = 0})));
  EXPECT_FALSE(
      read_probe_request(write_probe_request({.kind = ProbeRequest::Kind::data, .amount = 1 << 20})));
  EXPECT_FALSE(read_probe_request(std::string(kProbeRequest, 'x')));
  EXPECT_FALSE(read_probe_request("H"));
  const auto rate = write_probe_answer({.kind = ProbeAnswer::Kind::rate, .bits_per_second = 12'345'678});
  EXPECT_EQ(read_probe_answer(rate)->bits_per_second, 12'345'678);
  EXPECT_FALSE(read_probe_answer(std::string(kProbeAnswer, '\0')));
}

}  // namespace
}  // namespace evenkeel::messaging
