#include "apps/monitor_verdict.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/monitor_identity.h"
#include "messaging/certificate.h"

namespace evenkeel::apps {
namespace {

using Kind = Verdict::Kind;

SigningRequest asked(const std::string& common_name, const std::string& organization = kMonitorsGroup) {
  SigningRequest request;
  request.name = "evenkeel-monitor-n1-abcde";
  request.signer = ApproverPolicy().signer;
  request.username = ApproverPolicy().account;
  request.extra["authentication.kubernetes.io/node-name"] = {"n1"};
  request.usages = {"digital signature", "client auth"};
  request.request_pem = messaging::make_certificate_request(common_name, organization)->request_pem;
  return request;
}

Verdict said_to(const SigningRequest& request) { return judge(request, {}); }

TEST(MonitorVerdict, ApprovesAMonitorsRequestAboutItsOwnNode) {
  EXPECT_EQ(said_to(asked("evenkeel:monitor:n1")).kind, Kind::approve);
}

TEST(MonitorVerdict, DeniesARequestAboutAnotherNode) {
  const Verdict verdict = said_to(asked("evenkeel:monitor:n2"));
  EXPECT_EQ(verdict.kind, Kind::deny);
  EXPECT_EQ(verdict.why, "asked for from node n1, about evenkeel:monitor:n2");
  EXPECT_EQ(said_to(asked("evenkeel:monitor:")).kind, Kind::deny);
}

TEST(MonitorVerdict, DeniesWhoeverElseAsksForAMonitorsName) {
  SigningRequest request = asked("evenkeel:monitor:n1");
  request.username = "system:serviceaccount:default:evenkeel-monitor";
  EXPECT_EQ(said_to(request).kind, Kind::deny);
}

TEST(MonitorVerdict, ApprovesANetworkProbeAsSuchAndAsNothingElse) {
  SigningRequest request = asked("evenkeel:netprobe:n1", "evenkeel:netprobes");
  EXPECT_EQ(said_to(request).kind, Kind::deny) << "asked for by a monitor";
  request.username = ApproverPolicy().netprobe_account;
  EXPECT_EQ(said_to(request).kind, Kind::approve);
  request = asked("evenkeel:monitor:n1");
  request.username = ApproverPolicy().netprobe_account;
  EXPECT_EQ(said_to(request).kind, Kind::deny);
  request = asked("evenkeel:netprobe:n2", "evenkeel:netprobes");
  request.username = ApproverPolicy().netprobe_account;
  EXPECT_EQ(said_to(request).kind, Kind::deny) << "about another node";
}

TEST(MonitorVerdict, ApprovesASchedulingAgentAsSuchAndAsNothingElse) {
  SigningRequest request = asked("evenkeel:agent:n1", "evenkeel:agents");
  EXPECT_EQ(said_to(request).kind, Kind::deny) << "asked for by a monitor";
  request.username = ApproverPolicy().agent_account;
  EXPECT_EQ(said_to(request).kind, Kind::approve);
  request = asked("evenkeel:monitor:n1");
  request.username = ApproverPolicy().agent_account;
  EXPECT_EQ(said_to(request).kind, Kind::deny);
  request = asked("evenkeel:agent:n2", "evenkeel:agents");
  request.username = ApproverPolicy().agent_account;
  EXPECT_EQ(said_to(request).kind, Kind::deny) << "about another node";
}

TEST(MonitorVerdict, DeniesATokenThatIsBoundToNoNode) {
  SigningRequest request = asked("evenkeel:monitor:n1");
  request.extra.clear();
  EXPECT_EQ(said_to(request).kind, Kind::deny);
  request.extra["authentication.kubernetes.io/node-name"] = {"n1", "n2"};
  EXPECT_EQ(said_to(request).kind, Kind::deny);
  request.extra["authentication.kubernetes.io/node-name"] = {""};
  EXPECT_EQ(said_to(request).kind, Kind::deny);
}

TEST(MonitorVerdict, DeniesWhatAsksForMoreThanAMonitorIs) {
  EXPECT_EQ(said_to(asked("evenkeel:monitor:n1", "system:masters")).kind, Kind::deny);
  SigningRequest request = asked("evenkeel:monitor:n1");
  request.usages.push_back("server auth");
  EXPECT_EQ(said_to(request).kind, Kind::deny);
  request.usages = {"digital signature"};
  EXPECT_EQ(said_to(request).kind, Kind::deny);
}

TEST(MonitorVerdict, LeavesAloneWhatIsNotForIt) {
  EXPECT_EQ(said_to(asked("system:node:n1", "system:nodes")).kind, Kind::not_ours);
  SigningRequest request = asked("evenkeel:monitor:n2");
  request.is_settled = true;
  EXPECT_EQ(said_to(request).kind, Kind::not_ours);
  request = asked("evenkeel:monitor:n1");
  request.signer = "example.com/signer";
  EXPECT_EQ(said_to(request).kind, Kind::not_ours);
  request = asked("evenkeel:monitor:n1");
  request.request_pem = "nonsense";
  EXPECT_EQ(said_to(request).kind, Kind::not_ours);
}

TEST(MonitorVerdict, IsWrittenAmongTheConditions) {
  const auto approved = with_verdict(R"({"metadata":{"name":"a"},"status":{}})", {Kind::approve, "well"});
  ASSERT_TRUE(approved);
  const auto json = nlohmann::json::parse(*approved);
  EXPECT_EQ(json["kind"], "CertificateSigningRequest");
  EXPECT_EQ(json["status"]["conditions"][0]["type"], "Approved");
  EXPECT_TRUE(read_signing_request(*approved)->is_settled);
  const auto denied = with_verdict(R"({"metadata":{"name":"a"}})", {Kind::deny, "no"});
  EXPECT_EQ(nlohmann::json::parse(*denied)["status"]["conditions"][0]["message"], "no");
}

TEST(MonitorVerdict, ReadsWhatTheServerWrote) {
  const auto request = read_signing_request(
      R"({"metadata":{"name":"a"},"spec":{"signerName":"s","username":"u","request":"UEVN","usages":["client auth"],
          "extra":{"authentication.kubernetes.io/node-name":["n1"]}},"status":{}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->name, "a");
  EXPECT_EQ(request->signer, "s");
  EXPECT_EQ(request->username, "u");
  EXPECT_EQ(request->request_pem, "PEM");
  EXPECT_EQ(request->extra.at("authentication.kubernetes.io/node-name"), std::vector<std::string>{"n1"});
  EXPECT_FALSE(request->is_settled);
  for (const char* hostile : {"", "[]", R"({"spec":5})", R"({"spec":{"request":"%"}})"})
    EXPECT_FALSE(read_signing_request(hostile)) << hostile;
  EXPECT_TRUE(read_signing_request(R"({"spec":{"extra":5,"usages":{},"request":""},"status":7})"));
}

}  // namespace
}  // namespace evenkeel::apps
