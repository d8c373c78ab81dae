#include "messaging/report_wire.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace evenkeel::messaging {
namespace {

// Version 1, after the header, lowest byte first:
//   u8 version  u8 known (a bit per dimension)  u64 stream  u64 sequence  u64 age us  u64 sent us
//   u8 length + node name  6 f64 total  6 f64 capacity  u16 pods
//   each pod: u8 length + uid (0: a UUID, as 16 bytes)  6 f32
// A pod's use as f32 is exact to a ten-millionth, and a UUID as bytes halves the rest.
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kUuidBytes = 16, kUuidText = 36;
constexpr std::size_t kMostName = 253, kMostUid = 128;

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

class Writer {
 public:
  explicit Writer(std::string& bytes) : bytes_(bytes) { bytes_.assign(kFrameHeader, '\0'); }

  template <class Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void short_real(double value) { number(std::bit_cast<std::uint32_t>(static_cast<float>(value))); }
  void text(std::string_view value) {
    number(static_cast<std::uint8_t>(value.size()));
    bytes_ += value;
  }
  void uid(std::string_view value) {
    if (!is_uuid(value)) return text(value);
    number(std::uint8_t{0});
    for (std::size_t i = 0; i < kUuidText; i += 2) {
      if (is_dash_place(i)) ++i;
      bytes_.push_back(static_cast<char>(hex_digit(value[i]) << 4 | hex_digit(value[i + 1])));
    }
  }
  void finish() {
    const auto length = static_cast<std::uint32_t>(bytes_.size() - kFrameHeader);
    for (std::size_t i = 0; i < kFrameHeader; ++i) bytes_[i] = static_cast<char>(length >> (8 * i));
  }

 private:
  std::string& bytes_;
};

// Reads what is there; past the end it reads zeros and remembers that it did.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class Number>
  Number number() {
    const std::string_view from = take(sizeof(Number));
    Number value = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
      value =
          static_cast<Number>(value | static_cast<Number>(static_cast<unsigned char>(from[i])) << (8 * i));
    return value;
  }
  double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  double short_real() { return static_cast<double>(std::bit_cast<float>(number<std::uint32_t>())); }
  std::string_view text() { return take(number<std::uint8_t>()); }
  std::string uid() {
    const auto length = number<std::uint8_t>();
    if (length != 0) return std::string(take(length));
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char c : take(kUuidBytes)) {
      if (is_dash_place(text.size())) text += '-';
      text += kDigits[static_cast<unsigned char>(c) >> 4];
      text += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return text;
  }

  bool was_cut() const { return was_cut_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      was_cut_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool was_cut_ = false;
};

double most_of(std::size_t dimension) {
  switch (static_cast<Dimension>(dimension)) {
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
    if (!(usage.of[d] >= 0 && usage.of[d] <= most_of(d))) return false;
  return true;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
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

Status write_frame(const FrameHead& frame, const NodeReport& report, std::string& bytes) {
  if (auto checked = check(frame, report); !checked) return checked;
  Writer writer(bytes);
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
    writer.uid(report.pods[i].uid);
    for (const double amount : report.pods[i].usage.of) writer.short_real(amount);
  }
  writer.finish();
  if (bytes.size() - kFrameHeader > kMostFrame) return invalid("a report of more bytes than may be sent");
  return {};
}

std::optional<std::size_t> frame_length(std::string_view header) {
  if (header.size() != kFrameHeader) return std::nullopt;
  const std::size_t length = Reader(header).number<std::uint32_t>();
  if (length == 0 || length > kMostFrame) return std::nullopt;
  return length;
}

Result<ReportFrame> read_frame(std::string_view bytes) {
  Reader reader(bytes);
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
    pod.uid = reader.uid();
    for (double& amount : pod.usage.of) amount = reader.short_real();
  }
  if (reader.was_cut()) return invalid("a report that ends in its middle");
  if (!reader.is_at_end()) return invalid("a report with more behind its end");
  if (auto checked = check(frame, report); !checked) return checked.error();
  return frame;
}

}  // namespace evenkeel::messaging
