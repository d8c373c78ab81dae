#pragma once
#include <string>

namespace evenkeel::apps {

// One line on standard error: when, and what. Line breaks and control characters of others' texts become
// spaces, so that one event is one line.
void log_line(const std::string& text);

}  // namespace evenkeel::apps
