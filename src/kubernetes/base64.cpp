#include "kubernetes/base64.h"

#include <openssl/evp.h>

#include <limits>

namespace evenkeel::kubernetes {

std::optional<std::string> decode_base64(std::string_view text) {
  std::string packed;
  packed.reserve(text.size());
  for (const char c : text) {
    if (c != '\n' && c != '\r' && c != ' ' && c != '\t') packed += c;
  }
  if (packed.size() % 4 != 0 || packed.size() > std::numeric_limits<int>::max() / 2) return std::nullopt;
  if (packed.empty()) return std::string();
  const auto first_pad = packed.find('=');
  const std::size_t padding = first_pad == std::string::npos ? 0 : packed.size() - first_pad;
  if (padding > 2 || packed.find_first_not_of('=', packed.size() - padding) != std::string::npos) {
    return std::nullopt;
  }
  std::string decoded(packed.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                      reinterpret_cast<const unsigned char*>(packed.data()), static_cast<int>(packed.size()));
  if (length < 0) return std::nullopt;
  decoded.resize(decoded.size() - padding);
  return decoded;
}

}  // namespace evenkeel::kubernetes
