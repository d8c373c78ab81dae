#pragma once
#include <ctime>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/kubeconfig.h"
#include "messaging/tls_files.h"

namespace evenkeel::apps {

// A monitor's, or another agent's, certificate by the cluster's own way: a key made here, a
// CertificateSigningRequest, somebody's approval, the signed certificate; again when it grows old. In a
// thread of its own; whoever uses the files sees them change. The key never leaves the folder, which none but
// us may read.
class MonitorIdentity {
 public:
  struct Options {
    std::string role = "monitor";
    std::string node;
    std::string folder;  // --state
    std::string signer = "kubernetes.io/kube-apiserver-client";
    long valid_for_seconds = 7 * 24 * 3600;  // a wish: the signer may give less
    kubernetes::ClusterAccess access;
    std::function<void(const std::string&)> say;
  };
  static Result<std::unique_ptr<MonitorIdentity>> start(Options options);

  ~MonitorIdentity();
  MonitorIdentity(const MonitorIdentity&) = delete;
  MonitorIdentity& operator=(const MonitorIdentity&) = delete;

  // Where certificate and key are, or will be.
  static messaging::TlsFiles files_in(const std::string& folder, const std::string& role = "monitor");

 private:
  struct Keeper;
  explicit MonitorIdentity(std::unique_ptr<Keeper> keeper);

  std::unique_ptr<Keeper> keeper_;
};

// How an agent of a node is called in its certificate, and the group all of its role are in. None can pass
// for one of another role.
inline std::string agent_name(const std::string& role, const std::string& node) {
  return "evenkeel:" + role + ":" + node;
}
inline std::string agents_group(const std::string& role) { return "evenkeel:" + role + "s"; }
inline std::string monitor_name(const std::string& node) { return agent_name("monitor", node); }
inline constexpr const char* kMonitorsGroup = "evenkeel:monitors";

// The pure parts: what is asked for, what the answer says, and when to ask again.
std::string signing_request_json(const std::string& node, const std::string& signer,
                                 const std::string& request_pem, long valid_for_seconds,
                                 const std::string& role = "monitor");
// The certificate; empty: not approved yet. invalid: denied or failed, and why.
Result<std::string> certificate_in(std::string_view signing_request_json);
// 0: at once, since this is no certificate of that name. `share` is from [0, 1).
std::time_t time_to_renew(std::string_view certificate_pem, const std::string& name, double share);

}  // namespace evenkeel::apps
