#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::messaging {

// `host:port`, `[::1]:port`. invalid, with what was expected, for anything else.
struct HostPort {
  std::string host, port;
  bool operator==(const HostPort&) const = default;
};
Result<HostPort> parse_host_port(std::string_view text);

}  // namespace evenkeel::messaging
