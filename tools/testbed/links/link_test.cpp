#include "links/link.h"

#include <gtest/gtest.h>

#include "links/matrix.h"

namespace evenkeel::links {
namespace {

using std::chrono::milliseconds;

const Bytes kFrame(1250, 0);  // ten thousand bits

Link link_with(const LinkSettings& settings) {
  Link link{Random(1)};
  link.set(settings);
  return link;
}

TEST(Link, AFrameArrivesAfterItsDelayAndUnchanged) {
  Link link = link_with({.delay = milliseconds(5)});
  EXPECT_FALSE(link.next());
  ASSERT_TRUE(link.send(milliseconds(100), Bytes{1, 2, 3}));
  EXPECT_EQ(link.next(), milliseconds(105));
  EXPECT_EQ(link.receive(), (Bytes{1, 2, 3}));
  EXPECT_FALSE(link.next());
}

TEST(Link, ALimitedOneCarriesNoMoreThanItsRateAfterTheFirstBurst) {
  Link link = link_with({.bits_s = 10e6});  // a frame a millisecond
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(link.send(Moment{}, kFrame));
  Moment last{};
  for (int i = 0; i < 50; ++i) {
    last = *link.next();
    (void)link.receive();
  }
  EXPECT_GE(last, milliseconds(47));
  EXPECT_LE(last, milliseconds(50));
}

TEST(Link, WhoeverWouldWaitTooLongIsDropped) {
  Link link = link_with({.bits_s = 1e6});  // ten milliseconds a frame
  int carried = 0;
  for (int i = 0; i < 100; ++i) carried += link.send(Moment{}, kFrame) ? 1 : 0;
  EXPECT_GE(carried, 10);
  EXPECT_LE(carried, 14);
  EXPECT_TRUE(link.send(milliseconds(200), kFrame)) << "and there is room again once the line has gone";
}

TEST(Link, JitterKeepsTheOrder) {
  Link link = link_with({.delay = milliseconds(1), .jitter = milliseconds(10)});
  for (std::uint8_t i = 0; i < 100; ++i) ASSERT_TRUE(link.send(milliseconds(i), Bytes{i}));
  Moment before{};
  for (std::uint8_t i = 0; i < 100; ++i) {
    const Moment due = *link.next();
    EXPECT_GE(due, before);
    EXPECT_GE(due, milliseconds(i + 1));
    before = due;
    EXPECT_EQ(link.receive(), Bytes{i});
  }
}

TEST(Link, LosesTheShareItIsToldTo) {
  Link link = link_with({.loss = 0.25});
  int lost = 0;
  for (int i = 0; i < 4000; ++i) lost += link.send(milliseconds(i), kFrame) ? 0 : 1;
  EXPECT_NEAR(lost, 1000, 120);
}

std::string error_of(const std::string& text) {
  const auto matrix = parse_matrix(text, "m.csv", {"a", "b"});
  return matrix ? "no error" : matrix.error().message;
}

TEST(Matrix, DirectionsHaveTheirOwnSettingsAndWhatIsNotGivenHasNone) {
  const auto matrix = parse_matrix("from,to,delay_ms,rate_mbit,jitter_ms,loss_percent\na,b,2.5,100,0.5,10\n",
                                   "m.csv", {"a", "b"});
  ASSERT_TRUE(matrix) << matrix.error().message;
  const LinkSettings expected = {.delay = std::chrono::microseconds(2500),
                                 .jitter = std::chrono::microseconds(500),
                                 .bits_s = 100e6,
                                 .loss = 0.1};
  EXPECT_EQ((*matrix)[0][1], expected);
  EXPECT_EQ((*matrix)[1][0], LinkSettings{});
}

TEST(Matrix, SaysWhereAFileIsWrong) {
  EXPECT_NE(error_of("from,to\na,b\n").find("delay_ms"), std::string::npos);
  EXPECT_NE(error_of("from,to,delay_ms\na,c,1\n").find("is no endpoint"), std::string::npos);
  EXPECT_NE(error_of("from,to,delay_ms\na,b,-1\n").find("must be between"), std::string::npos);
  EXPECT_NE(error_of("from,to,delay_ms\na,b,1\na,b,2\n").find("given twice"), std::string::npos);
  EXPECT_EQ(error_of("from,to,delay_ms\na,b,1\nb,a,2\n"), "no error");
}

}  // namespace
}  // namespace evenkeel::links
