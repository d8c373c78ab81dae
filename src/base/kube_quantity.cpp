#include "base/kube_quantity.h"

#include <array>
#include <limits>
#include <optional>
#include <string>

#include "base/numbers.h"

namespace evenkeel {
namespace {

using Wide = unsigned __int128;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// mantissa * 10^decimal_exponent * 2^binary_exponent, plus a little where digits were dropped.
struct Parts {
  std::uint64_t mantissa = 0;
  std::int64_t decimal_exponent = 0;
  int binary_exponent = 0;
  bool negative = false;
  bool inexact = false;
};

struct Suffix {
  std::string_view spelling;
  int decimal_exponent;
  int binary_exponent;
};
constexpr std::array<Suffix, 16> kSuffixes{{{"", 0, 0},
                                            {"n", -9, 0},
                                            {"u", -6, 0},
                                            {"m", -3, 0},
                                            {"k", 3, 0},
                                            {"M", 6, 0},
                                            {"G", 9, 0},
                                            {"T", 12, 0},
                                            {"P", 15, 0},
                                            {"E", 18, 0},
                                            {"Ki", 0, 10},
                                            {"Mi", 0, 20},
                                            {"Gi", 0, 30},
                                            {"Ti", 0, 40},
                                            {"Pi", 0, 50},
                                            {"Ei", 0, 60}}};

// 19 digits fit 64 bits, and with 2^60 still 128; a result that fits 63 bits has no more.
constexpr int kKeptDigits = 19;
constexpr std::int64_t kHugeExponent = 1'000'000;

// Takes the digits at the front of text; returns whether there were any.
bool take_digits(std::string_view& text, Parts& parts, int& kept, bool after_point) {
  bool any = false;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    any = true;
    const auto digit = static_cast<unsigned>(text.front() - '0');
    if (kept == kKeptDigits) {
      parts.inexact |= digit != 0;
      parts.decimal_exponent += after_point ? 0 : 1;
      continue;
    }
    if (kept > 0 || digit != 0) ++kept;
    parts.mantissa = parts.mantissa * 10 + digit;
    parts.decimal_exponent -= after_point ? 1 : 0;
  }
  return any;
}

bool take_suffix(std::string_view text, Parts& parts) {
  for (const Suffix& suffix : kSuffixes) {
    if (text != suffix.spelling) continue;
    parts.decimal_exponent += suffix.decimal_exponent;
    parts.binary_exponent = suffix.binary_exponent;
    return true;
  }
  if (text.front() != 'e' && text.front() != 'E') return false;
  const auto exponent = parse_integer(text.substr(1));
  if (!exponent || *exponent > kHugeExponent || *exponent < -kHugeExponent) return false;
  parts.decimal_exponent += *exponent;
  return true;
}

std::optional<Parts> take_apart(std::string_view text) {
  Parts parts;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  int kept = 0;
  bool any_digit = take_digits(text, parts, kept, false);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    any_digit |= take_digits(text, parts, kept, true);
  }
  if (!any_digit || !take_suffix(text, parts)) return std::nullopt;
  return parts;
}

constexpr Wide kLimit = std::numeric_limits<std::int64_t>::max();

// Rounded away from zero; nothing where it does not fit.
std::optional<std::int64_t> in_units_of(Parts parts, int units_per_one_as_power_of_ten) {
  if (parts.mantissa == 0) return 0;
  Wide value = static_cast<Wide>(parts.mantissa) << parts.binary_exponent;
  bool inexact = parts.inexact;
  std::int64_t exponent = parts.decimal_exponent + units_per_one_as_power_of_ten;
  for (; exponent > 0; --exponent) {
    if (value > kLimit) return std::nullopt;
    value *= 10;
  }
  for (; exponent < 0 && value != 0; ++exponent) {
    inexact |= value % 10 != 0;
    value /= 10;
  }
  if (inexact) ++value;
  if (value > kLimit) return std::nullopt;
  const auto size = static_cast<std::int64_t>(value);
  return parts.negative ? -size : size;
}

Result<std::int64_t> parse(std::string_view text, int units_per_one_as_power_of_ten) {
  const auto parts = take_apart(text);
  if (!parts) {
    return invalid("expected a quantity such as 500m, 2, 1.5, 1e3, 64Mi or 5G, found '" + std::string(text) +
                   "'");
  }
  const auto value = in_units_of(*parts, units_per_one_as_power_of_ten);
  if (!value) return invalid("quantity '" + std::string(text) + "' is too large");
  return *value;
}

}  // namespace

Result<std::int64_t> parse_quantity_milli(std::string_view text) { return parse(text, 3); }
Result<std::int64_t> parse_quantity(std::string_view text) { return parse(text, 0); }

Result<MilliCpu> parse_cpu(std::string_view text) {
  const auto milli = parse_quantity_milli(text);
  if (!milli) return milli.error();
  return MilliCpu{*milli};
}

Result<Bytes> parse_bytes(std::string_view text) {
  const auto whole = parse_quantity(text);
  if (!whole) return whole.error();
  return Bytes{*whole};
}

}  // namespace evenkeel
