#include "kubernetes/api_connection.h"

#include <optional>
#include <utility>

namespace evenkeel::kubernetes {
namespace {

constexpr int kNotFound = 404, kConflict = 409, kTooMany = 429;

}  // namespace

Error ApiAnswer::error() const {
  std::string text = code == 0 ? status.message : "HTTP " + std::to_string(code);
  if (code != 0 && !status.message.empty()) text += ": " + status.message;
  if (code == kNotFound) return {Error::Kind::not_found, std::move(text)};
  if (code == kConflict) return {Error::Kind::conflict, std::move(text)};
  const bool may_pass = code == 0 || code == kTooMany || code >= 500;
  return {may_pass ? Error::Kind::unavailable : Error::Kind::invalid, std::move(text)};
}

ApiAnswer ApiConnection::call_now(ApiRequest request) {
  std::optional<ApiAnswer> result;
  call(std::move(request), [&](ApiAnswer answer) { result = std::move(answer); });
  while (!run_for(std::chrono::hours(1), [&] { return result.has_value(); })) {
  }
  return *std::move(result);
}

}  // namespace evenkeel::kubernetes
