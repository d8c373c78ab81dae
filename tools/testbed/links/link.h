// One direction of one cable, as arithmetic: what goes in when comes out when. No clock, no sockets.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"

namespace evenkeel::links {

using Moment = std::chrono::nanoseconds;  // since whatever the caller's clock counts from
using Bytes = std::vector<std::uint8_t>;

struct LinkSettings {
  Moment delay{};     // of every frame, one way
  Moment jitter{};    // at most so much more, evenly drawn; frames stay in order
  double bits_s = 0;  // 0: no limit
  double loss = 0;    // share of frames, 0 to 1
  bool operator==(const LinkSettings&) const = default;
};

class Link {
 public:
  explicit Link(Random random) : random_(random) {}

  // For frames that come from now on; those under way arrive as they would have.
  void set(const LinkSettings& settings) { settings_ = settings; }

  // False: the frame is lost, by chance or because too many wait for their turn.
  bool send(Moment now, std::span<const std::uint8_t> frame);

  // When the next frame arrives; nothing where none is under way.
  std::optional<Moment> next() const;
  Bytes receive();  // that frame; there must be one

 private:
  struct UnderWay {
    Moment due;
    Bytes frame;
  };

  LinkSettings settings_;
  Random random_;
  Moment free_{};  // when the last frame that was let in has left the sender
  std::deque<UnderWay> under_way_;
};

}  // namespace evenkeel::links
