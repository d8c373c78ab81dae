#pragma once

namespace evenkeel {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace evenkeel

// Our own bug: stop, in release too, before a wrong state becomes a wrong decision.
#define EVENKEEL_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::evenkeel::check_failed(#condition, __FILE__, __LINE__))
