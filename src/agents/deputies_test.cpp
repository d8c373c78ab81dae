#include "agents/deputies.h"

#include <gtest/gtest.h>

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

constexpr Time kStart{100s};

TEST(Deputies, AreTheLongestJoinedAtFirst) {
  Deputies deputies(2);
  deputies.begin_term({}, kStart);
  EXPECT_EQ(deputies.choose({"a", "b", "c", "d"}, "b", kStart), (Names{"a", "c"}));
}

TEST(Deputies, StayAsLongAsTheyAreThereWhoeverComesBack) {
  Deputies deputies(2);
  deputies.begin_term({}, kStart);
  (void)deputies.choose({"a", "b", "c"}, "a", kStart);
  EXPECT_EQ(deputies.choose({"a", "d", "b", "c"}, "a", kStart + 1h), (Names{"b", "c"}));
  EXPECT_EQ(deputies.choose({"a", "d", "c"}, "a", kStart + 2h), (Names{"c", "d"}));
}

TEST(Deputies, OfThePredecessorComeFirstAndMayTakeAMomentToJoin) {
  Deputies deputies(2);
  deputies.begin_term({"own", "warm"}, kStart);
  EXPECT_EQ(deputies.choose({"own", "x", "y"}, "own", kStart + 100ms), (Names{"warm", "x"}));
  EXPECT_EQ(deputies.choose({"own", "x", "y", "warm"}, "own", kStart + 1h), (Names{"warm", "x"}));
}

TEST(Deputies, OfThePredecessorWhoDoNotJoinAreReplaced) {
  Deputies deputies(2);
  deputies.begin_term({"own", "dead"}, kStart);
  EXPECT_EQ(deputies.choose({"own", "x", "y"}, "own", kStart + 1s), (Names{"dead", "x"}));
  EXPECT_EQ(deputies.choose({"own", "x", "y"}, "own", kStart + 2s), (Names{"x", "y"}));
}

TEST(Deputies, AreNoMoreThanAskedFor) {
  Deputies deputies(1);
  deputies.begin_term({"a", "b", "c"}, kStart);
  EXPECT_EQ(deputies.choose({"d"}, "own", kStart), (Names{"a"}));
}

}  // namespace
}  // namespace evenkeel::agents
