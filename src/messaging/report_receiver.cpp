#include "messaging/report_receiver.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <ctime>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "messaging/host_port.h"
#include "messaging/report_ledger.h"
#include "messaging/report_wire.h"
#include "messaging/tls_session.h"

namespace evenkeel::messaging {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto kAcceptRetry = 100ms;            // out of file descriptors: wait instead of spinning
constexpr auto kLookAfter = 500ms;              // who is late, and whether certificates changed
constexpr std::size_t kReadAtOnce = 16 * 1024;  // a TLS record
constexpr std::string_view kMonitor = "evenkeel:monitor:";

auto returning(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

Duration steady_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

void notice_dead_peers(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const auto set = [&](int name, int value) {
    (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, name, &value, sizeof value);
  };
  set(TCP_KEEPIDLE, 15);
  set(TCP_KEEPINTVL, 5);
  set(TCP_KEEPCNT, 3);
}

// The node a certificate's name speaks for; empty: none.
std::string node_of(const std::string& name) {
  return name.starts_with(kMonitor) ? name.substr(kMonitor.size()) : std::string();
}

}  // namespace

struct ReportReceiver::Service {
  struct Peer {
    Peer(tcp::socket from, const TlsContext& context)
        : socket(std::move(from)), session(context, socket.native_handle()) {}
    tcp::socket socket;
    TlsSession session;
    Duration until{};  // it has to be heard of before that
    std::string node;  // empty: not known yet
    std::time_t valid_until = 0;
    std::uint64_t trust = 0;  // which version of the authority it was checked against
    Transit transit;
    void close() {
      error_code ignored;
      socket.close(ignored);
    }
  };
  explicit Service(Options given) : options(std::move(given)), ledger(options.most_waiting) {}

  Status start();
  asio::awaitable<void> accept_all();
  asio::awaitable<void> serve(tcp::socket socket);
  asio::awaitable<bool> authenticate(Peer& peer);
  asio::awaitable<void> receive(Peer& peer);
  bool take_frames(Peer& peer, std::string& input);
  bool take_frame(Peer& peer, std::string_view bytes);
  asio::awaitable<bool> wait(Peer& peer, TlsSession::Step step);
  asio::awaitable<void> look_after();
  void look_at_files();
  void end();

  const Options options;
  ReportLedger ledger;
  std::string address;

  // From here on of the receiver's thread alone.
  bool stopping = false;
  std::optional<TlsContext> context;
  TlsFileStamps files;
  std::uint64_t trust = 0;
  std::list<Peer*> peers;
  std::unordered_map<std::string, Peer*> by_node;

  asio::io_context io{1};  // below what its coroutines refer to: destroyed first, and they with it
  tcp::acceptor acceptor{io};
  std::thread thread;
};

Status ReportReceiver::Service::start() {
  const auto where = parse_host_port(options.address);
  if (!where) return where.error();
  error_code error;
  const auto host = asio::ip::make_address(where->host == "localhost" ? "127.0.0.1" : where->host, error);
  if (error) return invalid("'" + where->host + "' is not an IP address reports could arrive at");
  files = TlsFileStamps::of(options.tls);
  auto read = TlsContext::read(options.tls, TlsContext::Role::server);
  if (!read) return read.error();
  context = *std::move(read);
  tcp::endpoint endpoint(host, static_cast<std::uint16_t>(std::stoul(where->port)));
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) endpoint = acceptor.local_endpoint(error);
  if (error) return unavailable("reports cannot arrive at " + options.address + ": " + error.message());
  address = (host.is_v6() ? "[" + host.to_string() + "]" : host.to_string()) + ":" +
            std::to_string(endpoint.port());
  asio::co_spawn(io, accept_all(), asio::detached);
  asio::co_spawn(io, look_after(), asio::detached);
  return {};
}

// Certificates that cannot be read leave the last good ones in use. A new authority is a new judgement:
// whoever was let in by the old one has to come again.
void ReportReceiver::Service::look_at_files() {
  const TlsFileStamps found = TlsFileStamps::of(options.tls);
  if (found == files) return;
  auto read = TlsContext::read(options.tls, TlsContext::Role::server);
  if (!read) {
    if (options.say) options.say("certificates not taken over: " + read.error().message);
    return;
  }
  context = *std::move(read);
  if (!(found.authority == files.authority)) {
    ++trust;
    for (Peer* peer : peers) peer->close();
  }
  files = found;
}

