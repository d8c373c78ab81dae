#pragma once
#include <string_view>

namespace evenkeel {

// A file that was put into the binary when it was built: see evenkeel_embed() in cmake/evenkeel.cmake.
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

}  // namespace evenkeel
