#include "base/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace evenkeel {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number taken apart: mantissa * 10^exponent, and where its spelling ends.
struct Decimal {
  std::uint64_t mantissa = 0;
  int exponent = 0;
  int digits = 0;  // all of them, leading zeros apart
  bool negative = false;
  std::size_t length = 0;  // 0: not a number
};

constexpr int kExactDigits = 19;        // every 19-digit number fits a uint64
constexpr int kHugeExponent = 100'000;  // beyond any double, far from overflowing an int

Decimal scan(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) number.negative = text[at++] == '-';
  bool any_digit = false;
  const auto take_digits = [&](int exponent_per_digit) {
    for (; at < text.size() && is_digit(text[at]); ++at) {
      any_digit = true;
      number.exponent += exponent_per_digit;
      if (number.digits > 0 || text[at] != '0') ++number.digits;
      if (number.digits <= kExactDigits)
        number.mantissa = number.mantissa * 10 + static_cast<unsigned>(text[at] - '0');
    }
  };
  take_digits(0);
  if (at < text.size() && text[at] == '.') {
    ++at;
    take_digits(-1);
  }
  if (!any_digit) return {};
  number.length = at;

  // An e without digits after it belongs to whatever follows the number.
  if (at + 1 >= text.size() || (text[at] != 'e' && text[at] != 'E')) return number;
  ++at;
  const bool signed_exponent = text[at] == '-' || text[at] == '+';
  const bool negative_exponent = text[at] == '-';
  if (signed_exponent) ++at;
  if (at >= text.size() || !is_digit(text[at])) return number;
  int exponent = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    if (exponent < kHugeExponent) exponent = exponent * 10 + (text[at] - '0');
  }
  number.exponent += negative_exponent ? -exponent : exponent;
  number.length = at;
  return number;
}

constexpr std::array<double, 23> kPowersOfTen{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t kExactInDouble = 1ULL << 53;

std::optional<double> parse_long_number(std::string_view text, const Decimal& number) {
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc::result_out_of_range) {
    const bool tiny = number.exponent + number.digits < 0;
    if (!tiny) return std::nullopt;
    return number.negative ? -0.0 : 0.0;
  }
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  const Decimal number = scan(text);
  if (number.length == 0 || number.length != text.size()) return std::nullopt;
  // Both factors exact, so one rounding: the quotient or product is the nearest double (Clinger 1990).
  const bool short_number = number.digits <= kExactDigits && number.mantissa <= kExactInDouble;
  if (!short_number || number.exponent < -22 || number.exponent > 22) return parse_long_number(text, number);
  const double mantissa = static_cast<double>(number.mantissa);
  const double size = number.exponent < 0
                          ? mantissa / kPowersOfTen[static_cast<std::size_t>(-number.exponent)]
                          : mantissa * kPowersOfTen[static_cast<std::size_t>(number.exponent)];
  return number.negative ? -size : size;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && is_digit(text[1])) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t number_length(std::string_view text) { return scan(text).length; }

std::string_view format_number(double value, char (&buffer)[32]) {
  const auto [end, problem] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return problem == std::errc() ? std::string_view(buffer, static_cast<std::size_t>(end - buffer)) : "?";
}

}  // namespace evenkeel
