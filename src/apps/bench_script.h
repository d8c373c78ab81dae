#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"

namespace evenkeel::apps {

// Benchmarks that need servers are run by programs under tools/, which lie in the source tree this binary was
// built in or was called from.
Result<std::filesystem::path> find_bench_script(const std::filesystem::path& program,
                                                const std::string& name);

std::string shell_quoted(const std::filesystem::path& path);

// What it prints, where it ended well. What it says on the way goes to stderr.
Result<std::string> output_of_bench(const std::string& command);

}  // namespace evenkeel::apps
