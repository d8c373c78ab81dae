#include "solver/highs.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>

namespace evenkeel::solver {
namespace {

using Kind = MixedProgram::Kind;
using Verdict = MixedAnswer::Verdict;

// Tests that need the solver say so where it could not be had.
#define NEED_HIGHS(name)                    \
  const Result<Highs> name = Highs::open(); \
  if (!name) GTEST_SKIP() << name.error().message

// Six things of different weight and worth, two bags: the most worth that fits, as a cost below 0.
MixedProgram knapsack(int things, double room) {
  MixedProgram program;
  std::vector<MixedProgram::Term> weights[2];
  for (int i = 0; i < things; ++i) {
    std::vector<MixedProgram::Term> once;
    for (auto& bag : weights) {
      const std::uint32_t column = program.add_column({0, 1}, Kind::integer, -(10 + (i * 37) % 23));
      bag.push_back({column, 5.0 + (i * 29) % 17});
      once.push_back({column, 1});
    }
    program.add_row({0, 1}, once);
  }
  for (const auto& bag : weights) program.add_row({0, room}, bag);
  return program;
}

TEST(Highs, FindsTheOptimumAndProvesIt) {
  NEED_HIGHS(highs);
  MixedProgram program;  // x + y at most 3.5, whole, worth 2 and 3, y at most 2
  const auto x = program.add_column({0, 10}, Kind::integer, -2);
  const auto y = program.add_column({0, 2}, Kind::integer, -3);
  const MixedProgram::Term row[] = {{x, 1}, {y, 1}};
  program.add_row({0, 3.5}, row);
  program.offset = 100;
  const Result<MixedAnswer> answer = highs->solve(program);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->verdict, Verdict::optimal);
  EXPECT_NEAR(answer->values[x], 1, 1e-6);
  EXPECT_NEAR(answer->values[y], 2, 1e-6);
  EXPECT_NEAR(answer->objective, 92, 1e-6);
  EXPECT_NEAR(answer->bound, 92, 1e-6);
}

TEST(Highs, SaysThatThereIsNoAnswer) {
  NEED_HIGHS(highs);
  MixedProgram program;
  const auto x = program.add_column({0, 1}, Kind::integer, 1);
  const MixedProgram::Term row[] = {{x, 2}};
  program.add_row({1, 1}, row);
  const Result<MixedAnswer> answer = highs->solve(program);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->verdict, Verdict::infeasible);
}

TEST(Highs, StopsWhenTheTimeIsUpAndKeepsTheStart) {
  NEED_HIGHS(highs);
  const MixedProgram program = knapsack(40, 60);
  MixedLimits limits{.seconds = 0, .start = std::vector<double>(program.columns(), 0), .progress = {}};
  limits.start[0] = 1;  // worth 10, weight 5
  const Result<MixedAnswer> answer = highs->solve(program, limits);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->verdict, Verdict::feasible);
  EXPECT_LE(answer->objective, program.cost[0] + 1e-6) << "no worse than what it began with";
  EXPECT_LE(answer->bound, answer->objective);
}

TEST(Highs, AStepLetsItStopEarlierAndBoundsStayTrue) {
  NEED_HIGHS(highs);
  MixedProgram program = knapsack(14, 47);
  const Result<MixedAnswer> plain = highs->solve(program);
  program.step = 1;
  const Result<MixedAnswer> stepped = highs->solve(program);
  ASSERT_TRUE(plain && stepped);
  EXPECT_NEAR(plain->objective, stepped->objective, 1e-6);
  EXPECT_EQ(stepped->verdict, Verdict::optimal);
}

TEST(Highs, RepeatsItself) {
  NEED_HIGHS(highs);
  const MixedProgram program = knapsack(20, 55);
  const Result<MixedAnswer> once = highs->solve(program), again = highs->solve(program);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->values, again->values);
  EXPECT_EQ(once->branches, again->branches);
}

TEST(Highs, IsLookedForWhereTheEnvironmentSays) {
  ASSERT_EQ(setenv("EVENKEEL_HIGHS", "/nowhere/libhighs.so.1", 1), 0);
  const Result<Highs> highs = Highs::open();
  unsetenv("EVENKEEL_HIGHS");
  ASSERT_FALSE(highs);
  EXPECT_EQ(highs.error().kind, Error::Kind::unavailable);
  EXPECT_NE(highs.error().message.find("/nowhere/libhighs.so.1"), std::string::npos) << highs.error().message;
}

TEST(Highs, AnotherLibraryIsNotTakenForIt) {
  const Result<Highs> highs = Highs::open_file("libm.so.6");
  ASSERT_FALSE(highs);
  EXPECT_NE(highs.error().message.find("is no HiGHS"), std::string::npos) << highs.error().message;
}

}  // namespace
}  // namespace evenkeel::solver
