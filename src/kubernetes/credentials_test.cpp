#include "kubernetes/credentials.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

Time at(int seconds) { return Time(std::chrono::seconds(seconds)); }

struct TokenFile {
  Result<std::string> content = std::string("one\n");
  int reads = 0;

  Credentials credentials() {
    ClusterAccess access;
    access.token_file = "/token";
    return Credentials(access, [this](const std::string&) {
      ++reads;
      return content;
    });
  }
};

TEST(Credentials, ReadsARotatedTokenAgainAfterAMinute) {
  TokenFile file;
  Credentials credentials = file.credentials();
  EXPECT_EQ(*credentials.token(at(0)), "one");
  file.content = std::string("two");
  EXPECT_EQ(*credentials.token(at(59)), "one");
  EXPECT_EQ(*credentials.token(at(60)), "two");
  EXPECT_EQ(file.reads, 2);
}

TEST(Credentials, ReadsAgainAtOnceWhenTheServerRefused) {
  TokenFile file;
  Credentials credentials = file.credentials();
  EXPECT_EQ(*credentials.token(at(0)), "one");
  file.content = std::string("two");
  credentials.refused();
  EXPECT_EQ(*credentials.token(at(1)), "two");
}

TEST(Credentials, GoesOnWithTheLastTokenWhileTheFileIsAway) {
  TokenFile file;
  Credentials credentials = file.credentials();
  EXPECT_EQ(*credentials.token(at(0)), "one");
  file.content = not_found("/token: No such file or directory");
  EXPECT_EQ(*credentials.token(at(120)), "one");
}

TEST(Credentials, FailsWhenThereNeverWasAToken) {
  TokenFile file;
  file.content = not_found("/token: No such file or directory");
  Credentials credentials = file.credentials();
  EXPECT_EQ(credentials.token(at(0)).error().kind, Error::Kind::not_found);
}

TEST(Credentials, NeverPutsALineBreakIntoAHeaderNorQuotesATokenInAnError) {
  TokenFile file;
  file.content = std::string("secret\r\nX-Evil: 1");
  Credentials credentials = file.credentials();
  const auto token = credentials.token(at(0));
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().message.find("secret"), std::string::npos);
}

TEST(Credentials, KnowsNoTokenWhereACertificateSpeaks) {
  Credentials credentials(ClusterAccess{}, nullptr);
  EXPECT_EQ(*credentials.token(at(0)), "");
}

}  // namespace
}  // namespace evenkeel::kubernetes
