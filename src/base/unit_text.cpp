#include "base/unit_text.h"

#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "base/numbers.h"

namespace evenkeel {
namespace {

struct Unit {
  std::string_view spelling;
  double size;
};

constexpr std::array<Unit, 6> kDurations{
    {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
constexpr double kKi = 1024;
constexpr std::array<Unit, 20> kSizes{{{"", 1},
                                       {"B", 1},
                                       {"kB", 1e3},
                                       {"KB", 1e3},
                                       {"k", 1e3},
                                       {"MB", 1e6},
                                       {"M", 1e6},
                                       {"GB", 1e9},
                                       {"G", 1e9},
                                       {"TB", 1e12},
                                       {"T", 1e12},
                                       {"PB", 1e15},
                                       {"KiB", kKi},
                                       {"Ki", kKi},
                                       {"MiB", kKi* kKi},
                                       {"Mi", kKi* kKi},
                                       {"GiB", kKi* kKi* kKi},
                                       {"Gi", kKi* kKi* kKi},
                                       {"TiB", kKi* kKi* kKi* kKi},
                                       {"Ti", kKi* kKi* kKi* kKi}}};
constexpr std::array<Unit, 5> kBitSizes{
    {{"bit", 0.125}, {"kbit", 125}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"Tbit", 125e9}}};

constexpr double kLargest = 9e18;  // leaves an int64 whole after rounding

std::optional<double> size_of(std::string_view spelling, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (unit.spelling == spelling) return unit.size;
  }
  return std::nullopt;
}

std::string_view without_blanks_in_front(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

// A number and the unit after it, with or without a blank between.
std::optional<double> parse_with_unit(std::string_view text, std::span<const Unit> units) {
  const std::size_t length = number_length(text);
  const auto number = parse_number(text.substr(0, length));
  const auto unit = size_of(without_blanks_in_front(text.substr(length)), units);
  if (!number || !unit) return std::nullopt;
  const double value = *number * *unit;
  if (value < 0 || value > kLargest) return std::nullopt;
  return value;
}

Error expected(std::string_view what, std::string_view found) {
  return invalid("expected " + std::string(what) + ", found '" + std::string(found) + "'");
}

// The sum of parts such as 1h and 30m.
std::optional<double> parse_seconds(std::string_view text) {
  if (number_length(text) == text.size()) return parse_number(text);
  double seconds = 0;
  while (!text.empty()) {
    const std::size_t number_end = number_length(text);
    std::size_t end = number_end;
    while (end < text.size() && text[end] >= 'a' && text[end] <= 'z') ++end;
    const auto number = parse_number(text.substr(0, number_end));
    const auto unit = size_of(text.substr(number_end, end - number_end), kDurations);
    if (!number || !unit || *number < 0) return std::nullopt;
    seconds += *number * *unit;
    text.remove_prefix(end);
  }
  return seconds;
}

std::string with_largest_whole_unit(std::int64_t count,
                                    std::span<const std::pair<std::string_view, std::int64_t>> units) {
  for (const auto& [spelling, size] : units) {
    if (count != 0 && count % size == 0) return std::to_string(count / size).append(spelling);
  }
  return std::to_string(count).append(units.back().first);
}

using UnitName = std::pair<std::string_view, std::int64_t>;
constexpr std::array<UnitName, 6> kDurationNames{{{"d", 86'400'000'000},
                                                  {"h", 3'600'000'000},
                                                  {"m", 60'000'000},
                                                  {"s", 1'000'000},
                                                  {"ms", 1000},
                                                  {"us", 1}}};
constexpr std::array<UnitName, 5> kSizeNames{
    {{"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}, {"B", 1}}};
constexpr std::array<UnitName, 4> kRateNames{
    {{"GB/s", 1'000'000'000}, {"MB/s", 1'000'000}, {"kB/s", 1000}, {"B/s", 1}}};

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  constexpr double kLongest = 9e12;  // seconds; a little less than an int64 of microseconds holds
  const auto seconds = parse_seconds(text);
  if (text.empty() || !seconds || *seconds < 0 || *seconds > kLongest) {
    return expected("a duration such as 250ms, 20s, 5m, 2h or 1d", text);
  }
  return from_seconds(*seconds);
}

Result<Bytes> parse_byte_size(std::string_view text) {
  const auto bytes = parse_with_unit(text, kSizes);
  if (!bytes) return expected("a size such as 512, 64MiB, 4GiB or 8.4MB", text);
  return Bytes{std::llround(*bytes)};
}

Result<BytesPerSecond> parse_byte_rate(std::string_view text) {
  constexpr std::string_view kPerSecond = "/s";
  std::optional<double> rate;
  if (text.ends_with(kPerSecond)) {
    const std::string_view amount = text.substr(0, text.size() - kPerSecond.size());
    rate = parse_with_unit(amount, kSizes);
    if (!rate) rate = parse_with_unit(amount, kBitSizes);
  } else if (number_length(text) == text.size()) {
    rate = parse_with_unit(text, kSizes);
  }
  if (!rate) return expected("a rate such as 500kB/s, 8.4MB/s or 10Gbit/s", text);
  return BytesPerSecond{std::llround(*rate)};
}

std::string to_text(Duration duration) { return with_largest_whole_unit(duration.count(), kDurationNames); }
std::string to_text(Bytes bytes) { return with_largest_whole_unit(bytes.count, kSizeNames); }
std::string to_text(BytesPerSecond rate) { return with_largest_whole_unit(rate.count, kRateNames); }
std::string to_text(MilliCpu cpu) {
  return cpu.count % 1000 == 0 ? std::to_string(cpu.count / 1000) : std::to_string(cpu.count) + "m";
}

}  // namespace evenkeel
