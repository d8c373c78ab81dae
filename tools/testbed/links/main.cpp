// evenkeel_links MATRIX NAME…: delays, rates, jitter and loss between endpoints, in user space.
//
// Makes a TAP device tap-NAME for each endpoint in this process' network namespace, says "ready" and carries
// Ethernet frames between them as MATRIX says (links/matrix.h). SIGHUP reads it again; SIGTERM and SIGINT end
// it, and the devices with it. What is not sent costs nothing: it sleeps until a frame comes or is due.
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "links/matrix.h"
#include "links/switch.h"

namespace evenkeel::links {
namespace {

constexpr std::size_t kMostEndpoints = 64;
constexpr std::uint64_t kTimer = 1'000, kSignal = 1'001;  // beside the endpoints' numbers

void complain(const Error& error) { (void)std::fprintf(stderr, "links: %s\n", error.message.c_str()); }

class Loop {
 public:
  Loop(Switch& carrier, std::size_t endpoints)
      : carrier_(carrier),
        poll_(::epoll_create1(EPOLL_CLOEXEC)),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    sigset_t signals;
    (void)::sigemptyset(&signals);
    for (const int one : {SIGHUP, SIGTERM, SIGINT}) (void)::sigaddset(&signals, one);
    (void)::sigprocmask(SIG_BLOCK, &signals, nullptr);
    signals_ = Descriptor(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
    for (std::size_t i = 0; i < endpoints; ++i) watch(carrier.descriptor(i), i);
    watch(timer_.get(), kTimer);
    watch(signals_.get(), kSignal);
  }

  // Until something happened; the signal that came, 0 for none.
  int turn() {
    set_timer(carrier_.deliver(Switch::now()));
    std::array<epoll_event, 16> events{};
    const int count = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), -1);
    int came = 0;
    for (int i = 0; i < count; ++i) {
      const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
      std::uint64_t expirations = 0;
      if (what == kTimer)
        (void)!::read(timer_.get(), &expirations, sizeof expirations);
      else if (what == kSignal)
        came = read_signal();
      else
        carrier_.read_from(what);
    }
    return came;
  }

 private:
  void watch(int descriptor, std::uint64_t name) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = name;
    (void)::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor, &event);
  }

  void set_timer(std::optional<Moment> due) {
    if (due == armed_) return;
    armed_ = due;
    itimerspec time{};  // zeros: no alarm
    if (due) {
      const auto whole = std::chrono::floor<std::chrono::seconds>(*due);
      time.it_value = {.tv_sec = whole.count(), .tv_nsec = (*due - whole).count()};
    }
    (void)::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &time, nullptr);
  }

  int read_signal() {
    signalfd_siginfo told{};
    return ::read(signals_.get(), &told, sizeof told) == sizeof told ? static_cast<int>(told.ssi_signo) : 0;
  }

  Switch& carrier_;
  Descriptor poll_, timer_, signals_;
  std::optional<Moment> armed_;
};

int run(const std::string& file, const std::vector<std::string>& names) {
  const auto matrix = read_matrix(file, names);
  if (!matrix) return complain(matrix.error()), 1;
  std::vector<Descriptor> taps;
  for (const std::string& name : names) {
    auto tap = open_tap("tap-" + name);
    if (!tap) return complain(tap.error()), 1;
    taps.push_back(*std::move(tap));
  }
  (void)::prctl(PR_SET_TIMERSLACK, 1UL);  // nanosecond: the default rounds delays up by 50 us
  Switch carrier(std::move(taps), *matrix);
  Loop loop(carrier, names.size());
  (void)std::puts("ready");
  (void)std::fflush(stdout);
  for (;;) {
    const int came = loop.turn();
    if (came == SIGTERM || came == SIGINT) return 0;
    if (came != SIGHUP) continue;
    const auto changed = read_matrix(file, names);
    if (changed) carrier.set(*changed);
    (void)std::puts(changed ? "read" : "kept");
    (void)std::fflush(stdout);
    if (!changed) complain(changed.error());
  }
}

}  // namespace
}  // namespace evenkeel::links

int main(int count, char** values) {
  const std::vector<std::string> names(values + (count < 2 ? count : 2), values + count);
  if (names.empty() || names.size() > evenkeel::links::kMostEndpoints) {
    (void)std::fprintf(stderr, "usage: %s MATRIX NAME... (1 to %zu endpoints)\n", values[0],
                       evenkeel::links::kMostEndpoints);
    return 2;
  }
  return evenkeel::links::run(values[1], names);
}
