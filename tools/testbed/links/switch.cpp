#include "links/switch.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <system_error>

namespace evenkeel::links {
namespace {

constexpr std::size_t kHeader = 14;  // two addresses and a type
constexpr std::size_t kAddress = 6;
constexpr int kAtATime = 64;
constexpr std::size_t kAddressesKnown = 4096;  // more are a loop or an attack; unknown ones reach everybody

std::string said_by_system() { return std::generic_category().message(errno); }

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

Result<Descriptor> open_tap(const std::string& name) {
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name)
    return invalid("'" + name + "' cannot name a device");
  Descriptor tap(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tap.get() < 0) return unavailable("/dev/net/tun: " + said_by_system());
  std::memcpy(request.ifr_name, name.data(), name.size());
  // One frame a read, none larger than the device's MTU: a rate, a loss or a queue counts packets as wires
  // do.
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (::ioctl(tap.get(), TUNSETIFF, &request) != 0) return unavailable(name + ": " + said_by_system());
  return tap;
}

Switch::Switch(std::vector<Descriptor> taps, const Matrix& matrix) : taps_(std::move(taps)) {
  const Random seed(1);
  for (std::size_t i = 0; i < taps_.size() * taps_.size(); ++i) links_.emplace_back(seed.fork(i));
  set(matrix);
}

void Switch::set(const Matrix& matrix) {
  for (std::size_t from = 0; from < taps_.size(); ++from)
    for (std::size_t to = 0; to < taps_.size(); ++to) link(from, to).set(matrix[from][to]);
}

Moment Switch::now() {
  timespec time{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + Moment(time.tv_nsec);
}

void Switch::read_from(std::size_t endpoint) {
  std::array<std::uint8_t, 65536> buffer{};
  for (int i = 0; i < kAtATime; ++i) {
    const ssize_t got = ::read(taps_[endpoint].get(), buffer.data(), buffer.size());
    if (got < static_cast<ssize_t>(kHeader)) return;  // nothing more, or a device that is down
    forward(endpoint, std::span(buffer).first(static_cast<std::size_t>(got)));
  }
}

void Switch::forward(std::size_t from, std::span<const std::uint8_t> frame) {
  const Moment at = now();
  Address destination{}, source{};
  std::copy_n(frame.begin(), kAddress, destination.begin());
  std::copy_n(frame.begin() + kAddress, kAddress, source.begin());
  if (behind_.size() < kAddressesKnown || behind_.contains(source)) behind_[source] = from;
  const bool is_to_many = (destination[0] & 1) != 0;
  const auto known = is_to_many ? behind_.end() : behind_.find(destination);
  if (known != behind_.end()) {
    if (known->second != from) send(from, known->second, at, frame);
    return;
  }
  for (std::size_t to = 0; to < taps_.size(); ++to)
    if (to != from) send(from, to, at, frame);
}

void Switch::send(std::size_t from, std::size_t to, Moment now, std::span<const std::uint8_t> frame) {
  Link& way = link(from, to);
  const bool was_empty = !way.next();
  if (way.send(now, frame) && was_empty) arrivals_.push({*way.next(), from, to});
}

std::optional<Moment> Switch::deliver(Moment now) {
  while (!arrivals_.empty() && arrivals_.top().due <= now) {
    const Arrival first = arrivals_.top();
    arrivals_.pop();
    Link& way = link(first.from, first.to);
    const Bytes frame = way.receive();
    // A device that is down, or whose line is full, loses it, as it would on a wire.
    (void)!::write(taps_[first.to].get(), frame.data(), frame.size());
    if (const auto next = way.next()) arrivals_.push({*next, first.from, first.to});
  }
  if (arrivals_.empty()) return std::nullopt;
  return arrivals_.top().due;
}

}  // namespace evenkeel::links
