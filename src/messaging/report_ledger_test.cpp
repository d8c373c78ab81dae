#include "messaging/report_ledger.h"

#include <gtest/gtest.h>

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;

ReportFrame frame(const std::string& node, std::uint64_t stream, std::uint64_t sequence) {
  ReportFrame made;
  made.stream = stream;
  made.sequence = sequence;
  made.report.node = node;
  made.report.total[Dimension::cpu] = static_cast<double>(sequence);
  return made;
}

TEST(ReportLedger, KeepsTheNewestOfEachNode) {
  ReportLedger ledger(10);
  EXPECT_TRUE(ledger.enter(frame("a", 1, 1)));  // the first that waits wakes whoever takes
  EXPECT_FALSE(ledger.enter(frame("b", 1, 1)));
  EXPECT_FALSE(ledger.enter(frame("a", 1, 2)));
  const auto taken = ledger.take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].total[Dimension::cpu], 2);
  EXPECT_EQ(taken[1].node, "b");
  EXPECT_TRUE(ledger.take().empty());
  EXPECT_TRUE(ledger.enter(frame("a", 1, 3)));
  EXPECT_EQ(ledger.counts().reports, 4u);
}

TEST(ReportLedger, DropsWhatIsOldOrRepeatedAndCountsIt) {
  ReportLedger ledger(10);
  ledger.enter(frame("a", 1, 5));
  ledger.enter(frame("a", 1, 5));
  ledger.enter(frame("a", 1, 4));
  EXPECT_EQ(ledger.counts().out_of_sequence, 2u);
  EXPECT_EQ(ledger.counts().reports, 1u);
  EXPECT_EQ(ledger.take().front().total[Dimension::cpu], 5);
}

TEST(ReportLedger, LetsAMonitorThatStartedAgainBeginANewSequence) {
  ReportLedger ledger(10);
  ledger.enter(frame("a", 1, 5));
  ledger.enter(frame("a", 2, 1));
  EXPECT_EQ(ledger.counts().out_of_sequence, 0u);
  EXPECT_EQ(ledger.take().front().total[Dimension::cpu], 1);
}

TEST(ReportLedger, HasAnEnd) {
  ReportLedger ledger(2);
  for (int i = 0; i < 100; ++i) ledger.enter(frame("node-" + std::to_string(i), 1, 1));
  EXPECT_EQ(ledger.take().size(), 2u);
}

TEST(Transit, KnowsWhatLayInAQueue) {
  Transit transit;
  EXPECT_EQ(transit.late_by(100s, 5s), 0s);  // the clocks' zeros mean nothing
  EXPECT_NEAR(to_seconds(transit.late_by(101s, 6s + 10ms)), 0.010, 0.001);
  EXPECT_NEAR(to_seconds(transit.late_by(102s, 40s)), 33, 0.01);
  EXPECT_NEAR(to_seconds(transit.late_by(136s, 41s)), 0, 0.01);
}

TEST(Transit, FindsAQuickerWay) {
  Transit transit;
  transit.late_by(0s, 3s);
  EXPECT_EQ(transit.late_by(1s, 2s), 0s);
  EXPECT_NEAR(to_seconds(transit.late_by(2s, 5s)), 2, 0.01);
}

TEST(Transit, DoesNotTakeADriftingClockForALateFrame) {
  Transit transit;
  const double drift = 1 + 50e-6;
  Duration worst{};
  for (int second = 0; second < 30 * 86400; second += 10)
    worst = std::max(worst, transit.late_by(std::chrono::seconds(second), from_seconds(second * drift)));
  EXPECT_LT(worst, 10ms);
}

}  // namespace
}  // namespace evenkeel::messaging
