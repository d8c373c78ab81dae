#include "apps/monitor_identity.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "messaging/test_certificates.h"

namespace evenkeel::apps {
namespace {

TEST(MonitorIdentity, AsksForAClientsCertificateOfItsNode) {
  const auto json = nlohmann::json::parse(signing_request_json("n1", "example.com/signer", "PEM", 600));
  EXPECT_EQ(json["metadata"]["generateName"], "evenkeel-monitor-n1-");
  EXPECT_EQ(json["spec"]["signerName"], "example.com/signer");
  EXPECT_EQ(json["spec"]["expirationSeconds"], 600);
  EXPECT_EQ(json["spec"]["request"], "UEVN");
  EXPECT_EQ(json["spec"]["usages"], (std::vector<std::string>{"digital signature", "client auth"}));
}

TEST(MonitorIdentity, WaitsUntilThereIsACertificate) {
  EXPECT_EQ(*certificate_in("{}"), "");
  EXPECT_EQ(*certificate_in(R"({"status":{"conditions":[{"type":"Approved"}]}})"), "");
  EXPECT_EQ(*certificate_in(R"({"status":{"conditions":[{"type":"Approved"}],"certificate":"UEVN"}})"),
            "PEM");
  EXPECT_FALSE(certificate_in("no JSON"));
}

TEST(MonitorIdentity, SaysWhyItGotNone) {
  const auto denied =
      certificate_in(R"({"status":{"conditions":[{"type":"Denied","message":"not your node"}]}})");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().message, "the certificate was not given (Denied): not your node");
  EXPECT_FALSE(certificate_in(R"({"status":{"conditions":[{"type":"Failed"}]}})"));
}

TEST(MonitorIdentity, RenewsInTheLastThirdOfACertificatesLife) {
  const messaging::TestAuthority authority;
  const auto text = read_file(authority.monitor("n1").certificate);  // an hour old, an hour to live
  ASSERT_TRUE(text);
  const std::time_t now = std::time(nullptr);
  const std::time_t early = time_to_renew(*text, monitor_name("n1"), 0),
                    late = time_to_renew(*text, monitor_name("n1"), 0.999);
  EXPECT_NEAR(static_cast<double>(early - now), 0.4 * 3600, 60);
  EXPECT_NEAR(static_cast<double>(late - now), 0.8 * 3600, 60);
}

TEST(MonitorIdentity, AsksAtOnceWhereTheCertificateIsAnotherNodesOrNone) {
  const messaging::TestAuthority authority;
  EXPECT_EQ(time_to_renew(*read_file(authority.monitor("n2").certificate), monitor_name("n1"), 0), 0);
  EXPECT_EQ(time_to_renew("", monitor_name("n1"), 0), 0);
}

}  // namespace
}  // namespace evenkeel::apps
