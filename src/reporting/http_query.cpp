#include "reporting/http_query.h"

#include <algorithm>

namespace evenkeel::reporting {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decode_part(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return decode_url(spaced);
}

}  // namespace

std::string decode_url(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    out += is_code ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (is_code) i += 2;
  }
  return out;
}

HttpPairs decode_query(std::string_view query) {
  HttpPairs pairs;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    pairs.emplace_back(decode_part(pair.substr(0, equals)),
                       equals == std::string_view::npos ? "" : decode_part(pair.substr(equals + 1)));
  }
  return pairs;
}

}  // namespace evenkeel::reporting
