#include "base/match.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace evenkeel {
namespace {

std::string kind_of(const std::variant<int, std::string>& value) {
  return std::visit(Match{[](int) { return std::string("number"); },
                          [](const std::string& text) { return "text " + text; }},
                    value);
}

TEST(Match, ChoosesTheCaseOfTheAlternativeHeld) {
  EXPECT_EQ(kind_of(3), "number");
  EXPECT_EQ(kind_of("x"), "text x");
}

}  // namespace
}  // namespace evenkeel
