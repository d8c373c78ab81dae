#include "links/link.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::links {
namespace {

// A token bucket holds what a link carries in this time, or two full frames where that is more: a sender that
// was silent may send so much at once.
constexpr Moment kBurst = std::chrono::milliseconds(2);
constexpr double kBurstBits = 2 * 1514 * 8;
// Who would wait longer for their turn are dropped, as by a router with a buffer of that size.
constexpr Moment kLongestWait = std::chrono::milliseconds(100);

Moment seconds(double value) { return Moment(static_cast<Moment::rep>(value * 1e9)); }

}  // namespace

bool Link::send(Moment now, std::span<const std::uint8_t> frame) {
  if (settings_.loss > 0 && random_.chance(settings_.loss)) return false;
  Moment leaves = now;
  if (settings_.bits_s > 0) {
    const Moment burst = std::max(kBurst, seconds(kBurstBits / settings_.bits_s));
    const Moment begins = std::max(free_, now - burst);
    if (begins - now > kLongestWait) return false;
    free_ = begins + seconds(static_cast<double>(8 * frame.size()) / settings_.bits_s);
    leaves = std::max(now, free_);
  }
  Moment due = leaves + settings_.delay;
  if (settings_.jitter.count() > 0)
    due += seconds(random_.uniform() * 1e-9 * static_cast<double>(settings_.jitter.count()));
  if (!under_way_.empty()) due = std::max(due, under_way_.back().due);
  under_way_.push_back({due, Bytes(frame.begin(), frame.end())});
  return true;
}

std::optional<Moment> Link::next() const {
  if (under_way_.empty()) return std::nullopt;
  return under_way_.front().due;
}

Bytes Link::receive() {
  EVENKEEL_CHECK(!under_way_.empty());
  Bytes frame = std::move(under_way_.front().frame);
  under_way_.pop_front();
  return frame;
}

}  // namespace evenkeel::links
