#include "reporting/fit_message.h"

#include <gtest/gtest.h>

namespace evenkeel::reporting {
namespace {

TEST(FitMessage, IsTakenApart) {
  const FitMessage read = parse_fit_message(
      "0/7 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu, 4 node(s) had untolerated "
      "taint(s). preemption: 0/7 nodes are available: 5 Preemption is not helpful for scheduling, 2 No "
      "preemption victims found for incoming pod.");
  ASSERT_EQ(read.parts.size(), 3U);
  EXPECT_EQ(read.parts[0].nodes, 1U);
  EXPECT_EQ(read.parts[0].plugin, "NodeUnschedulable");
  EXPECT_EQ(read.parts[1].nodes, 2U);
  EXPECT_EQ(read.parts[1].reason, "Insufficient cpu");
  EXPECT_EQ(read.parts[1].plugin, "NodeResourcesFit");
  EXPECT_EQ(read.parts[2].reason, "node(s) had untolerated taint(s)");
  EXPECT_TRUE(read.tried_preemption);
}

TEST(FitMessage, KeepsCommasThatBelongToAReason) {
  const FitMessage read = parse_fit_message(
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {a: b, c}.");
  ASSERT_EQ(read.parts.size(), 2U);
  EXPECT_EQ(read.parts[1].reason, "node(s) had untolerated taint {a: b, c}");
  EXPECT_EQ(read.parts[1].plugin, "TaintToleration");
}

TEST(FitMessage, TakesWhatHoldsForAllNodesWithoutACount) {
  const FitMessage read = parse_fit_message(
      "0/3 nodes are available: persistentvolumeclaim \"data\" not found. preemption: none.");
  ASSERT_EQ(read.parts.size(), 1U);
  EXPECT_EQ(read.parts[0].nodes, 0U);
  EXPECT_EQ(read.parts[0].reason, "persistentvolumeclaim \"data\" not found");
  EXPECT_EQ(read.parts[0].plugin, "VolumeBinding");
}

TEST(FitMessage, SurvivesAnythingElse) {
  EXPECT_TRUE(parse_fit_message("").parts.empty());
  EXPECT_EQ(parse_fit_message("no nodes available to schedule pods").parts.front().plugin, "");
  for (const char* odd :
       {"0/", ", , , 3 ", "99999999999999999999 x", "0/1 nodes are available: ", ", 1 a, 1 b"})
    (void)parse_fit_message(odd);
}

}  // namespace
}  // namespace evenkeel::reporting
