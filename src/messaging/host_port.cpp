#include "messaging/host_port.h"

#include "base/numbers.h"

namespace evenkeel::messaging {

Result<HostPort> parse_host_port(std::string_view text) {
  const Error wrong =
      invalid("'" + std::string(text) + "': expected HOST:PORT, as in evenkeel:9470 or [::1]:9470");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return wrong;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return wrong;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong;  // an IPv6 address without its brackets: where does it end?
  }
  const auto number = parse_integer(port);
  if (!number || *number < 0 || *number > 65535 || port.front() == '+' || port.front() == '-') return wrong;
  return HostPort{.host = std::string(host), .port = std::string(port)};
}

}  // namespace evenkeel::messaging
