#include "kubernetes/http_url.h"

#include "base/numbers.h"

namespace evenkeel::kubernetes {

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return name + ":" + std::to_string(port);
}

Result<Url> parse_url(std::string_view text) {
  const auto wrong = [whole = std::string(text)](const std::string& what) {
    return invalid("expected https://host[:port], found '" + whole + "': " + what);
  };
  Url url;
  if (text.starts_with("https://")) {
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
    url.is_tls = false;
    url.port = 80;
  } else {
    return wrong("the scheme is neither https nor http");
  }
  const auto slash = text.find('/');
  std::string_view authority = text.substr(0, slash);
  if (slash != std::string_view::npos) url.prefix = text.substr(slash);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  if (url.prefix.find_first_of(" ?#\r\n\t") != std::string::npos) return wrong("odd characters in the path");
  if (authority.find('@') != std::string_view::npos) return wrong("a user name does not belong there");

  std::string_view port;
  if (authority.starts_with('[')) {
    const auto bracket = authority.find(']');
    if (bracket == std::string_view::npos) return wrong("']' is missing");
    url.host = authority.substr(1, bracket - 1);
    authority.remove_prefix(bracket + 1);
    if (!authority.empty() && authority.front() != ':') return wrong("expected ':' after ']'");
    if (!authority.empty()) port = authority.substr(1);
    if (!authority.empty() && port.empty()) return wrong("the port is empty");
  } else {
    const auto colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = authority.substr(colon + 1);
      if (port.empty()) return wrong("the port is empty");
    }
  }
  if (url.host.empty() || url.host.find_first_of(" \r\n\t?#") != std::string::npos) return wrong("no host");
  if (!port.empty()) {
    const auto number = parse_integer(port);
    if (!number || *number < 1 || *number > 65535) return wrong("the port is not between 1 and 65535");
    url.port = static_cast<std::uint16_t>(*number);
  }
  const bool is_here = url.host == "localhost" || url.host == "127.0.0.1" || url.host == "::1";
  if (!url.is_tls && !is_here) return wrong("http is only for this machine");
  return url;
}

std::string percent_encoded(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.' ||
                          byte == '~';
    if (is_plain) {
      encoded += c;
    } else {
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace evenkeel::kubernetes
