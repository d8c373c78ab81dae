#pragma once
#include <string>
#include <vector>

namespace evenkeel::controllers {

inline constexpr std::size_t kMostNamed = 8;  // in a message

// "a, b, c and 12 more"
inline std::string listed(const std::vector<std::string>& names, const std::string& between = ", ") {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) text += (i == 0 ? "" : between) + names[i];
  if (names.size() > kMostNamed) text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return text;
}

}  // namespace evenkeel::controllers
