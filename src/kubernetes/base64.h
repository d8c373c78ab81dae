#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel::kubernetes {

// Standard base64 with padding; blanks and line breaks in between are fine, anything else is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace evenkeel::kubernetes
