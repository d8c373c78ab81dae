#include "messaging/probe_wire.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace evenkeel::messaging {
namespace {

constexpr std::uint64_t kHeaders = 14 + 20 + 32;  // Ethernet, IP, TCP with timestamps
constexpr std::uint64_t kRecord = 22;             // what TLS 1.3 adds
constexpr std::uint64_t kHandshake = 12 * 1024;   // certificates both ways
constexpr std::uint64_t kSegment = 1400;

void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i)
    bytes[at + i] = static_cast<char>((value >> (8 * (width - 1 - i))) & 0xff);
}

std::uint64_t get(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

std::string write_probe_request(const ProbeRequest& request) {
  std::string bytes(kProbeRequest, '\0');
  bytes[0] = static_cast<char>(request.kind);
  put(bytes, 1, request.amount, 4);
  return bytes;
}

std::optional<ProbeRequest> read_probe_request(std::string_view bytes) {
  if (bytes.size() != kProbeRequest) return std::nullopt;
  const auto kind = static_cast<ProbeRequest::Kind>(bytes[0]);
  using Kind = ProbeRequest::Kind;
  if (kind != Kind::hello && kind != Kind::echo && kind != Kind::data && kind != Kind::end)
    return std::nullopt;
  const ProbeRequest request{.kind = kind, .amount = static_cast<std::uint32_t>(get(bytes, 1, 4))};
  if (kind == Kind::data && (request.amount == 0 || request.amount > kProbeChunk)) return std::nullopt;
  return request;
}

std::string write_probe_answer(const ProbeAnswer& answer) {
  std::string bytes(kProbeAnswer, '\0');
  bytes[0] = static_cast<char>(answer.kind);
  put(bytes, 1, static_cast<std::uint64_t>(std::max(0.0, answer.bits_per_second)), 8);
  return bytes;
}

std::optional<ProbeAnswer> read_probe_answer(std::string_view bytes) {
  if (bytes.size() != kProbeAnswer) return std::nullopt;
  const auto kind = static_cast<ProbeAnswer::Kind>(bytes[0]);
  using Kind = ProbeAnswer::Kind;
  if (kind != Kind::welcome && kind != Kind::busy && kind != Kind::echo && kind != Kind::rate)
    return std::nullopt;
  return ProbeAnswer{.kind = kind, .bits_per_second = static_cast<double>(get(bytes, 1, 8))};
}

std::uint32_t bytes_of_test(int trips, std::int64_t data) {
  const auto rounds = static_cast<std::uint64_t>(std::max(0, trips)) + 3;
  const std::uint64_t echoes = rounds * (kProbeRequest + kProbeAnswer + 2 * kRecord + 4 * kHeaders);
  const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, data));
  // A header a segment and one for each second that is acknowledged; a request and a record's rest a chunk.
  const std::uint64_t stream =
      bytes + bytes / kSegment * 2 * kHeaders + bytes / kProbeChunk * (kProbeRequest + 2 * kRecord);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(kHandshake + echoes + stream, std::numeric_limits<std::uint32_t>::max()));
}

TlsSession::Traffic packets_of(int socket, const TlsSession& session) {
  TlsSession::Traffic traffic = session.traffic();
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
    traffic.read += kHeaders * info.tcpi_segs_in;
    traffic.written += kHeaders * info.tcpi_segs_out;
  }
  return traffic;
}

}  // namespace evenkeel::messaging
