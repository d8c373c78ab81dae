#include "messaging/report_sender.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/random.h"
#include "messaging/descriptor.h"
#include "messaging/dial.h"
#include "messaging/host_port.h"
#include "messaging/report_wire.h"
#include "messaging/tls_session.h"

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;
constexpr Duration kHeldWell = 5s;       // a connection that lasted so long was no accident
constexpr Duration kLookAtFiles = 10s;   // whether the certificates are still those of the connection
constexpr Duration kLastMoment = 200ms;  // for a report on its way when we are told to end

struct Connection {
  Descriptor socket;
  TlsSession session;
  TlsFileStamps files;
  Duration since{};
};

}  // namespace

struct ReportSender::Service {
  explicit Service(Options given) : options(std::move(given)), random(options.seed) {}

  // Of the sender's thread.
  void run();
  void serve(Connection& connection);
  void watch(Connection& connection);
  bool send_newest();
  bool finish_writing();
  bool has_news() {
    const std::lock_guard lock(mutex);
    return is_new;
  }
  Result<std::unique_ptr<Connection>> connect();
  void pause_after_failure(const std::string& why);
  // Until the socket is ready for `events`, the time is over, or there is something to do: an end, or (for
  // who waits for POLLIN and nothing else) a new report.
  enum class Woken { ready, in_vain, told };
  Woken wait(int socket, short events, Duration until);
  Status step_until_done(int socket, Duration until, const std::function<TlsSession::Step()>& step,
                         const TlsSession& session);
  void wake_up() const {
    const std::uint64_t one = 1;
    (void)!::write(wake.get(), &one, sizeof one);
  }
  void say(const std::string& text) const {
    if (options.say && text != last_said) options.say(text);
    last_said = text;
  }

  const Options options;
  HostPort to;
  Descriptor wake;
  Random random;
  std::uint64_t stream = 0;
  Duration pause{};
  std::optional<TlsContext> context;
  TlsFileStamps context_files;
  NodeReport outgoing;            // keeps its memory
  mutable std::string last_said;  // a receiver that is away for an hour is one line, not a thousand

  // Of the sampler's thread.
  bool send_at_once(const NodeReport& report, Duration when);

  // The connection, held by whoever reads or writes; the sampler's thread never waits for it.
  std::mutex wire;
  Connection* open = nullptr;
  std::string bytes;      // of the frame that was written last
  std::string_view rest;  // what of it did not go out yet
  std::string broken;     // why nothing goes out any more

  Status encode(const NodeReport& report, Duration when, std::uint64_t number);
  TlsSession::Step write_rest();

  std::mutex mutex;  // of the next four, held for a copy; none but the sampler's thread changes `sequence`
  NodeReport newest;
  Duration taken{};
  std::uint64_t sequence = 0;
  bool is_new = false;

  std::atomic<bool> stopping{false}, connected{false};
  std::atomic<std::uint64_t> sent{0}, replaced{0}, connections{0}, failed{0};
  std::thread thread;
};

Duration ReportSender::steady_now() {
  timespec time{};
  (void)::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                              std::chrono::nanoseconds(time.tv_nsec));
}

