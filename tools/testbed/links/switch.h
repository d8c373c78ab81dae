// A switch of Ethernet frames whose cables take time: one TAP device per endpoint, a link in each direction
// between any two of them.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "links/link.h"
#include "links/matrix.h"

namespace evenkeel::links {

// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return value_; }

 private:
  int value_;
};

// A new device of that name in this process' network namespace; it goes when the descriptor is closed.
Result<Descriptor> open_tap(const std::string& name);

class Switch {
 public:
  Switch(std::vector<Descriptor> taps, const Matrix& matrix);

  void set(const Matrix& matrix);
  int descriptor(std::size_t endpoint) const { return taps_[endpoint].get(); }

  // Takes in what an endpoint has sent, at most a few dozen frames.
  void read_from(std::size_t endpoint);
  // Hands out what has arrived by now, and says when something arrives next.
  std::optional<Moment> deliver(Moment now);

  static Moment now();

 private:
  using Address = std::array<std::uint8_t, 6>;
  struct Arrival {
    Moment due;
    std::size_t from, to;
    bool operator>(const Arrival& other) const { return due > other.due; }
  };

  Link& link(std::size_t from, std::size_t to) { return links_[from * taps_.size() + to]; }
  void forward(std::size_t from, std::span<const std::uint8_t> frame);
  void send(std::size_t from, std::size_t to, Moment now, std::span<const std::uint8_t> frame);

  std::vector<Descriptor> taps_;
  std::vector<Link> links_;
  std::map<Address, std::size_t> behind_;  // which endpoint was heard with that address
  // The first frame of every link that has any.
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
};

}  // namespace evenkeel::links
