// What probes say to each other inside of TLS. The one that measures sends requests of 32 bytes and gets
// answers of 1,024, as `netperf -t TCP_RR -- -r 32,1024` does:
//   hello  amount: how many bytes the test will move, both ways     answer: welcome, or busy
//   echo                                                            answer: anything
//   data   amount: how many bytes follow                            no answer
//   end    of the data                                              answer: how fast it came
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messaging/tls_session.h"

namespace evenkeel::messaging {

inline constexpr std::size_t kProbeRequest = 32, kProbeAnswer = 1024, kProbeChunk = 16 * 1024;
inline constexpr std::string_view kProbeName = "evenkeel:netprobe:";  // and the node: a certificate's name

struct ProbeRequest {
  enum class Kind : char { hello = 'H', echo = 'R', data = 'D', end = 'E' };
  Kind kind = Kind::echo;
  std::uint32_t amount = 0;
};
std::string write_probe_request(const ProbeRequest& request);
std::optional<ProbeRequest> read_probe_request(std::string_view bytes);  // nothing: this is none

struct ProbeAnswer {
  enum class Kind : char { welcome = 'Y', busy = 'B', echo = 'R', rate = 'E' };
  Kind kind = Kind::echo;
  double bits_per_second = 0;  // of a rate
};
std::string write_probe_answer(const ProbeAnswer& answer);
std::optional<ProbeAnswer> read_probe_answer(std::string_view bytes);

// What a test of so many echoes and bytes of data moves, both ways, packets' headers included: an upper
// bound.
std::uint32_t bytes_of_test(int trips, std::int64_t data);

// What a connection moved, as packets: what TLS wrote and read, and a header for each segment.
TlsSession::Traffic packets_of(int socket, const TlsSession& session);

// A node is in one test at a time, on either end.
class ProbeTurn {
 public:
  bool take() { return !taken_.exchange(true); }
  void give_back() { taken_ = false; }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace evenkeel::messaging
