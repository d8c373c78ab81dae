#include "kubernetes/http_url.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

TEST(Url, KnowsHostPortAndPrefix) {
  const auto url = parse_url("https://rancher.example:8443/k8s/clusters/c-1/");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "rancher.example");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->prefix, "/k8s/clusters/c-1");
  EXPECT_EQ(url->authority(), "rancher.example:8443");
}

TEST(Url, KnowsIpV6) {
  const auto url = parse_url("https://[::1]:6443");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->authority(), "[::1]:6443");
  EXPECT_EQ(parse_url("https://[fd00::1]")->port, 443);
}

TEST(Url, SendsNothingUnencryptedBeyondThisMachine) {
  EXPECT_TRUE(parse_url("http://127.0.0.1:8001"));
  EXPECT_TRUE(parse_url("http://localhost:8001"));
  EXPECT_FALSE(parse_url("http://10.0.0.1:8080"));
}

TEST(Url, RefusesWhatIsNoServer) {
  for (const char* text :
       {"", "10.0.0.1:6443", "ftp://x", "https://", "https://:6443", "https://h:", "https://h:0",
        "https://h:65536", "https://h:x", "https://[::1", "https://u@h", "https://h/a b"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

TEST(Url, EncodesWhatAQueryCannotHold) {
  EXPECT_EQ(percent_encoded("a=b,c d/é~"), "a%3Db%2Cc%20d%2F%C3%A9~");
}

}  // namespace
}  // namespace evenkeel::kubernetes
