#pragma once

namespace evenkeel::apps {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace evenkeel::apps
