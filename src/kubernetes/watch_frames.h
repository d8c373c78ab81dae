#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kubernetes/wire_objects.h"

namespace evenkeel::kubernetes {

// Cuts the bytes of a watch, as they come, into its frames: lines for JSON, four bytes of length and then as
// many for protobuf.
class WatchFrames {
 public:
  // No object is larger than etcd's request limit, 1.5 MiB by default; more than this is no watch.
  static constexpr std::size_t kMaxFrame = 64u << 20;

  explicit WatchFrames(WireFormat format) : format_(format) {}

  void append(std::string_view bytes);
  // The next whole frame, empty while it is incomplete. Valid until the next call.
  Result<std::optional<std::string_view>> next();
  WireFormat format() const { return format_; }

 private:
  Result<std::optional<std::string_view>> next_line();
  Result<std::optional<std::string_view>> next_block();

  WireFormat format_;
  std::string buffer_;
  std::size_t taken_ = 0;     // in front of it everything was handed out
  std::size_t searched_ = 0;  // no line break in front of it
};

}  // namespace evenkeel::kubernetes
