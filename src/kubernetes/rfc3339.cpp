#include "kubernetes/rfc3339.h"

#include <chrono>
#include <cstdio>

namespace evenkeel::kubernetes {
namespace {

using std::chrono::sys_days;

constexpr std::int64_t kDay = 24 * 60 * 60;

}  // namespace

std::optional<std::string> format_rfc3339(std::int64_t seconds, std::int64_t nanoseconds, bool micro) {
  constexpr std::int64_t kYear1 = -62135596800, kYear10000 = 253402300800;
  if (seconds < kYear1 || seconds >= kYear10000 || nanoseconds < 0 || nanoseconds > 999'999'999) {
    return std::nullopt;
  }
  std::int64_t days = seconds / kDay, within = seconds % kDay;
  if (within < 0) {
    within += kDay;
    --days;
  }
  const std::chrono::year_month_day date{sys_days{std::chrono::days{days}}};
  char text[64];
  const int length = std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d",
                                   static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                   static_cast<unsigned>(date.day()), static_cast<int>(within / 3600),
                                   static_cast<int>(within / 60 % 60), static_cast<int>(within % 60));
  std::string spelled(text, static_cast<std::size_t>(length));
  if (micro) {
    (void)std::snprintf(text, sizeof text, ".%06d", static_cast<int>(nanoseconds / 1000));
    spelled += text;
  }
  return spelled + 'Z';
}

}  // namespace evenkeel::kubernetes
