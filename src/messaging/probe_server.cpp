#include "messaging/probe_server.h"

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
#include <csignal>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "messaging/host_port.h"
#include "messaging/rate_meter.h"
#include "messaging/tls_session.h"

namespace evenkeel::messaging {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto kAcceptRetry = 100ms;
constexpr auto kLookAfter = 250ms;
constexpr double kMoreThanSaid = 1.25;  // segments come in other sizes than one thinks
constexpr double kAllowance = 16 * 1024;

auto returning(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

Duration steady_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

struct ProbeServer::Service {
  struct Peer {
    Peer(tcp::socket from, const TlsContext& context)
        : socket(std::move(from)), session(context, socket.native_handle()) {
      error_code ignored;
      if (const auto end = socket.remote_endpoint(ignored); !ignored) from_address = end.address();
    }
    tcp::socket socket;
    TlsSession session;
    asio::ip::address from_address;
    Duration until{};
    bool is_known = false;
    double granted = 0;  // bytes of the budget; 0: no test of its has begun
    RateMeter meter;
    void close() {
      error_code ignored;
      socket.close(ignored);
    }
  };
  explicit Service(Options given)
      : options(std::move(given)), handshakes(options.handshakes_per_second, options.handshakes_per_second) {}

  Status start();
  asio::awaitable<void> accept_all();
  asio::awaitable<void> serve(tcp::socket socket);
  asio::awaitable<bool> authenticate(Peer& peer);
  asio::awaitable<void> answer(Peer& peer);
  asio::awaitable<bool> take(Peer& peer, const ProbeRequest& request, std::string& input);
  asio::awaitable<bool> send(Peer& peer, std::string bytes);
  asio::awaitable<bool> wait(Peer& peer, TlsSession::Step step);
  asio::awaitable<void> look_after();
  bool is_welcome(const tcp::socket& socket);
  bool begin_test(Peer& peer, std::uint32_t bytes);
  void end_test(Peer& peer);
  void look_at_files();
  void end();
  void count(std::uint64_t Counts::* which, std::uint64_t more = 1) {
    const std::lock_guard lock(mutex);
    counted.*which += more;
  }

  const Options options;
  std::string address;
  mutable std::mutex mutex;
  Counts counted;
  std::set<std::string> members;

  // From here on of the server's thread alone.
  bool stopping = false;
  TrafficBudget handshakes;
  std::optional<TlsContext> context;
  TlsFileStamps files;
  std::string trouble;
  std::list<Peer*> peers;

  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::thread thread;
};

Status ProbeServer::Service::start() {
  const auto where = parse_host_port(options.address);
  if (!where) return where.error();
  error_code error;
  const auto host = asio::ip::make_address(where->host, error);
  if (error) return invalid("'" + where->host + "' is not an IP address probes could arrive at");
  look_at_files();
  tcp::endpoint endpoint(host, static_cast<std::uint16_t>(std::stoul(where->port)));
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) endpoint = acceptor.local_endpoint(error);
  if (error) return unavailable("probes cannot arrive at " + options.address + ": " + error.message());
  address = (host.is_v6() ? "[" + host.to_string() + "]" : host.to_string()) + ":" +
            std::to_string(endpoint.port());
  asio::co_spawn(io, accept_all(), asio::detached);
  asio::co_spawn(io, look_after(), asio::detached);
  return {};
}

// Certificates that cannot be read leave the last good ones in use.
void ProbeServer::Service::look_at_files() {
  const TlsFileStamps found = TlsFileStamps::of(options.tls);
  if (context && found == files) return;
  auto read = TlsContext::read(options.tls, TlsContext::Role::server);
  if (read) {
    context = *std::move(read);
    files = found;
    trouble.clear();
  } else if (options.say && read.error().message != trouble) {
    trouble = read.error().message;
    options.say("probes are not answered with new certificates: " + trouble);
  }
}

// Before anything is computed for it. Every peer is a stranger until its handshake is done.
bool ProbeServer::Service::is_welcome(const tcp::socket& socket) {
  error_code error;
  const tcp::endpoint from = socket.remote_endpoint(error);
  if (error || !context || peers.size() >= options.most_connections) return false;
  std::size_t strangers = 0, of_it = 0;
  for (const Peer* peer : peers) {
    if (peer->is_known) continue;
    ++strangers;
    if (peer->from_address == from.address()) ++of_it;
  }
  return strangers < options.most_strangers && of_it < options.most_strangers_of_an_address &&
         handshakes.take(1, steady_now());
}

asio::awaitable<void> ProbeServer::Service::accept_all() {
  while (!stopping) {
    error_code error;
    tcp::socket socket = co_await acceptor.async_accept(returning(error));
    if (stopping || error == asio::error::operation_aborted) co_return;
    if (error) {
      asio::steady_timer pause(io, kAcceptRetry);
      co_await pause.async_wait(returning(error));
      continue;
    }
    if (!is_welcome(socket)) {
      count(&Counts::refused_crowd);
      continue;  // destroyed here, that is: closed
    }
    asio::co_spawn(io, serve(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> ProbeServer::Service::serve(tcp::socket socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  Peer peer(std::move(socket), *context);
  const auto place = peers.insert(peers.end(), &peer);
  if (co_await authenticate(peer)) {
    co_await answer(peer);
    if (peer.socket.is_open()) peer.session.say_farewell();
  }
  end_test(peer);
  peers.erase(place);
}

asio::awaitable<void> ProbeServer::Service::look_after() {
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

asio::awaitable<bool> ProbeServer::Service::wait(Peer& peer, TlsSession::Step step) {
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

asio::awaitable<bool> ProbeServer::Service::authenticate(Peer& peer) {
  peer.until = steady_now() + options.handshake_within;
  auto step = peer.session.shake_hands();
  while (step != TlsSession::Step::done) {
    if (!co_await wait(peer, step)) {
      if (!stopping) count(&Counts::refused_unauthenticated);
      co_return false;
    }
    step = peer.session.shake_hands();
  }
  const std::string name = peer.session.peer_name();
  if (!name.starts_with(kProbeName)) {
    count(&Counts::refused_unauthenticated);
    co_return false;
  }
  {
    const std::lock_guard lock(mutex);
    peer.is_known = members.contains(name.substr(kProbeName.size()));
  }
  if (!peer.is_known) count(&Counts::refused_no_member);
  co_return peer.is_known;
}

bool ProbeServer::Service::begin_test(Peer& peer, std::uint32_t bytes) {
  if (!options.turn->take()) return false;
  if (!options.budget->take(bytes, steady_now())) {
    options.turn->give_back();
    return false;
  }
  peer.granted = bytes;
  peer.until = steady_now() + options.test_within;
  count(&Counts::tests);
  return true;
}

void ProbeServer::Service::end_test(Peer& peer) {
  const TlsSession::Traffic used =
      peer.socket.is_open() ? packets_of(peer.socket.native_handle(), peer.session) : peer.session.traffic();
  count(&Counts::received, used.read);
  count(&Counts::transmitted, used.written);
  if (peer.granted <= 0) return;
  options.budget->settle(peer.granted, static_cast<double>(used.read + used.written));
  options.turn->give_back();
}

asio::awaitable<bool> ProbeServer::Service::send(Peer& peer, std::string bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    std::size_t written = 0;
    const auto step = peer.session.write(rest, written);
    rest.remove_prefix(written);
    if (step != TlsSession::Step::done && !co_await wait(peer, step)) co_return false;
  }
  co_return true;
}

// Whether the peer may go on. `input` begins behind the request.
asio::awaitable<bool> ProbeServer::Service::take(Peer& peer, const ProbeRequest& request,
                                                 std::string& input) {
  using Kind = ProbeRequest::Kind;
  if ((request.kind == Kind::hello) == (peer.granted > 0)) {  // once, and first
    count(&Counts::refused_malformed);
    co_return false;
  }
  if (request.kind == Kind::data) {
    input.erase(0, request.amount);
    peer.meter.add(request.amount, steady_now());
    co_return true;
  }
  ProbeAnswer answer;
  if (request.kind == Kind::hello) {
    answer.kind = begin_test(peer, request.amount) ? ProbeAnswer::Kind::welcome : ProbeAnswer::Kind::busy;
    if (answer.kind == ProbeAnswer::Kind::busy) count(&Counts::busy);
  } else if (request.kind == Kind::end) {
    answer = {.kind = ProbeAnswer::Kind::rate, .bits_per_second = peer.meter.bits_per_second()};
  }
  co_return co_await send(peer, write_probe_answer(answer)) && answer.kind != ProbeAnswer::Kind::busy;
}

asio::awaitable<void> ProbeServer::Service::answer(Peer& peer) {
  std::string input;
  while (!stopping) {
    const std::size_t before = input.size();
    input.resize(before + kProbeChunk);
    std::size_t read = 0;
    const auto step = peer.session.read(input.data() + before, kProbeChunk, read);
    input.resize(before + read);
    if (step != TlsSession::Step::done) {
      if (!co_await wait(peer, step)) co_return;
      continue;
    }
    while (input.size() >= kProbeRequest) {
      const auto request = read_probe_request(std::string_view(input).substr(0, kProbeRequest));
      const TlsSession::Traffic moved = peer.session.traffic();
      const bool is_too_much = peer.granted > 0 && static_cast<double>(moved.read + moved.written) >
                                                       kMoreThanSaid * peer.granted + kAllowance;
      if (!request || is_too_much) {
        count(&Counts::refused_malformed);
        co_return;
      }
      const std::size_t body = request->kind == ProbeRequest::Kind::data ? request->amount : 0;
      if (input.size() < kProbeRequest + body) break;
      input.erase(0, kProbeRequest);
      if (!co_await take(peer, *request, input)) co_return;
    }
  }
}

void ProbeServer::Service::end() {
  stopping = true;
  error_code ignored;
  acceptor.close(ignored);
  for (Peer* peer : peers) peer->close();
  io.stop();
}

Result<std::unique_ptr<ProbeServer>> ProbeServer::listen(Options options) {
  EVENKEEL_CHECK(options.turn != nullptr && options.budget != nullptr);
  // OpenSSL writes to sockets as to files: whoever hung up would end the program.
  (void)std::signal(SIGPIPE, SIG_IGN);
  try {
    auto service = std::make_unique<Service>(std::move(options));
    if (auto started = service->start(); !started) return started.error();
    service->thread = std::thread([&io = service->io] { io.run(); });
    return std::unique_ptr<ProbeServer>(new ProbeServer(std::move(service)));
  } catch (const std::exception& failure) {
    return unavailable(std::string("probes could not be answered: ") + failure.what());
  }
}

ProbeServer::ProbeServer(std::unique_ptr<Service> service) : service_(std::move(service)) {}

ProbeServer::~ProbeServer() {
  asio::post(service_->io, [service = service_.get()] { service->end(); });
  service_->thread.join();
}

void ProbeServer::set_members(std::set<std::string> nodes) {
  const std::lock_guard lock(service_->mutex);
  service_->members = std::move(nodes);
}

ProbeServer::Counts ProbeServer::counts() const {
  const std::lock_guard lock(service_->mutex);
  return service_->counted;
}

std::string ProbeServer::address() const { return service_->address; }

}  // namespace evenkeel::messaging
