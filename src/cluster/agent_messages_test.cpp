#include "cluster/agent_messages.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(PodKey, IsTheUuidItself) {
  const PodKey key = pod_key("00112233-4455-6677-8899-aAbBcCdDeEfF");
  for (std::size_t i = 0; i < key.bytes.size(); ++i) EXPECT_EQ(key.bytes[i], 0x11 * i) << i;
}

TEST(PodKey, TellsOtherTextsApart) {
  EXPECT_EQ(pod_key("uid-1"), pod_key("uid-1"));
  EXPECT_NE(pod_key("uid-1"), pod_key("uid-2"));
  EXPECT_NE(pod_key(""), pod_key("0"));
  // As long as a UUID, and none.
  EXPECT_NE(pod_key("00112233-4455-6677-8899-aabbccddeefg"), pod_key("00112233-4455-6677-8899-aabbccddeefh"));
}

TEST(HolderIdentity, ComesBackAsItWasWritten) {
  const HolderIdentity holder{"node-3", "10.0.0.7:9473", 0x5f2c8e01d3b4a697ULL};
  EXPECT_EQ(to_text(holder), "node-3/10.0.0.7:9473/5f2c8e01d3b4a697");
  EXPECT_EQ(parse_holder(to_text(holder)), holder);
  const HolderIdentity six{"n", "[::1]:1", 1};
  EXPECT_EQ(parse_holder(to_text(six)), six);
}

TEST(HolderIdentity, IsNothingWhereSomebodyElseHoldsTheLease) {
  for (const char* text : {"", "host_0123", "a/b", "/b:1/1", "a//1", "a/b:1/", "a/b:1/xyz", "a/b:1/1 "})
    EXPECT_FALSE(parse_holder(text)) << text;
}

}  // namespace
}  // namespace evenkeel
