// Sender and receiver over real sockets.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include "messaging/report_receiver.h"
#include "messaging/report_sender.h"
#include "messaging/report_wire.h"
#include "messaging/test_certificates.h"
#include "messaging/tls_session.h"

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;

bool wait_until(const std::function<bool()>& holds, std::chrono::seconds patience = 20s) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

NodeReport report_of(const std::string& node, double cpu = 1) {
  NodeReport report;
  report.node = node;
  report.total[Dimension::cpu] = cpu;
  return report;
}

ReportFrame frame_of(const std::string& node, std::uint64_t sequence) {
  ReportFrame frame;
  frame.stream = 7;
  frame.sequence = sequence;
  frame.sent = ReportSender::steady_now();
  frame.report = report_of(node, static_cast<double>(sequence));
  return frame;
}

std::string bytes_of(const ReportFrame& frame) {
  std::string bytes;
  EXPECT_TRUE(write_frame(frame, bytes));
  return bytes;
}

int connect_to(const std::string& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return fd;
}

// A client that sends what it is told, true or not. The socket blocks, so every step ends at once.
class RawClient {
 public:
  RawClient(const std::string& address, const TlsFiles& files) : fd_(connect_to(address)) {
    auto context = TlsContext::read(files, TlsContext::Role::client);
    EXPECT_TRUE(context);
    session_ = std::make_unique<TlsSession>(*context, fd_, "127.0.0.1");
    is_connected_ = session_->shake_hands() == TlsSession::Step::done;
  }
  ~RawClient() { ::close(fd_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes) const {
    std::size_t count = 0;
    (void)session_->write(bytes, count);
  }
  bool is_cut_off() const {
    char nothing[16];
    std::size_t count = 0;
    const auto step = session_->read(nothing, sizeof nothing, count);
    return step == TlsSession::Step::closed || step == TlsSession::Step::failed;
  }
  bool is_connected() const { return is_connected_; }

 private:
  int fd_;
  std::unique_ptr<TlsSession> session_;
  bool is_connected_ = false;
};

class ReportStream : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { (void)std::signal(SIGPIPE, SIG_IGN); }

  void listen(const std::function<void(ReportReceiver::Options&)>& change = [](auto&) {}) {
    ReportReceiver::Options options;
    options.address = "127.0.0.1:0";
    options.tls = authority_.server();
    options.now = [this] { return Time(Duration(now_.load())); };
    change(options);
    auto listening = ReportReceiver::listen(std::move(options));
    ASSERT_TRUE(listening) << listening.error().message;
    receiver_ = *std::move(listening);
  }
  std::unique_ptr<ReportSender> sender(const TlsFiles& files, const std::string& to = "") const {
    ReportSender::Options options;
    options.to = to.empty() ? receiver_->address() : to;
    options.tls = files;
    options.first_pause = 20ms;
    options.longest_pause = 100ms;
    options.say = [](const std::string& text) { std::cerr << "  sender: " << text << '\n'; };
    auto opened = ReportSender::open(std::move(options));
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }
  bool counts(std::uint64_t ReportReceiver::Counts::* what, std::uint64_t least) const {
    return wait_until([&] { return receiver_->counts().*what >= least; });
  }

