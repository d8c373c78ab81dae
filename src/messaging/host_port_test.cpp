#include "messaging/host_port.h"

#include <gtest/gtest.h>

namespace evenkeel::messaging {
namespace {

TEST(HostPort, IsANameOrAnAddressWithAPort) {
  const auto name = parse_host_port("evenkeel.kube-system.svc:9470");
  ASSERT_TRUE(name);
  EXPECT_EQ(*name, (HostPort{.host = "evenkeel.kube-system.svc", .port = "9470"}));
  const auto address = parse_host_port("[fd00::1]:0");
  ASSERT_TRUE(address);
  EXPECT_EQ(*address, (HostPort{.host = "fd00::1", .port = "0"}));
}

TEST(HostPort, SaysWhatWasExpected) {
  for (const char* text : {"", ":1", "a", "a:", "a:b", "a:65536", "a:-1", "fd00::1:1", "[]:1", "[a:1"}) {
    const auto parsed = parse_host_port(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message.find("expected HOST:PORT"), std::string::npos);
  }
}

}  // namespace
}  // namespace evenkeel::messaging
