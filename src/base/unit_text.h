#pragma once
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/result.h"
#include "base/time.h"

namespace evenkeel {

// Quantities as people write them in scenarios and flags. Errors say what was expected and what was found.
Result<Duration> parse_duration(std::string_view text);  // 250ms 20s 5m 2h 1d 1h30m; a plain number: seconds
Result<Bytes> parse_byte_size(std::string_view text);    // 512 4GiB 4Gi "8.4 MB" 36M
Result<BytesPerSecond> parse_byte_rate(std::string_view text);  // 8.4MB/s "36 MB/s" 10Gbit/s; plain: bytes/s

// The way back, for messages: short, and read by the functions above as the same value.
std::string to_text(Duration duration);
std::string to_text(Bytes bytes);
std::string to_text(BytesPerSecond rate);
std::string to_text(MilliCpu cpu);

}  // namespace evenkeel