  TestAuthority authority_;
  std::atomic<std::int64_t> now_{1'000'000'000};  // microseconds
  std::unique_ptr<ReportReceiver> receiver_;
};

using Counts = ReportReceiver::Counts;

TEST_F(ReportStream, CarriesAReportWithItsAge) {
  std::atomic<int> woken = 0;
  listen([&](ReportReceiver::Options& options) { options.arrived = [&] { ++woken; }; });
  const auto sending = sender(authority_.monitor("node-1"));
  NodeReport report = report_of("node-1", 1.25);
  report.pods = {{.uid = "p", .name_space = "", .name = "", .usage = {{0.5, 1024, 0, 0, 0, 0}}}};
  sending->send(report, ReportSender::steady_now() - 3s);
  ASSERT_TRUE(counts(&Counts::reports, 1));
  const auto taken = receiver_->take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(woken, 1);
  EXPECT_NEAR(to_seconds(taken[0].measured.time_since_epoch()), 1000 - 3, 0.5);
  report.measured = taken[0].measured;
  EXPECT_EQ(taken[0], report);
}

TEST_F(ReportStream, SaysHowOldASampleIsWhateverTheClocksSay) {
  listen();
  const auto sending = sender(authority_.monitor("node-1"));
  sending->send(report_of("node-1"), ReportSender::steady_now());
  ASSERT_TRUE(counts(&Counts::reports, 1));
  now_ -= 3'600'000'000;  // the reader's clock is set back an hour: its reports are as fresh as before
  sending->send(report_of("node-1", 2), ReportSender::steady_now());
  ASSERT_TRUE(counts(&Counts::reports, 2));
  EXPECT_NEAR(to_seconds(receiver_->take().front().measured.time_since_epoch()), 1000 - 3600, 0.5);
}

TEST_F(ReportStream, RefusesWhoShowsNoCertificate) {
  listen();
  const int fd = connect_to(receiver_->address());
  const char nonsense[] = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_GT(::send(fd, nonsense, sizeof nonsense, 0), 0);
  EXPECT_TRUE(counts(&Counts::refused_unauthenticated, 1));
  ::close(fd);
  EXPECT_TRUE(wait_until([&] { return receiver_->counts().connections == 0; }));
}

TEST_F(ReportStream, RefusesWhoseCertificateAnotherAuthoritySigned) {
  listen();
  const TestAuthority other;
  TlsFiles files = other.monitor("node-1");
  files.authority = authority_.server().authority;  // it trusts us; we do not trust it
  const RawClient client(receiver_->address(), files);
  client.send(bytes_of(frame_of("node-1", 1)));
  EXPECT_TRUE(client.is_cut_off());
  EXPECT_TRUE(counts(&Counts::refused_unauthenticated, 1));
  EXPECT_TRUE(receiver_->take().empty());
}

TEST_F(ReportStream, RefusesWhoseCertificateNamesNoMonitor) {
  listen();
  for (const char* name : {"system:node:node-1", "evenkeel:monitor:", "monitor:node-1", "node-1"}) {
    const auto before = receiver_->counts().refused_unauthenticated;
    const RawClient client(receiver_->address(), authority_.issue("other", name));
    client.send(bytes_of(frame_of("node-1", 1)));
    EXPECT_TRUE(client.is_cut_off());
    EXPECT_TRUE(counts(&Counts::refused_unauthenticated, before + 1)) << name;
  }
  EXPECT_TRUE(receiver_->take().empty());
}

TEST_F(ReportStream, RefusesACertificateThatIsNoLongerValid) {
  listen();
  const RawClient client(receiver_->address(), authority_.issue("old", "evenkeel:monitor:node-1", "", -10));
  client.send(bytes_of(frame_of("node-1", 1)));
  EXPECT_TRUE(client.is_cut_off());
  EXPECT_TRUE(counts(&Counts::refused_unauthenticated, 1));
}

TEST_F(ReportStream, CutsOffASenderWhoseCertificateRunsOut) {
  listen();
  const RawClient client(receiver_->address(), authority_.issue("short", "evenkeel:monitor:node-1", "", 2));
  client.send(bytes_of(frame_of("node-1", 1)));
  ASSERT_TRUE(counts(&Counts::reports, 1));
  std::this_thread::sleep_for(3100ms);
  client.send(bytes_of(frame_of("node-1", 2)));
  EXPECT_TRUE(client.is_cut_off());
  EXPECT_TRUE(counts(&Counts::refused_unauthenticated, 1));
  EXPECT_EQ(receiver_->counts().reports, 1u);
}

TEST_F(ReportStream, RefusesAReportAboutAnotherNode) {
  listen();
  const RawClient client(receiver_->address(), authority_.monitor("node-1"));
  client.send(bytes_of(frame_of("node-2", 1)));
  EXPECT_TRUE(client.is_cut_off());
  EXPECT_TRUE(counts(&Counts::refused_wrong_node, 1));
  EXPECT_TRUE(receiver_->take().empty());
}

TEST_F(ReportStream, RefusesWhatIsNoReport) {
  listen();
  std::string lying = bytes_of(frame_of("node-1", 1));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::memcpy(lying.data() + kFrameHeader + 34 + 7, &nan, sizeof nan);
  std::string negative = bytes_of(frame_of("node-1", 1));
  const double minus = -1;
  std::memcpy(negative.data() + kFrameHeader + 34 + 7 + 8, &minus, sizeof minus);
  std::string absurd = bytes_of(frame_of("node-1", 1));
  const double much = 1e200;
  std::memcpy(absurd.data() + kFrameHeader + 34 + 7 + 16, &much, sizeof much);
  const std::string cases[] = {
      lying, negative, absurd, std::string(8, '\0'), "\xff\xff\xff\xff", std::string("\5\0\0\0hello", 9)};
  std::uint64_t refused = 0;
  for (const std::string& bytes : cases) {
    const RawClient client(receiver_->address(), authority_.monitor("node-1"));
    client.send(bytes);
    EXPECT_TRUE(client.is_cut_off());
    EXPECT_TRUE(counts(&Counts::refused_malformed, ++refused));
  }
  EXPECT_TRUE(receiver_->take().empty());
}

TEST_F(ReportStream, DropsRepeatedReportsAndKeepsTheConnection) {
  listen();
  const RawClient client(receiver_->address(), authority_.monitor("node-1"));
  for (const std::uint64_t sequence : {3, 3, 2, 4}) client.send(bytes_of(frame_of("node-1", sequence)));
  EXPECT_TRUE(counts(&Counts::reports, 2));
  EXPECT_EQ(receiver_->counts().out_of_sequence, 2u);
  EXPECT_EQ(receiver_->take().front().total[Dimension::cpu], 4);
}

TEST_F(ReportStream, TakesFramesThatComeInPieces) {
  listen();
  const RawClient client(receiver_->address(), authority_.monitor("node-1"));
  const std::string both = bytes_of(frame_of("node-1", 1)) + bytes_of(frame_of("node-1", 2));
  for (std::size_t place = 0; place < both.size(); place += 7) client.send(both.substr(place, 7));
  EXPECT_TRUE(counts(&Counts::reports, 2));
}

TEST_F(ReportStream, CutsOffWhoSaysNothing) {
  listen([](ReportReceiver::Options& options) { options.handshake_within = options.idle_at_most = 100ms; });
  const int silent = connect_to(receiver_->address());
  EXPECT_TRUE(counts(&Counts::refused_unauthenticated, 1));
  ::close(silent);
  const RawClient client(receiver_->address(), authority_.monitor("node-1"));
  EXPECT_TRUE(client.is_cut_off());
}

TEST_F(ReportStream, ClosesConnectionsBeyondItsLimit) {
  listen([](ReportReceiver::Options& options) { options.most_connections = 2; });
  const RawClient first(receiver_->address(), authority_.monitor("a")),
      second(receiver_->address(), authority_.monitor("b"));
  EXPECT_TRUE(wait_until([&] { return receiver_->counts().connections == 2; }));
  const RawClient third(receiver_->address(), authority_.monitor("c"));
  EXPECT_FALSE(third.is_connected());
  first.send(bytes_of(frame_of("a", 1)));
  EXPECT_TRUE(counts(&Counts::reports, 1));
}

TEST_F(ReportStream, LetsTheNewestConnectionOfANodeReplaceTheOneBefore) {
  listen();
  const RawClient first(receiver_->address(), authority_.monitor("a"));
  first.send(bytes_of(frame_of("a", 1)));
  ASSERT_TRUE(counts(&Counts::reports, 1));
  const RawClient second(receiver_->address(), authority_.monitor("a"));
  EXPECT_TRUE(first.is_cut_off());
  second.send(bytes_of(frame_of("a", 2)));
  EXPECT_TRUE(counts(&Counts::reports, 2));
}

TEST_F(ReportStream, SenderComesBackWhenTheReceiverDoes) {
  listen();
  const std::string address = receiver_->address();
  const auto sending = sender(authority_.monitor("node-1"));
  sending->send(report_of("node-1"), ReportSender::steady_now());
  ASSERT_TRUE(counts(&Counts::reports, 1));
  receiver_.reset();
  ASSERT_TRUE(wait_until([&] { return !sending->is_connected(); }));
  for (int i = 0; i < 1000; ++i)
    sending->send(report_of("node-1", i), ReportSender::steady_now());  // never waits
  listen([&](ReportReceiver::Options& options) { options.address = address; });
  ASSERT_TRUE(counts(&Counts::reports, 1));
  EXPECT_EQ(receiver_->take().front().total[Dimension::cpu], 999);  // the newest, and no queue before it
  EXPECT_GE(sending->counts().replaced, 990u);
  EXPECT_EQ(sending->counts().connected, 2u);
}

TEST_F(ReportStream, SenderRefusesAReceiverOfAnotherName) {
  listen([&](ReportReceiver::Options& options) {
    options.tls = authority_.issue("elsewhere", "evenkeel", "DNS:elsewhere.example");
  });
  const auto sending = sender(authority_.monitor("node-1"));
  sending->send(report_of("node-1"), ReportSender::steady_now());
  EXPECT_TRUE(wait_until([&] { return sending->counts().failed >= 2; }));
  EXPECT_EQ(receiver_->counts().reports, 0u);
}

TEST_F(ReportStream, SenderWaitsForCertificatesThatAreNotThereYet) {
  listen();
  TlsFiles files = authority_.monitor("node-1");
  std::filesystem::rename(files.key, files.key + ".later");
  const auto sending = sender(files);
  sending->send(report_of("node-1"), ReportSender::steady_now());
  EXPECT_TRUE(wait_until([&] { return sending->counts().failed >= 1; }));
  std::filesystem::rename(files.key + ".later", files.key);
  EXPECT_TRUE(counts(&Counts::reports, 1));
}

TEST_F(ReportStream, ReceiverTakesNewCertificatesAndANewAuthority) {
  listen();
  const auto sending = sender(authority_.monitor("node-1"));
  sending->send(report_of("node-1"), ReportSender::steady_now());
  ASSERT_TRUE(counts(&Counts::reports, 1));
  const TestAuthority next;
  const TlsFiles fresh = next.server(), ours = authority_.server();
  std::filesystem::rename(fresh.certificate, ours.certificate);
  std::filesystem::rename(fresh.key, ours.key);
  std::filesystem::copy_file(fresh.authority, ours.authority + ".new");
  std::filesystem::rename(ours.authority + ".new", ours.authority);
  // Who was let in by the old authority has to show a certificate of the new one.
  EXPECT_TRUE(counts(&Counts::refused_unauthenticated, 1));
  TlsFiles files = next.monitor("node-2");
  const RawClient client(receiver_->address(), files);
  EXPECT_TRUE(client.is_connected());
  client.send(bytes_of(frame_of("node-2", 1)));
  EXPECT_TRUE(counts(&Counts::reports, 2));
}

TEST_F(ReportStream, ServesManyMonitorsAtOnce) {
  listen();
  std::vector<std::unique_ptr<ReportSender>> senders;
  for (int i = 0; i < 50; ++i) {
    const std::string node = "node-" + std::to_string(i);
    senders.push_back(sender(authority_.monitor(node)));
    senders.back()->send(report_of(node, i), ReportSender::steady_now());
  }
  EXPECT_TRUE(counts(&Counts::reports, 50));
  EXPECT_EQ(receiver_->take().size(), 50u);
  EXPECT_EQ(receiver_->counts().connections, 50u);
}

TEST(ReportReceiver, SaysWhyItCannotListen) {
  const TestAuthority authority;
  ReportReceiver::Options options;
  options.now = [] { return Time(); };
  options.tls = authority.server();
  options.address = "nowhere";
  EXPECT_FALSE(ReportReceiver::listen(options));
  options.address = "127.0.0.1:0";
  options.tls.key = "/does/not/exist";
  const auto listening = ReportReceiver::listen(options);
  ASSERT_FALSE(listening);
  EXPECT_NE(listening.error().message.find("/does/not/exist"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::messaging
