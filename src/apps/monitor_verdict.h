#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::apps {

// A CertificateSigningRequest, as far as an approver has to look at it. Who asked is what the API server
// found out and wrote there itself, over whatever the request said.
struct SigningRequest {
  std::string name, signer, username;
  std::map<std::string, std::vector<std::string>> extra;
  std::vector<std::string> usages;
  std::string request_pem;
  bool is_settled = false;  // approved, denied or failed already
};
Result<SigningRequest> read_signing_request(std::string_view json);

// What an approver that serves this signer and this account says to it.
struct Verdict {
  enum class Kind { not_ours, approve, deny };
  Kind kind = Kind::not_ours;
  std::string why;
};
struct ApproverPolicy {
  std::string signer = "kubernetes.io/kube-apiserver-client";
  std::string account = "system:serviceaccount:evenkeel-monitor:evenkeel-monitor";
  std::string netprobe_account = "system:serviceaccount:evenkeel-netprobe:evenkeel-netprobe";
  std::string agent_account = "system:serviceaccount:kube-system:evenkeel-agent";
};
// Approves what a monitor, a network probe or a scheduling agent asks for about the node it runs on and
// nothing besides: the account's own token, bound to a pod, carries the name of that pod's node. Denies every
// other request for such a name; what asks for any other name is somebody else's.
Verdict judge(const SigningRequest& request, const ApproverPolicy& policy);

// The request with the verdict among its conditions, as the API server's `approval` wants it.
Result<std::string> with_verdict(std::string_view request_json, const Verdict& verdict);

}  // namespace evenkeel::apps
