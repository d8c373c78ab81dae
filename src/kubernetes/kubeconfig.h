#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::kubernetes {

// All that is needed to reach one API server as one user. Never print it: it holds keys.
struct ClusterAccess {
  std::string server;           // https://host:port/prefix
  std::string tls_server_name;  // the name the server's certificate must carry; empty: the host's
  std::string ca_pem;           // empty: what the system trusts
  std::string client_certificate_pem, client_key_pem;
  std::string token;       // fixed
  std::string token_file;  // read again as it is rotated; wins over `token`
  std::string default_namespace = "default";
};

using FileReader = std::function<Result<std::string>(const std::string& path)>;
using Environment = std::map<std::string, std::string>;

struct KubeconfigRequest {
  std::string path;     // --kubeconfig; empty: $KUBECONFIG (a list, the first mention of a name wins), else
                        // ~/.kube/config
  std::string context;  // empty: current-context
};

// From kubeconfig files. What would weaken or bypass TLS, and ways to log in that are not supported, are
// refused by name. Pure but for `read`.
Result<ClusterAccess> access_from_kubeconfig(const KubeconfigRequest& request, const Environment& environment,
                                             const FileReader& read);

// From inside a pod: its service account's token and CA. not_found outside of one.
Result<ClusterAccess> access_from_pod(const Environment& environment, const FileReader& read);

// What a program does that was told nothing: kubeconfig where one is named or lies in its place, else the
// pod's.
Result<ClusterAccess> find_access(const KubeconfigRequest& request, const Environment& environment,
                                  const FileReader& read);

// KUBECONFIG, HOME and KUBERNETES_SERVICE_* of this process.
Environment kubernetes_environment();

}  // namespace evenkeel::kubernetes