asio::awaitable<void> ReportReceiver::Service::accept_all() {
  while (!stopping) {
    error_code error;
    tcp::socket socket = co_await acceptor.async_accept(returning(error));
    if (stopping || error == asio::error::operation_aborted) co_return;
    if (error) {
      asio::steady_timer pause(io, kAcceptRetry);
      co_await pause.async_wait(returning(error));
      continue;
    }
    if (peers.size() >= options.most_connections) continue;  // destroyed here, that is: closed
    asio::co_spawn(io, serve(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> ReportReceiver::Service::serve(tcp::socket socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  notice_dead_peers(socket);
  Peer peer(std::move(socket), *context);
  peer.trust = trust;
  const auto place = peers.insert(peers.end(), &peer);
  ledger.connections(peers.size());
  if (co_await authenticate(peer)) {
    // One connection a node: a sender that lost its own and came back does not wait for us to notice.
    Peer*& current = by_node[peer.node];
    if (current != nullptr) current->close();
    current = &peer;
    co_await receive(peer);
    if (const auto found = by_node.find(peer.node); found != by_node.end() && found->second == &peer)
      by_node.erase(found);
    if (peer.socket.is_open()) peer.session.say_farewell();
  }
  peers.erase(place);
  ledger.connections(peers.size());
}

asio::awaitable<void> ReportReceiver::Service::look_after() {
  asio::steady_timer timer(io);
  while (!stopping) {
    timer.expires_after(kLookAfter);
    error_code error;
    co_await timer.async_wait(returning(error));
    look_at_files();
    const Duration now = steady_now();
    for (Peer* peer : peers)
      if (now > peer->until) peer->close();
  }
}

// Whether the socket is ready for the step to be taken again.
asio::awaitable<bool> ReportReceiver::Service::wait(Peer& peer, TlsSession::Step step) {
  error_code error;
  if (step == TlsSession::Step::wants_read) {
    co_await peer.socket.async_wait(tcp::socket::wait_read, returning(error));
  } else if (step == TlsSession::Step::wants_write) {
    co_await peer.socket.async_wait(tcp::socket::wait_write, returning(error));
  } else {
    co_return false;
  }
  co_return !error && peer.socket.is_open();
}

asio::awaitable<bool> ReportReceiver::Service::authenticate(Peer& peer) {
  peer.until = steady_now() + options.handshake_within;
  auto step = peer.session.shake_hands();
  while (step != TlsSession::Step::done) {
    if (!co_await wait(peer, step)) {
      if (!stopping) ledger.refuse(Refusal::unauthenticated);
      co_return false;
    }
    step = peer.session.shake_hands();
  }
  peer.node = node_of(peer.session.peer_name());
  peer.valid_until = peer.session.peer_valid_until();
  if (!peer.node.empty()) co_return true;
  ledger.refuse(Refusal::unauthenticated);
  co_return false;
}

asio::awaitable<void> ReportReceiver::Service::receive(Peer& peer) {
  std::string input;  // grows to what one frame needs, which is bounded
  peer.until = steady_now() + options.idle_at_most;
  while (!stopping) {
    const std::size_t before = input.size();
    input.resize(before + kReadAtOnce);
    std::size_t count = 0;
    const auto step = peer.session.read(input.data() + before, kReadAtOnce, count);
    input.resize(before + count);
    if (step == TlsSession::Step::done) {
      if (!take_frames(peer, input)) co_return;
    } else if (!co_await wait(peer, step)) {
      co_return;
    }
  }
}

// Whether the sender may go on.
bool ReportReceiver::Service::take_frames(Peer& peer, std::string& input) {
  std::string_view rest = input;
  while (rest.size() >= kFrameHeader) {
    const auto length = frame_length(rest.substr(0, kFrameHeader));
    if (!length) {
      ledger.refuse(Refusal::malformed);
      return false;
    }
    if (rest.size() < kFrameHeader + *length) break;
    if (!take_frame(peer, rest.substr(kFrameHeader, *length))) return false;
    rest.remove_prefix(kFrameHeader + *length);
  }
  input.erase(0, input.size() - rest.size());
  return true;
}

bool ReportReceiver::Service::take_frame(Peer& peer, std::string_view bytes) {
  if (peer.valid_until < std::time(nullptr) || peer.trust != trust) {
    ledger.refuse(Refusal::unauthenticated);
    return false;
  }
  auto frame = read_frame(bytes);
  if (!frame) {
    ledger.refuse(Refusal::malformed);
    return false;
  }
  if (frame->report.node != peer.node) {
    ledger.refuse(Refusal::wrong_node);
    return false;
  }
  const Duration late = peer.transit.late_by(frame->sent, steady_now());
  frame->report.measured = options.now() - frame->age - late;
  peer.until = steady_now() + options.idle_at_most;
  if (ledger.enter(*std::move(frame)) && options.arrived) options.arrived();
  return true;
}

void ReportReceiver::Service::end() {
  stopping = true;
  error_code ignored;
  acceptor.close(ignored);
  for (Peer* peer : peers) peer->close();
  io.stop();
}

Result<std::unique_ptr<ReportReceiver>> ReportReceiver::listen(Options options) {
  EVENKEEL_CHECK(options.now != nullptr);
  try {
    auto service = std::make_unique<Service>(std::move(options));
    if (auto started = service->start(); !started) return started.error();
    service->thread = std::thread([&io = service->io] { io.run(); });
    return std::unique_ptr<ReportReceiver>(new ReportReceiver(std::move(service)));
  } catch (const std::exception& failure) {  // no thread or no descriptor to be had
    return unavailable(std::string("the receiver of reports could not be started: ") + failure.what());
  }
}

ReportReceiver::ReportReceiver(std::unique_ptr<Service> service) : service_(std::move(service)) {}

ReportReceiver::~ReportReceiver() {
  asio::post(service_->io, [service = service_.get()] { service->end(); });
  service_->thread.join();
}

std::vector<NodeReport> ReportReceiver::take() { return service_->ledger.take(); }

ReportReceiver::Counts ReportReceiver::counts() const { return service_->ledger.counts(); }

std::string ReportReceiver::address() const { return service_->address; }

}  // namespace evenkeel::messaging
