#include "apps/bench_script.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>

namespace evenkeel::apps {

namespace fs = std::filesystem;

Result<fs::path> find_bench_script(const fs::path& program, const std::string& name) {
  std::error_code ignored;
  for (fs::path folder : {program.parent_path(), fs::current_path(ignored)}) {
    for (; folder.has_relative_path(); folder = folder.parent_path())
      if (fs::exists(folder / "tools" / name, ignored)) return folder / "tools" / name;
  }
  return not_found("tools/" + name + " is not above " + program.string() +
                   " nor the working directory; it needs the source tree");
}

std::string shell_quoted(const fs::path& path) {
  std::string text = "'";
  for (const char c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

Result<std::string> output_of_bench(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return unavailable("it could not be started: " + command);
  std::string text;
  std::array<char, 4096> piece;
  for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    text.append(piece.data(), got);
  const int status = ::pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return unavailable("it did not reach its end; see above");
  return text;
}

}  // namespace evenkeel::apps
