#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/netprobe_agent.h"
#include "apps/netprobe_members.h"
#include "base/result.h"
#include "base/time.h"

namespace evenkeel::apps {

// What `evenkeel netprobe` was told, as text.
struct NetprobeArguments {
  std::string node, mode = "basic", period = "5m", listen_at = "0.0.0.0:9471", port = "9471";
  std::vector<std::string> peers;
  messaging::TlsFiles tls;
  bool csr = false, once = false, advertise = false;
  std::string state, signer = "kubernetes.io/kube-apiserver-client", kubeconfig, context;
  std::string name_space = "default", config_map = "netperf-metrics";
  int trips = 200;
  std::int64_t bandwidth_every = 0;
  std::string bandwidth_bytes = "8Mi", max_rate = "1Mbit/s", keep = "24h", run_for;
  std::string node_bandwidth = "link", sys = "/sys", proc = "/proc";
  std::string listen, token_file, output = "table";
};

// The flags that are more than text, looked at before anything is begun.
struct NetprobeSettings {
  NetprobeAgent::Options agent;
  double rate = 0, burst = 0;  // bytes
  Duration keep{}, run_for{};
  std::vector<ProbeNode> peers;
  std::optional<std::int64_t> node_bandwidth;  // bit/s; nothing: what is measured
};

// invalid: what is wrong with which flag.
Result<NetprobeSettings> settings_of(const NetprobeArguments& arguments);

}  // namespace evenkeel::apps
