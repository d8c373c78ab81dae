#include "messaging/probe_client.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>

#include "messaging/dial.h"
#include "messaging/probe_wire.h"

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;

constexpr int kUncounted = 5;  // round trips while the other side wakes up
constexpr int kLookUp = 100;   // milliseconds: how soon being told to stop is noticed

Duration steady_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

class Conversation {
 public:
  Conversation(Descriptor socket, const TlsContext& context, Duration patience,
               const std::atomic<bool>& stopping)
      : socket_(std::move(socket)),
        session_(context, socket_.get()),
        patience_(patience),
        stopping_(stopping) {}

  Status shake_hands() {
    begin_waiting();
    for (auto step = session_.shake_hands(); step != TlsSession::Step::done; step = session_.shake_hands())
      if (auto waited = wait(step); !waited) return waited;
    return {};
  }

  Status send(std::string_view bytes) {
    begin_waiting();
    while (!bytes.empty()) {
      std::size_t count = 0;
      const auto step = session_.write(bytes, count);
      bytes.remove_prefix(count);
      if (step == TlsSession::Step::done) continue;
      if (auto waited = wait(step); !waited) return waited;
    }
    return {};
  }

  Result<ProbeAnswer> hear() {
    char bytes[kProbeAnswer];
    std::size_t read = 0;
    begin_waiting();
    while (read < kProbeAnswer) {
      std::size_t count = 0;
      const auto step = session_.read(bytes + read, kProbeAnswer - read, count);
      read += count;
      if (step == TlsSession::Step::done) continue;
      if (auto waited = wait(step); !waited) return waited.error();
    }
    const auto answer = read_probe_answer({bytes, kProbeAnswer});
    if (!answer) return invalid("what came back is no answer to a probe");
    return *answer;
  }

  Result<ProbeAnswer> ask(const ProbeRequest& request) {
    if (auto sent = send(write_probe_request(request)); !sent) return sent.error();
    return hear();
  }

  std::string peer_name() const { return session_.peer_name(); }
  TlsSession::Traffic traffic() const { return packets_of(socket_.get(), session_); }
  void say_farewell() { session_.say_farewell(); }

 private:
  void begin_waiting() { until_ = steady_now() + patience_; }

  Status wait(TlsSession::Step step) {
    if (step == TlsSession::Step::closed) return unavailable("the connection was ended");
    if (step == TlsSession::Step::failed) return unavailable(session_.trouble());
    pollfd one{.fd = socket_.get(),
               .events = static_cast<short>(step == TlsSession::Step::wants_read ? POLLIN : POLLOUT),
               .revents = 0};
    while (::poll(&one, 1, kLookUp) <= 0) {
      if (stopping_) return unavailable("told to stop");
      if (steady_now() > until_) return unavailable("no answer within the time given");
    }
    return {};
  }

  Descriptor socket_;
  TlsSession session_;
  Duration patience_, until_{};
  const std::atomic<bool>& stopping_;
};

Status measure_trips(Conversation& peer, const ProbeSize& size, ProbeOutcome& outcome) {
  const std::string request = write_probe_request({.kind = ProbeRequest::Kind::echo, .amount = 0});
  const Duration end = steady_now() + size.trips_within;
  for (int trip = -kUncounted; trip < size.trips; ++trip) {
    const auto sent = std::chrono::steady_clock::now();
    if (auto done = peer.send(request); !done) return done;
    if (auto heard = peer.hear(); !heard) return heard.error();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - sent;
    if (trip >= 0) outcome.round_trips_us.push_back(took.count());
    if (trip >= 0 && steady_now() > end) break;
  }
  return {};
}

Status measure_bandwidth(Conversation& peer, const ProbeSize& size, ProbeOutcome& outcome) {
  constexpr std::size_t kBody = kProbeChunk - kProbeRequest;  // request and body are one record
  const std::string chunk =
      write_probe_request({.kind = ProbeRequest::Kind::data, .amount = static_cast<std::uint32_t>(kBody)}) +
      std::string(kBody, '\0');
  const Duration end = steady_now() + size.data_within;
  for (std::int64_t sent = 0; sent < size.data && steady_now() < end;
       sent += static_cast<std::int64_t>(chunk.size()))
    if (auto done = peer.send(chunk); !done) return done;
  const auto rate = peer.ask({.kind = ProbeRequest::Kind::end, .amount = 0});
  if (!rate) return rate.error();
  outcome.bits_per_second = rate->bits_per_second;
  return {};
}

Status measure(Conversation& peer, const std::string& node, const ProbeSize& size, ProbeOutcome& outcome) {
  if (auto shaken = peer.shake_hands(); !shaken) return shaken;
  const std::string name = peer.peer_name();
  if (name != std::string(kProbeName) + node)
    return invalid("expected " + std::string(kProbeName) + node + ", and its certificate is of '" + name +
                   "'");
  const auto welcome =
      peer.ask({.kind = ProbeRequest::Kind::hello, .amount = bytes_of_test(size.trips, size.data)});
  if (!welcome) return welcome.error();
  outcome.is_busy = welcome->kind == ProbeAnswer::Kind::busy;
  if (outcome.is_busy) return {};
  if (auto measured = measure_trips(peer, size, outcome); !measured) return measured;
  if (size.data > 0)
    if (auto measured = measure_bandwidth(peer, size, outcome); !measured) return measured;
  return {};
}

}  // namespace

ProbeOutcome probe_peer(const TlsContext& context, const ProbeTarget& target, const ProbeSize& size,
                        const std::atomic<bool>& stopping) {
  (void)std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets as to files
  ProbeOutcome outcome;
  const Duration until = steady_now() + size.patience;
  const auto wait_to_write = [&](int socket) {
    pollfd one{.fd = socket, .events = POLLOUT, .revents = 0};
    while (::poll(&one, 1, kLookUp) <= 0)
      if (stopping || steady_now() > until) return false;
    return true;
  };
  auto socket = dial(target.to, size.patience, wait_to_write, 0);
  if (!socket) {
    outcome.trouble = socket.error().message;
    return outcome;
  }
  Conversation peer(*std::move(socket), context, size.patience, stopping);
  if (const Status measured = measure(peer, target.node, size, outcome); !measured)
    outcome.trouble = measured.error().message;
  else
    peer.say_farewell();
  outcome.traffic = peer.traffic();
  return outcome;
}

}  // namespace evenkeel::messaging
