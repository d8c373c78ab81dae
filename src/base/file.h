#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel {

// The whole file. Errors name it and say what the system said.
Result<std::string> read_file(const std::string& path);

// Replaces the file at once: a reader, or a crash half-way, never sees half of it.
Status write_file(const std::string& path, std::string_view text);

}  // namespace evenkeel
