#include "reporting/table_view.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::reporting {
namespace {

TableView sample() {
  return {.columns = {{"imbalance", "Imbalance", Better::lower},
                      {"utilization", "Utilisation", Better::higher},
                      {"moves", "Moves", Better::neither}},
          .rows = {{"kube-default", PolicyKind::rule, {{{0.135, 0.01}}, {{0.40, 0.0}}, {{0.0, 0.0}}}},
                   {"horizon", PolicyKind::rule, {{{0.073, 0.01}}, {{0.45, 0.0}}, {{0.0, 0.0}}}},
                   {"evenkeel", PolicyKind::learned, {{{0.070, 0.01}}, {{0.44, 0.0}}, {{3.0, 0.0}}}},
                   {"clairvoyant", PolicyKind::reference, {{{0.067, 0.01}}, {{0.46, 0.0}}, std::nullopt}}}};
}

TEST(MarkBest, NeverGivesTheMarkToAReference) {
  const auto marks = mark_best(sample());
  EXPECT_TRUE(marks[2][0].best);
  EXPECT_FALSE(marks[3][0].best);
  EXPECT_FALSE(marks[3][1].best);
}

TEST(MarkBest, NamesTheSimpleRuleThatALearnedPolicyHasToBeat) {
  const auto marks = mark_best(sample());
  EXPECT_TRUE(marks[1][0].best_rule);
  EXPECT_FALSE(marks[2][0].best_rule);
  EXPECT_FALSE(marks[0][0].best_rule);
}

TEST(MarkBest, KnowsThatSomeMetricsAreBetterWhenHigher) { EXPECT_TRUE(mark_best(sample())[1][1].best); }

TEST(MarkBest, MarksNothingWhereNothingCompetes) {
  EXPECT_FALSE(mark_best(sample())[2][2].best) << "moves are neither good nor bad";
  TableView lonely = sample();
  lonely.rows.resize(1);
  EXPECT_FALSE(mark_best(lonely)[0][0].best);
}

TEST(MarkBest, SkipsMissingAndBrokenCells) {
  TableView table = sample();
  table.rows[2].cells.clear();
  table.rows[1].cells[0]->mean = NAN;
  table.rows.push_back({"greedy", PolicyKind::rule, {{{0.08, std::nullopt}}}});
  const auto marks = mark_best(table);
  EXPECT_TRUE(marks[4][0].best);
  EXPECT_FALSE(marks[1][0].best);
  EXPECT_FALSE(marks[2][0].best);
}

TEST(MarkBest, LetsEqualsShareTheMark) {
  TableView table = sample();
  table.rows[0].cells[0]->mean = 0.070;
  const auto marks = mark_best(table);
  EXPECT_TRUE(marks[0][0].best);
  EXPECT_TRUE(marks[2][0].best);
}

TEST(FormatCell, ShowsADashForWhatDoesNotApply) {
  EXPECT_EQ(format_cell(std::nullopt), "–");
  EXPECT_EQ(format_cell(TableCell{0.0821, 0.0023}), "0.0821 ± 0.0023");
}

}  // namespace
}  // namespace evenkeel::reporting
