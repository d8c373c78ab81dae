#include "kubernetes/watch_frames.h"

#include <algorithm>
#include <cstdint>

namespace evenkeel::kubernetes {

void WatchFrames::append(std::string_view bytes) {
  // Moved to the front only when new bytes come: frames in between stay where they are.
  buffer_.erase(0, taken_);
  searched_ -= std::min(searched_, taken_);
  taken_ = 0;
  buffer_ += bytes;
}

Result<std::optional<std::string_view>> WatchFrames::next() {
  return format_ == WireFormat::json ? next_line() : next_block();
}

Result<std::optional<std::string_view>> WatchFrames::next_line() {
  while (true) {
    const std::size_t end = buffer_.find('\n', std::max(searched_, taken_));
    if (end == std::string::npos) {
      searched_ = buffer_.size();
      if (buffer_.size() - taken_ > kMaxFrame) return invalid("watch: a line of more than 64 MiB");
      return std::optional<std::string_view>();
    }
    const std::string_view line = std::string_view(buffer_).substr(taken_, end - taken_);
    taken_ = searched_ = end + 1;
    if (!line.empty() && line != "\r") return std::optional(line);
  }
}

Result<std::optional<std::string_view>> WatchFrames::next_block() {
  const std::string_view rest = std::string_view(buffer_).substr(taken_);
  if (rest.size() < 4) return std::optional<std::string_view>();
  std::uint32_t length = 0;
  for (const char byte : rest.substr(0, 4)) length = length << 8 | static_cast<std::uint8_t>(byte);
  if (length > kMaxFrame) return invalid("watch: a frame of " + std::to_string(length) + " bytes");
  if (rest.size() - 4 < length) return std::optional<std::string_view>();
  taken_ += 4 + length;
  return std::optional(rest.substr(4, length));
}

}  // namespace evenkeel::kubernetes
