#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::kubernetes {

struct Url {
  bool is_tls = true;
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 443;
  std::string prefix;  // the path in front of /api, without a slash at its end

  std::string authority() const;  // for the Host header
};

// https://… and, for a proxy on this machine only, http://localhost: keys and objects never cross a network
// unencrypted.
Result<Url> parse_url(std::string_view text);

// For one value of a query.
std::string percent_encoded(std::string_view text);

}  // namespace evenkeel::kubernetes
