#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace evenkeel::kubernetes {

// 2026-11-16T08:30:00Z, and with `micro` 2026-11-16T08:30:00.000000Z, as the API spells Time and MicroTime.
// Nothing outside the years 1 to 9999, which the format cannot say.
std::optional<std::string> format_rfc3339(std::int64_t seconds, std::int64_t nanoseconds, bool micro);

}  // namespace evenkeel::kubernetes
