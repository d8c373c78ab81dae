#include "reporting/number_format.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace evenkeel::reporting {
namespace {

constexpr std::string_view kNoNumber = "–";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::string fixed(double value, int decimals) {
  char buffer[64];
  const int length = std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  std::string text(buffer, static_cast<std::size_t>(std::clamp(length, 0, 63)));
  // A tiny negative number rounds to "-0.00", which reads as a sign that means something.
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  if (is_zero && text.starts_with('-')) text.erase(0, 1);
  return text;
}

int decimals_for(double value, int significant) {
  if (value == 0.0) return 0;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return std::clamp(significant - 1 - magnitude, 0, 6);
}

bool fits_fixed_notation(double value) {
  return value == 0.0 || (std::abs(value) >= 1e-5 && std::abs(value) < 1e9);
}

std::string scientific(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2e", value);
  return buffer;
}

std::string two_part(std::int64_t large, const char* large_unit, std::int64_t small, const char* small_unit) {
  if (small == 0) return std::to_string(large) + " " + large_unit;
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%lld %s %02lld %s", static_cast<long long>(large), large_unit,
                static_cast<long long>(small), small_unit);
  return buffer;
}

// Length of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool is_overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool is_surrogate = lead == 0xED && byte(1) >= 0xA0;
  const bool is_beyond_unicode = lead == 0xF4 && byte(1) >= 0x90;
  return is_overlong || is_surrogate || is_beyond_unicode ? 0 : length;
}

}  // namespace

std::string format_number(double value) {
  if (!std::isfinite(value)) return std::string(kNoNumber);
  if (!fits_fixed_notation(value)) return scientific(value);
  std::string text = fixed(value, decimals_for(value, 4));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string format_mean_sd(double mean, std::optional<double> sd) {
  if (!sd || !std::isfinite(*sd) || !std::isfinite(mean)) return format_number(mean);
  if (!fits_fixed_notation(mean)) return scientific(mean) + " ± " + scientific(*sd);
  const int by_spread = *sd > 0.0 ? decimals_for(*sd, 2) : 0;
  const int decimals = *sd > 0.0 ? std::min(by_spread, decimals_for(mean, 4) + 1) : decimals_for(mean, 3);
  return fixed(mean, decimals) + " ± " + fixed(*sd, decimals);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return std::string(kNoNumber);
  if (seconds < 0) return "-" + format_duration(-seconds);
  if (seconds < 10) return format_number(std::round(seconds * 10) / 10) + " s";
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < kMinute) return std::to_string(whole) + " s";
  if (whole < kHour) return two_part(whole / kMinute, "min", whole % kMinute, "s");
  if (whole < kDay) return two_part(whole / kHour, "h", whole % kHour / kMinute, "min");
  return two_part(whole / kDay, "d", whole % kDay / kHour, "h");
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view unit = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(unit.size());
    if (length == 0) {
      escaped += kReplacement;
    } else if (unit == "&") {
      escaped += "&amp;";
    } else if (unit == "<") {
      escaped += "&lt;";
    } else if (unit == ">") {
      escaped += "&gt;";
    } else if (unit == "\"") {
      escaped += "&quot;";
    } else if (unit == "'") {
      escaped += "&#39;";
    } else if (length == 1 && static_cast<unsigned char>(unit[0]) < 0x20 && unit != "\n" && unit != "\t") {
      escaped +=
          kReplacement;  // control characters are not allowed in XML, so an SVG viewer would refuse them
    } else {
      escaped += unit;
    }
  }
  return escaped;
}

}  // namespace evenkeel::reporting
