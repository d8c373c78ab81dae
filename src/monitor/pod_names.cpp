#include "monitor/pod_names.h"

#include <algorithm>

namespace evenkeel::monitor {
namespace {

constexpr std::string_view kSlice = ".slice";
constexpr std::size_t kLeastUid = 8;  // a uid is 36 characters, of a static pod 32: `podman` is no pod

bool is_uid(std::string_view text) {
  return text.size() >= kLeastUid && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
         });
}

}  // namespace

std::optional<std::string> pod_uid_of(std::string_view folder) {
  std::string uid;
  if (folder.ends_with(kSlice)) {
    folder.remove_suffix(kSlice.size());
    const std::size_t place = folder.rfind("-pod");
    if (place == std::string_view::npos) return std::nullopt;
    uid = folder.substr(place + 4);
    std::replace(uid.begin(), uid.end(), '_', '-');
  } else if (folder.starts_with("pod")) {
    uid = folder.substr(3);
  }
  if (!is_uid(uid)) return std::nullopt;
  return uid;
}

bool is_service_class(std::string_view folder) {
  return folder == "besteffort" || folder == "burstable" || folder.ends_with("-besteffort.slice") ||
         folder.ends_with("-burstable.slice");
}

}  // namespace evenkeel::monitor
