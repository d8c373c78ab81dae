// Whom a pod of an application group talks to, and what that would cost from each node: for people and
// programs.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reporting/text_table.h"
#include "scheduling/decision.h"

namespace evenkeel::apps {

// By node; each edge as {"peer", "peer_node", "from", "to", "cost" (null: unknown), "bandwidth", "max_cost"}.
nlohmann::ordered_json edges_json(const scheduling::Decision& decision, const Pod& pod,
                                  const ClusterState& cluster);
// A row per candidate, the nearest first, a column per pod at the other end.
std::string edges_text(const scheduling::Decision& decision, const ClusterState& cluster,
                       reporting::TextStyle style);

}  // namespace evenkeel::apps
