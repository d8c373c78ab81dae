#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel::reporting {

// Four significant digits at most, no trailing zeros: 0.0821, 12.4, 1534; "–" where there is no number.
std::string format_number(double value);

// The spread decides how many digits of the mean mean anything: 0.082 ± 0.002.
std::string format_mean_sd(double mean, std::optional<double> sd);

// A length of time as people say it: 45 s, 12 min 30 s, 3 h 05 min, 2 d.
std::string format_duration(double seconds);

// Safe inside HTML and SVG text and inside quoted attributes; bytes that are not UTF-8 become U+FFFD.
std::string escape_html(std::string_view text);

}  // namespace evenkeel::reporting
