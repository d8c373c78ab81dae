#include "kubernetes/credentials.h"

#include <utility>

namespace evenkeel::kubernetes {
namespace {

std::string trimmed(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// What may stand in a header: a token with a line break in it could smuggle another one in.
bool is_token(const std::string& text) {
  for (const char c : text) {
    if (c <= ' ' || c > '~') return false;
  }
  return !text.empty();
}

}  // namespace

Credentials::Credentials(const ClusterAccess& access, FileReader read)
    : read_(std::move(read)), file_(access.token_file), token_(trimmed(access.token)) {}

Result<std::string> Credentials::token(Time now) {
  if (file_.empty()) {
    if (!token_.empty() && !is_token(token_)) return invalid("the token holds characters no token has");
    return token_;
  }
  const bool is_due = !is_fresh_ || now - read_at_ >= kReadAgain || now < read_at_;
  if (!is_due) return token_;
  const auto text = read_(file_);
  if (!text && token_.empty()) return text.error();
  if (text) {
    std::string fresh = trimmed(*text);
    if (!is_token(fresh)) return invalid(file_ + ": expected a token");  // never quoted: it may be one
    token_ = std::move(fresh);
  }
  read_at_ = now;
  is_fresh_ = true;
  return token_;
}

}  // namespace evenkeel::kubernetes
