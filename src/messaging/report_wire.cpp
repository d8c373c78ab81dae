#include "messaging/report_wire.h"

#include <algorithm>

#include "messaging/wire_bytes.h"

namespace evenkeel::messaging {
namespace {

// Version 1, after the header, lowest byte first:
//   u8 version  u8 known (a bit per dimension)  u64 stream  u64 sequence  u64 age us  u64 sent us
//   u8 length + node name  6 f64 total  6 f64 capacity  u16 pods
//   each pod: u8 length + uid (0: a UUID, as 16 bytes)  6 f32
// A pod's use as f32 is exact to a ten-millionth, and a UUID as bytes halves the rest.
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kUuidBytes = 16, kUuidText = 36;
constexpr std::size_t kMostUid = 128;

bool is_dash_place(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;  // capitals are not how Kubernetes spells a uid, and would come back as something else
}

// Whether the uid is a UUID that comes back from its bytes letter for letter.
bool is_uuid(std::string_view uid) {
  if (uid.size() != kUuidText) return false;
  for (std::size_t i = 0; i < kUuidText; ++i)
    if (is_dash_place(i) ? uid[i] != '-' : hex_digit(uid[i]) < 0) return false;
  return true;
}

void write_uid(WireWriter& writer, std::string_view value) {
  if (!is_uuid(value)) return writer.text(value);
  writer.number(std::uint8_t{0});
  for (std::size_t i = 0; i < kUuidText; i += 2) {
    if (is_dash_place(i)) ++i;
    writer.number(static_cast<std::uint8_t>(hex_digit(value[i]) << 4 | hex_digit(value[i + 1])));
  }
}

std::string read_uid(WireReader& reader) {
  const auto length = reader.number<std::uint8_t>();
  if (length != 0) return std::string(reader.take(length));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : reader.take(kUuidBytes)) {
    if (is_dash_place(text.size())) text += '-';
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

void write_header(std::string& bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size() - kFrameHeader);
  for (std::size_t i = 0; i < kFrameHeader; ++i) bytes[i] = static_cast<char>(length >> (8 * i));
}

Status check(const FrameHead& frame, const NodeReport& report) {
  if (report.node.empty() || report.node.size() > kMostName || !is_plain(report.node))
    return invalid("a report without a node's name");
  if (frame.age < Duration::zero() || frame.age > kMostAge) return invalid("a sample of an absurd age");
  if (frame.sent < Duration::zero()) return invalid("sent before all time");
  if (!is_believable(report.total) || !is_believable(report.capacity))
    return invalid("amounts of " + report.node + " that cannot be");
  for (const NodeReport::PodPart& pod : report.pods) {
    if (pod.uid.empty() || pod.uid.size() > kMostUid || !is_plain(pod.uid))
      return invalid("a pod without a uid");
    if (!is_believable(pod.usage)) return invalid("amounts of pod " + pod.uid + " that cannot be");
  }
  return {};
}

}  // namespace

double most_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::cpu:
      return kMostCores;
    case Dimension::memory:
      return kMostBytes;
    default:
      return kMostRate;
  }
}

// The comparison is false for NaN as well.
bool is_believable(const Usage& usage) {
  for (std::size_t d = 0; d < kDimensions; ++d)
    if (!(usage.of[d] >= 0 && usage.of[d] <= most_of(static_cast<Dimension>(d)))) return false;
  return true;
}

Status write_frame(const FrameHead& frame, const NodeReport& report, std::string& bytes) {
  if (auto checked = check(frame, report); !checked) return checked;
  bytes.assign(kFrameHeader, '\0');
  WireWriter writer(bytes);
  writer.number(kVersion);
  std::uint8_t known = 0;
  for (std::size_t d = 0; d < kDimensions; ++d)
    known = static_cast<std::uint8_t>(known | (report.known[d] ? 1u << d : 0u));
  writer.number(known);
  writer.number(frame.stream);
  writer.number(frame.sequence);
  writer.number(static_cast<std::uint64_t>(frame.age.count()));
  writer.number(static_cast<std::uint64_t>(frame.sent.count()));
  writer.text(report.node);
  for (const double amount : report.total.of) writer.real(amount);
  for (const double amount : report.capacity.of) writer.real(amount);
  const std::size_t pods = std::min(report.pods.size(), kMostPods);
  writer.number(static_cast<std::uint16_t>(pods));
  for (std::size_t i = 0; i < pods; ++i) {
    write_uid(writer, report.pods[i].uid);
    for (const double amount : report.pods[i].usage.of) writer.short_real(amount);
  }
  write_header(bytes);
  if (bytes.size() - kFrameHeader > kMostFrame) return invalid("a report of more bytes than may be sent");
  return {};
}

std::optional<std::size_t> frame_length(std::string_view header) {
  if (header.size() != kFrameHeader) return std::nullopt;
  const std::size_t length = WireReader(header).number<std::uint32_t>();
  if (length == 0 || length > kMostFrame) return std::nullopt;
  return length;
}

Result<ReportFrame> read_frame(std::string_view bytes) {
  WireReader reader(bytes);
  if (const auto version = reader.number<std::uint8_t>(); version != kVersion)
    return invalid("version " + std::to_string(version) + " of reports, expected " +
                   std::to_string(kVersion));
  ReportFrame frame;
  NodeReport& report = frame.report;
  const auto known = reader.number<std::uint8_t>();
  if (known >> kDimensions != 0) return invalid("more dimensions than there are");
  for (std::size_t d = 0; d < kDimensions; ++d) report.known[d] = (known >> d & 1) != 0;
  frame.stream = reader.number<std::uint64_t>();
  frame.sequence = reader.number<std::uint64_t>();
  // What is beyond the signed range comes out negative, which check() refuses.
  frame.age = Duration(static_cast<std::int64_t>(reader.number<std::uint64_t>()));
  frame.sent = Duration(static_cast<std::int64_t>(reader.number<std::uint64_t>()));
  report.node = reader.text();
  for (double& amount : report.total.of) amount = reader.real();
  for (double& amount : report.capacity.of) amount = reader.real();
  const std::size_t pods = reader.number<std::uint16_t>();
  if (pods > kMostPods) return invalid("more pods than a node has");
  report.pods.reserve(std::min(pods, bytes.size() / kUuidBytes));  // no more memory than bytes came
  for (std::size_t i = 0; i < pods && !reader.was_cut(); ++i) {
    NodeReport::PodPart& pod = report.pods.emplace_back();
    pod.uid = read_uid(reader);
    for (double& amount : pod.usage.of) amount = static_cast<double>(reader.short_real());
  }
  if (reader.was_cut()) return invalid("a report that ends in its middle");
  if (!reader.is_at_end()) return invalid("a report with more behind its end");
  if (auto checked = check(frame, report); !checked) return checked.error();
  return frame;
}

}  // namespace evenkeel::messaging