ReportSender::Service::Woken ReportSender::Service::wait(int socket, short events, Duration until) {
  while (true) {
    const Duration left = until - steady_now();
    if (left <= Duration::zero()) return Woken::in_vain;
    pollfd both[2] = {{.fd = wake.get(), .events = POLLIN, .revents = 0},
                      {.fd = socket, .events = events, .revents = 0}};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    const int found =
        ::poll(both, socket >= 0 ? 2 : 1, static_cast<int>(std::min<long>(milliseconds, 60'000)));
    if (found < 0 && errno != EINTR) return Woken::in_vain;
    if (found <= 0) continue;
    if (both[1].revents != 0 && socket >= 0) return Woken::ready;
    std::uint64_t count = 0;
    (void)!::read(wake.get(), &count, sizeof count);
    if (stopping || events == POLLIN) return Woken::told;  // who waits to write is not kept from it
  }
}

Status ReportSender::Service::step_until_done(int socket, Duration until,
                                              const std::function<TlsSession::Step()>& step,
                                              const TlsSession& session) {
  while (true) {
    short events = 0;
    switch (step()) {
      case TlsSession::Step::done:
        return {};
      case TlsSession::Step::wants_read:
        events = POLLIN | POLLPRI;  // not POLLIN alone: a new report does not interrupt this
        break;
      case TlsSession::Step::wants_write:
        events = POLLOUT;
        break;
      case TlsSession::Step::closed:
        return unavailable("it closed the connection");
      case TlsSession::Step::failed:
        return unavailable(session.trouble());
    }
    const Woken woken = wait(socket, events, until);
    if (woken == Woken::told) return unavailable("told to end");
    if (woken == Woken::in_vain) return unavailable("no answer in time");
  }
}

Result<std::unique_ptr<Connection>> ReportSender::Service::connect() {
  const TlsFileStamps files = TlsFileStamps::of(options.tls);
  if (!context || !(files == context_files)) {
    auto read = TlsContext::read(options.tls, TlsContext::Role::client);
    if (!read) return read.error();
    context = *std::move(read);
    context_files = files;
  }
  const Duration until = steady_now() + options.patience;
  auto socket = dial(to, options.patience,
                     [&](int fd) { return wait(fd, POLLOUT, until) == Woken::ready && !stopping; });
  if (!socket) return socket.error();
  const int fd = socket->get();
  const std::string& name = options.server_name.empty() ? to.host : options.server_name;
  auto connection = std::make_unique<Connection>(Connection{.socket = *std::move(socket),
                                                            .session = TlsSession(*context, fd, name),
                                                            .files = files,
                                                            .since = steady_now()});
  TlsSession& session = connection->session;
  if (auto shaken = step_until_done(fd, until, [&] { return session.shake_hands(); }, session); !shaken)
    return unavailable("no TLS connection: " + shaken.error().message);
  return connection;
}

Status ReportSender::Service::encode(const NodeReport& report, Duration when, std::uint64_t number) {
  FrameHead head;
  head.stream = stream;
  head.sequence = number;
  head.sent = steady_now();
  head.age = std::clamp(head.sent - when, Duration::zero(), kMostAge);
  const Status written = write_frame(head, report, bytes);
  rest = written ? std::string_view(bytes) : std::string_view();
  return written;
}

TlsSession::Step ReportSender::Service::write_rest() {
  auto step = TlsSession::Step::done;
  std::size_t count = 0;
  while (!rest.empty() && (step = open->session.write(rest, count)) == TlsSession::Step::done)
    rest.remove_prefix(count);
  if (step == TlsSession::Step::done) sent.fetch_add(1, std::memory_order_relaxed);
  return step;
}

// False: there is no connection, or it is busy with something else; the other thread has to do it.
bool ReportSender::Service::send_at_once(const NodeReport& report, Duration when) {
  const std::unique_lock held(wire, std::try_to_lock);
  if (!held.owns_lock() || open == nullptr || !rest.empty() || !broken.empty()) return false;
  // One that cannot be written is left to the other thread as well, which says so once.
  if (!encode(report, when, sequence + 1)) return false;
  {
    const std::lock_guard lock(mutex);
    if (is_new) replaced.fetch_add(1, std::memory_order_relaxed);
    is_new = false;
    ++sequence;
  }
  switch (write_rest()) {
    case TlsSession::Step::done:
      return true;
    case TlsSession::Step::closed:
      broken = "it closed the connection";
      break;
    case TlsSession::Step::failed:
      broken = open->session.trouble();
      break;
    default:
      break;
  }
  wake_up();
  return true;
}

// Both with the wire held. Whether the connection still serves.
bool ReportSender::Service::finish_writing() {
  if (rest.empty()) return true;
  const Duration until = steady_now() + (stopping ? kLastMoment : options.patience);
  const Status done =
      step_until_done(open->socket.get(), until, [this] { return write_rest(); }, open->session);
  if (done) return true;
  broken = done.error().message;
  return false;
}

bool ReportSender::Service::send_newest() {
  if (!broken.empty() || !finish_writing()) return false;
  Duration when{};
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex);
    if (!is_new) return true;
    outgoing = newest;
    when = taken;
    number = sequence;
    is_new = false;
  }
  if (const Status written = encode(outgoing, when, number); !written) {
    say("a report was not sent: " + written.error().message);
    return true;
  }
  return finish_writing();
}

void ReportSender::Service::watch(Connection& connection) {
  Duration look = steady_now() + kLookAtFiles;
  while (!stopping) {
    {
      const std::lock_guard held(wire);
      if (!send_newest()) return say("lost " + options.to + ": " + broken);
    }
    if (has_news()) continue;  // it came during the write, which took the wake-up
    if (wait(connection.socket.get(), POLLIN, look) == Woken::ready) {
      // The other side says nothing but good-bye, or why it will not have us.
      const std::lock_guard held(wire);
      char nothing[64];
      std::size_t count = 0;
      const auto step = connection.session.read(nothing, sizeof nothing, count);
      if (step == TlsSession::Step::closed || step == TlsSession::Step::failed)
        return say(options.to + " ended the connection" +
                   (connection.session.trouble().empty() ? "" : ": " + connection.session.trouble()));
    }
    if (steady_now() < look) continue;
    look = steady_now() + kLookAtFiles;
    if (!(TlsFileStamps::of(options.tls) == connection.files))
      return say("the certificates changed: connecting anew");
  }
}

void ReportSender::Service::serve(Connection& connection) {
  {
    const std::lock_guard held(wire);
    open = &connection;
    rest = {};
    broken.clear();
  }
  connected = true;
  watch(connection);
  connected = false;
  const std::lock_guard held(wire);
  if (stopping) (void)send_newest();
  connection.session.say_farewell();
  open = nullptr;
}

void ReportSender::Service::pause_after_failure(const std::string& why) {
  failed.fetch_add(1, std::memory_order_relaxed);
  say("no connection to " + options.to + ": " + why);
  const Duration until = steady_now() + pause + from_seconds(random.between(0, to_seconds(pause)));
  pause = std::min(options.longest_pause, 2 * pause);
  while (!stopping && wait(-1, POLLIN, until) == Woken::told) {
  }
}

void ReportSender::Service::run() {
  pause = options.first_pause;
  while (!stopping) {
    auto connection = connect();
    if (!connection) {
      if (!stopping) pause_after_failure(connection.error().message);
      continue;
    }
    connections.fetch_add(1, std::memory_order_relaxed);
    say("sending to " + options.to);
    serve(**connection);
    const bool was_good = steady_now() - (*connection)->since >= kHeldWell;
    connection->reset();
    if (was_good) {
      pause = options.first_pause;
    } else if (!stopping) {
      pause_after_failure(last_said);
    }
  }
}

Result<std::unique_ptr<ReportSender>> ReportSender::open(Options options) {
  auto to = parse_host_port(options.to);
  if (!to) return to.error();
  auto service = std::make_unique<Service>(std::move(options));
  service->to = *std::move(to);
  service->stream = service->random.fork("stream").bits();
  service->wake = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (service->wake.get() < 0) return unavailable("no event descriptor to be had");
  // OpenSSL writes by write(2): a connection that is gone is an error here, not a signal.
  (void)std::signal(SIGPIPE, SIG_IGN);
  try {
    service->thread = std::thread([service = service.get()] { service->run(); });
  } catch (const std::exception& failure) {
    return unavailable(std::string("no thread to send from: ") + failure.what());
  }
  return std::unique_ptr<ReportSender>(new ReportSender(std::move(service)));
}

ReportSender::ReportSender(std::unique_ptr<Service> service) : service_(std::move(service)) {}

ReportSender::~ReportSender() {
  service_->stopping = true;
  service_->wake_up();
  service_->thread.join();
}

void ReportSender::send(const NodeReport& report, Duration taken) {
  if (service_->send_at_once(report, taken)) return;
  {
    const std::lock_guard lock(service_->mutex);
    if (service_->is_new) service_->replaced.fetch_add(1, std::memory_order_relaxed);
    service_->newest = report;
    service_->taken = taken;
    ++service_->sequence;
    service_->is_new = true;
  }
  if (service_->connected) service_->wake_up();
}

ReportSender::Counts ReportSender::counts() const {
  return {.sent = service_->sent,
          .replaced = service_->replaced,
          .connected = service_->connections,
          .failed = service_->failed};
}

bool ReportSender::is_connected() const { return service_->connected; }

}  // namespace evenkeel::messaging
