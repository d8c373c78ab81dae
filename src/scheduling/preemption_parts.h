// What looking for victims is made of, for those who ask again and again and remember the answers.
#pragma once
#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/preemption.h"

namespace evenkeel::scheduling {

inline constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";
inline constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";

// Whom to end on one node.
struct Trial {
  std::optional<Victims> victims;
  std::vector<std::string> reasons;  // when there are none
};
Trial try_node(const FilterInput& input, ClusterState& cluster, NodeId node, const Nominations& nominations,
               Time now);

// Smaller is better.
struct VictimCost {
  std::size_t budget_violations = 0;
  std::int32_t highest = 0;  // priority
  std::int64_t sum = 0;      // of priorities, each above 0
  std::size_t victims = 0;
  Duration earliest{};  // start of the most important ones, negated: the latest is best
  auto operator<=>(const VictimCost&) const = default;
};
VictimCost cost_of(const ClusterState& cluster, const Victims& victims, Time now);

bool victims_are_leaving(const FilterInput& input, const Nominations& nominations);
std::size_t enough_candidates(const Profile& profile, std::size_t potential);
std::string preemption_message(const ClusterState& cluster,
                               const std::map<std::string, std::size_t>& reasons);

}  // namespace evenkeel::scheduling
