#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace evenkeel {

// Plain decimal numbers ("12", "-0.5", "1e3"), correctly rounded. Nothing else is a number here: no NaN, no
// infinity, no hexadecimal, no blanks, no overflow. Short ones, as traces hold, take a few nanoseconds.
std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

// How many characters at the front spell a number: 3 of "8.4MB", 0 of "MB".
std::size_t number_length(std::string_view text);

// The shortest spelling that reads back as the same number: 0.1, 3, 1e+30.
std::string_view format_number(double value, char (&buffer)[32]);

}  // namespace evenkeel
