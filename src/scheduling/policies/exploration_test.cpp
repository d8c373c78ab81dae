#include "scheduling/policies/exploration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduling/test_questions.h"

namespace evenkeel::scheduling {
namespace {

ScoreSheet sheet_of(std::initializer_list<double> totals) {
  ScoreSheet sheet{{"score"}, {}};
  std::uint32_t slot = 0;
  for (const double total : totals) sheet.rows.push_back({{slot++}, {total}, total});
  sheet.put_best_first();
  return sheet;
}

TEST(Exploration, IsAmongTheNodesTheRuleThinksNearlyAsWellOf) {
  using Flags = std::vector<std::uint8_t>;
  EXPECT_EQ(close_to_best(sheet_of({-1, -10, -1.5, -2.5}), 4, 0.1), (Flags{1, 0, 1, 0}));
  EXPECT_EQ(close_to_best(sheet_of({5, 5, 5}), 4, 0.1), (Flags{1, 1, 1, 0}));
  EXPECT_EQ(close_to_best(sheet_of({5, std::nan(""), 0}), 3, 0.1), (Flags{1, 0, 0}));
  EXPECT_EQ(close_to_best({}, 2, 0.1), (Flags{0, 0}));
  EXPECT_EQ(close_to_best(sheet_of({1, 0, 0.99}), 3, 0), (Flags{1, 0, 0}));
}

TEST(Exploration, SparesNamespacesAndPriorities) {
  ExplorationLimits limits;
  limits.never_namespaces = {"payments"};
  limits.never_at_priority = 1000;
  const auto pod = [](const std::string& name_space, std::int32_t priority) {
    PodSpec spec = spec_asking(100, 1 << 20);
    spec.priority = priority;
    return test_pod({1, 1},
                    std::make_shared<const PodTemplate>(name_space, Labels{}, std::vector<OwnerReference>{},
                                                        WorkloadId{}, std::move(spec)));
  };
  EXPECT_TRUE(may_explore(limits, pod("default", 999)));
  EXPECT_FALSE(may_explore(limits, pod("default", 1000)));
  EXPECT_FALSE(may_explore(limits, pod("payments", 0)));
  limits.share = 0;
  EXPECT_FALSE(may_explore(limits, pod("default", 0)));
}

TEST(Exploration, IsSaidInTheScoreSheet) {
  ScoreSheet sheet = sheet_of({3, 1, 2});
  mark_explored(sheet, {1});
  EXPECT_EQ(sheet.terms.back(), "explored");
  EXPECT_EQ(sheet.rows.front().node.slot, 1U);
  EXPECT_EQ(sheet.rows.front().parts, (std::vector<double>{1, 2}));
  EXPECT_EQ(sheet.rows.front().total, 3);
  EXPECT_EQ(sheet.rows[1].node.slot, 0U);
  EXPECT_EQ(sheet.rows[1].parts, (std::vector<double>{3, 0}));
}

}  // namespace
}  // namespace evenkeel::scheduling
