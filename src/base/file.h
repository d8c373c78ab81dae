#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel {

// The whole file. Errors name it and say what the system said.
Result<std::string> read_file(const std::string& path);

// Replaces the file at once: a reader, or a crash half-way, never sees half of it.
Status write_file(const std::string& path, std::string_view text);

// Whether write_file() would get as far as writing: better known before the work than after it. Leaves
// nothing.
Status check_writable(const std::string& path);

}  // namespace evenkeel
