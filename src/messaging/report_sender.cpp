#include "messaging/report_sender.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
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
#include "messaging/host_port.h"
#include "messaging/report_wire.h"
#include "messaging/tls_session.h"

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;
constexpr Duration kHeldWell = 5s;       // a connection that lasted so long was no accident
constexpr Duration kLookAtFiles = 10s;   // whether the certificates are still those of the connection
constexpr Duration kLastMoment = 200ms;  // for a report on its way when we are told to end
constexpr int kSendBuffer = 64 * 1024;   // what waits in the kernel grows old there

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

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
  bool send_newest(Connection& connection);
  bool has_news() {
    const std::lock_guard lock(mutex);
    return is_new;
  }
  Result<std::unique_ptr<Connection>> connect();
  Result<Descriptor> reach(Duration until);
  void pause_after_failure(const std::string& why);
  // Until the socket is ready for `events`, the time is over, or there is something to do: an end, or (for
  // who waits for POLLIN and nothing else) a new report.
  enum class Woken { ready, in_vain, told };
  Woken wait(int socket, short events, Duration until);
  Status step_until_done(int socket, Duration until, const std::function<TlsSession::Step()>& step,
                         const TlsSession& session);
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
  ReportFrame frame;  // what is being sent; keeps its memory
  std::string bytes;
  mutable std::string last_said;  // a receiver that is away for an hour is one line, not a thousand

  std::mutex mutex;  // of the next four, held for a copy
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

Result<Descriptor> ReportSender::Service::reach(Duration until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int said = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &found); said != 0)
    return unavailable(std::string("cannot find the host: ") + ::gai_strerror(said));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  std::string trouble = "no address";
  for (const addrinfo* one = found; one != nullptr && !stopping; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) continue;
    int error = 0;
    if (::connect(socket.get(), one->ai_addr, one->ai_addrlen) != 0) {
      error = errno;
      if (error == EINPROGRESS) {
        if (wait(socket.get(), POLLOUT, until) != Woken::ready) {
          error = ETIMEDOUT;
        } else {
          socklen_t size = sizeof error;
          (void)::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        }
      }
    }
    if (error != 0) {
      trouble = std::strerror(error);
      continue;
    }
    const auto set = [&](int level, int name, int value) {
      (void)::setsockopt(socket.get(), level, name, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_SNDBUF, kSendBuffer);
    // What is not acknowledged for so long is lost: better a new connection than old news.
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(options.patience.count() / 1000));
    return Result<Descriptor>(std::move(socket));
  }
  return unavailable("cannot connect: " + trouble);
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
  auto socket = reach(until);
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

// Whether the connection still serves.
bool ReportSender::Service::send_newest(Connection& connection) {
  {
    const std::lock_guard lock(mutex);
    if (!is_new) return true;
    frame.report = newest;
    frame.age = taken;  // when it was, for now
    frame.sequence = sequence;
    is_new = false;
  }
  frame.stream = stream;
  frame.sent = steady_now();
  frame.age = std::clamp(frame.sent - frame.age, Duration::zero(), kMostAge);
  if (const Status written = write_frame(frame, bytes); !written) {
    say("a report was not sent: " + written.error().message);
    return true;
  }
  std::string_view rest = bytes;
  const Duration until = steady_now() + (stopping ? kLastMoment : options.patience);
  const Status done = step_until_done(
      connection.socket.get(), until,
      [&] {
        std::size_t count = 0;
        auto step = TlsSession::Step::done;
        while (!rest.empty() && (step = connection.session.write(rest, count)) == TlsSession::Step::done)
          rest.remove_prefix(count);
        return step;
      },
      connection.session);
  if (!done) {
    say("lost " + options.to + ": " + done.error().message);
    return false;
  }
  sent.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void ReportSender::Service::serve(Connection& connection) {
  Duration look = steady_now() + kLookAtFiles;
  while (!stopping && send_newest(connection)) {
    if (has_news()) continue;  // it came during the write, which took the wake-up
    if (wait(connection.socket.get(), POLLIN, look) == Woken::ready) {
      // The other side says nothing but good-bye, or why it will not have us.
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
    connected = true;
    say("sending to " + options.to);
    serve(**connection);
    if (stopping) (void)send_newest(**connection);
    connected = false;
    (*connection)->session.say_farewell();
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
  const std::uint64_t one = 1;
  (void)!::write(service_->wake.get(), &one, sizeof one);
  service_->thread.join();
}

void ReportSender::send(const NodeReport& report, Duration taken) {
  {
    const std::lock_guard lock(service_->mutex);
    if (service_->is_new) service_->replaced.fetch_add(1, std::memory_order_relaxed);
    service_->newest = report;
    service_->taken = taken;
    ++service_->sequence;
    service_->is_new = true;
  }
  const std::uint64_t one = 1;
  (void)!::write(service_->wake.get(), &one, sizeof one);
}

ReportSender::Counts ReportSender::counts() const {
  return {.sent = service_->sent,
          .replaced = service_->replaced,
          .connected = service_->connections,
          .failed = service_->failed};
}

bool ReportSender::is_connected() const { return service_->connected; }

}  // namespace evenkeel::messaging
