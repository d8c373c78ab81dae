#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "messaging/host_port.h"
#include "monitor/probe_plan.h"

namespace evenkeel::apps {

// A node as far as a probe of paths looks at it.
struct ProbeNode {
  monitor::ProbeMember member;
  messaging::HostPort to;
  bool is_ready = false;
  std::string bandwidth{};  // what its status says it has of network.aware.com/bandwidth; empty: nothing
  bool operator==(const ProbeNode&) const = default;
};

// A v1 Node. Where it is reached is its InternalIP; one without is not ready for us.
Result<ProbeNode> read_probe_node(std::string_view json, const std::string& port);

// `n1=10.0.0.1:9471` or `n1=10.0.0.1:9471@ZONE`: nodes without a cluster.
Result<std::vector<ProbeNode>> parse_peers(const std::vector<std::string>& texts);

std::vector<monitor::ProbeMember> ready_members(const std::vector<ProbeNode>& nodes);

}  // namespace evenkeel::apps
