#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cluster/node_report.h"

namespace evenkeel::messaging {

// What travels with a report.
struct FrameHead {
  std::uint64_t stream = 0;    // drawn when the monitor starts: its numbers begin anew
  std::uint64_t sequence = 0;  // rises by one with every sample taken, sent or not
  Duration age{};              // of the sample when it was sent, by the sender's steady clock
  Duration sent{};             // the same clock when it was sent; its zero means nothing
  bool operator==(const FrameHead&) const = default;
};
// One report as it travels. `report.measured` does not: the two clocks are not the same one.
struct ReportFrame : FrameHead {
  NodeReport report;
  bool operator==(const ReportFrame&) const = default;
};

// What goes before a frame: the number of bytes that follow, four of them, the lowest first.
inline constexpr std::size_t kFrameHeader = 4;
inline constexpr std::size_t kMostFrame = 256 * 1024;
inline constexpr std::size_t kMostPods = 4096;
inline constexpr std::size_t kMostName = 253;  // of a node

// The bounds of a report that may be believed. Above them somebody lies or miscounts: no machine has a
// million cores, 64 PiB of memory or moves 100 TB in a second.
inline constexpr double kMostCores = 1e6, kMostBytes = 0x1p56, kMostRate = 1e14;
inline constexpr Duration kMostAge = std::chrono::hours(24);
double most_of(Dimension dimension);
bool is_believable(const Usage& usage);

// Replaces `bytes` by header and frame; keeps its memory, so that a sender allocates nothing once it has
// sent. Pods beyond kMostPods are left out. What read_frame() would refuse is not sent: invalid.
Status write_frame(const FrameHead& head, const NodeReport& report, std::string& bytes);
inline Status write_frame(const ReportFrame& frame, std::string& bytes) {
  return write_frame(frame, frame.report, bytes);
}

// How long the frame is, of its header; none: more than anybody may send, or nothing at all.
std::optional<std::size_t> frame_length(std::string_view header);

// A frame without its header. Whatever the bytes are: either all of a report that may be believed, or why
// not.
Result<ReportFrame> read_frame(std::string_view bytes);

}  // namespace evenkeel::messaging
