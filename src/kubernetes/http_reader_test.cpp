#include "kubernetes/http_reader.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace evenkeel::kubernetes {
namespace {

struct Reading {
  HttpHead head;
  std::string body;
  HttpReader reader{[this](const HttpHead& read) { head = read; },
                    [this](std::string_view piece) { body += piece; }};
};

constexpr std::string_view kChunked =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n";

TEST(HttpReader, ReadsAChunkedBodyHoweverItIsCut) {
  for (std::size_t cut = 1; cut < kChunked.size(); ++cut) {
    Reading reading;
    ASSERT_TRUE(reading.reader.feed(kChunked.substr(0, cut)));
    EXPECT_FALSE(reading.reader.done());
    ASSERT_TRUE(reading.reader.feed(kChunked.substr(cut))) << cut;
    EXPECT_TRUE(reading.reader.done()) << cut;
    EXPECT_TRUE(reading.reader.keep_alive());
    EXPECT_EQ(reading.body, "hello world");
    EXPECT_EQ(reading.head.content_type, "application/json");
  }
}

TEST(HttpReader, ReadsByteByByte) {
  Reading reading;
  for (const char byte : kChunked) ASSERT_TRUE(reading.reader.feed(std::string_view(&byte, 1)));
  EXPECT_TRUE(reading.reader.done());
  EXPECT_EQ(reading.body, "hello world");
}

TEST(HttpReader, ReadsAnEmptyChunkedBodyHoweverItIsCut) {
  const std::string_view empty = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  for (std::size_t cut = 1; cut < empty.size(); ++cut) {
    for (std::size_t again = cut; again < empty.size(); ++again) {
      Reading reading;
      ASSERT_TRUE(reading.reader.feed(empty.substr(0, cut)));
      ASSERT_TRUE(reading.reader.feed(empty.substr(cut, again - cut)));
      ASSERT_TRUE(reading.reader.feed(empty.substr(again))) << cut << " " << again;
      EXPECT_TRUE(reading.reader.done()) << cut << " " << again;
    }
  }
}

TEST(HttpReader, HandsOnAPieceOfAStreamBeforeTheNextHasCome) {
  Reading reading;
  ASSERT_TRUE(reading.reader.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"));
  EXPECT_EQ(reading.body, "abc");
  EXPECT_FALSE(reading.reader.done());
}

TEST(HttpReader, KnowsWhatTheServerAsksOfOneItTurnsAway) {
  Reading reading;
  ASSERT_TRUE(
      reading.reader.feed("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_TRUE(reading.reader.done());
  EXPECT_EQ(reading.head.status, 429);
  EXPECT_EQ(reading.head.retry_after_seconds, 7);
}

TEST(HttpReader, NoticesABodyCutShort) {
  Reading reading;
  ASSERT_TRUE(reading.reader.feed("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"));
  EXPECT_FALSE(reading.reader.feed_end());
}

TEST(HttpReader, NoticesThatThereWasNoAnswerAtAll) { EXPECT_FALSE(Reading().reader.feed_end()); }

TEST(HttpReader, KnowsAConnectionThatCarriesNoMore) {
  Reading reading;
  ASSERT_TRUE(reading.reader.feed("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"));
  EXPECT_TRUE(reading.reader.done());
  EXPECT_FALSE(reading.reader.keep_alive());
}

TEST(HttpReader, RefusesWhatIsNotHttpAndWhatNobodyAskedFor) {
  Reading wrong;
  EXPECT_FALSE(wrong.reader.feed("SSH-2.0-OpenSSH_9.2\r\n\r\n"));
  Reading more;
  EXPECT_FALSE(more.reader.feed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n"));
}

TEST(HttpReader, SurvivesTwentyThousandMutations) {
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(kChunked);
    for (std::uint64_t i = 0, n = 1 + random.below(4); i < n; ++i) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    Reading reading;
    const auto cut = random.below(bytes.size());
    if (reading.reader.feed(std::string_view(bytes).substr(0, cut)) &&
        reading.reader.feed(std::string_view(bytes).substr(cut))) {
      (void)reading.reader.feed_end();
    }
    EXPECT_LE(reading.body.size(), bytes.size());
  }
}

}  // namespace
}  // namespace evenkeel::kubernetes
