#pragma once
#include <string>

#include "apps/live_agent.h"
#include "messaging/agent_transport.h"

namespace evenkeel::apps {

// What an agent has to show for itself, for Prometheus: its standing, what it said and heard, and, of a
// leader, how its questions ended.
std::string agent_metrics(const LiveAgent& agent, const messaging::AgentTransport::Counts& traffic);

}  // namespace evenkeel::apps
