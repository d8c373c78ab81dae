#include "messaging/report_wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "base/random.h"

namespace evenkeel::messaging {
namespace {

using namespace std::chrono_literals;

ReportFrame example() {
  ReportFrame frame;
  frame.stream = 0xfedcba9876543210;
  frame.sequence = 42;
  frame.age = 250ms;
  frame.sent = 86'400s;
  frame.report.node = "node-1.example";
  frame.report.total = {{1.5, 6e9, 125e6, 3.25e6, 1e6, 2e6}};
  frame.report.capacity = {{4, 16e9, 1.25e9, 1.25e9, 0, 0}};
  frame.report.known = {true, true, true, true, false, true};
  frame.report.pods = {{.uid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
                        .name_space = "",
                        .name = "",
                        .usage = {{0.5, 1 << 30, 1024, 2048, 4096, 8192}}},
                       {.uid = "static-pod-of-node-1", .name_space = "", .name = "", .usage = {}}};
  return frame;
}

std::string written(const ReportFrame& frame) {
  std::string bytes;
  const Status done = write_frame(frame, bytes);
  EXPECT_TRUE(done) << done.error().message;
  return bytes;
}

std::string body_of(const ReportFrame& frame) { return written(frame).substr(kFrameHeader); }

TEST(ReportWire, BringsAReportBackAsItWasSent) {
  const ReportFrame frame = example();
  const std::string bytes = written(frame);
  ASSERT_EQ(frame_length(std::string_view(bytes).substr(0, kFrameHeader)), bytes.size() - kFrameHeader);
  const auto read = read_frame(std::string_view(bytes).substr(kFrameHeader));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, frame);
}

TEST(ReportWire, KeepsUidsThatOnlyLookLikeUuids) {
  for (const char* uid : {"0A1B2C3D-4e5f-6071-8293-a4b5c6d7e8f9", "0a1b2c3d_4e5f-6071-8293-a4b5c6d7e8f9",
                          "0123456789abcdef0123456789abcdef", "x"}) {
    ReportFrame frame = example();
    frame.report.pods.front().uid = uid;
    const auto read = read_frame(body_of(frame));
    ASSERT_TRUE(read) << uid;
    EXPECT_EQ(read->report.pods.front().uid, uid);
  }
}

TEST(ReportWire, IsSmall) {
  ReportFrame frame = example();
  frame.report.pods.resize(1);
  const std::size_t one = body_of(frame).size();
  frame.report.pods.resize(2, frame.report.pods.front());
  EXPECT_EQ(body_of(frame).size() - one, 1 + 16 + 24);
}

TEST(ReportWire, RefusesAReportCutAnywhere) {
  const std::string whole = body_of(example());
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(read_frame(std::string_view(whole).substr(0, length))) << length;
  EXPECT_FALSE(read_frame(whole + '\0'));
}

TEST(ReportWire, RefusesAnotherVersion) {
  std::string bytes = body_of(example());
  bytes[0] = 2;
  EXPECT_FALSE(read_frame(bytes));
}

TEST(ReportWire, RefusesNumbersThatCannotBe) {
  for (const double amount :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    for (std::size_t d = 0; d < kDimensions; ++d) {
      for (Usage NodeReport::* part : {&NodeReport::total, &NodeReport::capacity}) {
        const std::size_t first = 34 + 1 + example().report.node.size();
        std::string bytes = body_of(example());
        const std::size_t place = first + (part == &NodeReport::total ? 0 : 48) + 8 * d;
        std::memcpy(bytes.data() + place, &amount, sizeof amount);
        EXPECT_FALSE(read_frame(bytes)) << amount << " of dimension " << d;
        ReportFrame frame = example();
        (frame.report.*part).of[d] = amount;
        std::string unsent;
        EXPECT_FALSE(write_frame(frame, unsent));
      }
    }
  }
}

TEST(ReportWire, RefusesPodsWithNumbersThatCannotBe) {
  const float amount = std::numeric_limits<float>::quiet_NaN();
  std::string bytes = body_of(example());
  std::memcpy(bytes.data() + bytes.size() - sizeof amount, &amount, sizeof amount);
  EXPECT_FALSE(read_frame(bytes));
}

TEST(ReportWire, RefusesAnAgeThatCannotBe) {
  for (const Duration age : {Duration(-1s), Duration(25h), Duration::min(), Duration::max()}) {
    std::string bytes = body_of(example());
    const std::int64_t count = age.count();
    std::memcpy(bytes.data() + 18, &count, sizeof count);
    EXPECT_FALSE(read_frame(bytes)) << count;
  }
}

TEST(ReportWire, RefusesNamesThatWouldBreakALog) {
  for (const char* name : {"", "a b", "a\nb", "caf\xc3\xa9"}) {
    ReportFrame frame = example();
    frame.report.node = name;
    std::string unsent;
    EXPECT_FALSE(write_frame(frame, unsent)) << name;
  }
}

TEST(ReportWire, RefusesLengthsNobodyMaySend) {
  EXPECT_FALSE(frame_length(std::string_view("\0\0\0\0", 4)));
  EXPECT_FALSE(frame_length("\xff\xff\xff\xff"));
  EXPECT_FALSE(frame_length(std::string_view("\1\0\4\0", 4)));  // one byte too many
  EXPECT_FALSE(frame_length("abc"));
  EXPECT_EQ(frame_length(std::string_view("\0\0\4\0", 4)), kMostFrame);
}

TEST(ReportWire, SendsNoMorePodsThanItReads) {
  ReportFrame frame = example();
  frame.report.pods.assign(kMostPods + 10, frame.report.pods.front());
  const auto read = read_frame(body_of(frame));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->report.pods.size(), kMostPods);
}

TEST(ReportWire, SurvivesWhateverComes) {
  Random random(1);
  const std::string whole = body_of(example());
  for (int round = 0; round < 200'000; ++round) {
    std::string bytes = whole.substr(0, random.below(whole.size() + 1));
    for (std::uint64_t flips = random.below(8); flips > 0 && !bytes.empty(); --flips)
      bytes[random.below(bytes.size())] = static_cast<char>(random.bits());
    const auto read = read_frame(bytes);
    if (!read) continue;
    // What is accepted can be told on, and means the same there.
    EXPECT_TRUE(read_frame(body_of(*read)));
  }
}

}  // namespace
}  // namespace evenkeel::messaging
