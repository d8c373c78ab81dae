// Who measures the path to whom, and when. Every node computes the same plan from the same facts, so nobody
// hands out turns: facts and time in, tests out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace evenkeel::monitor {

enum class ProbeMode {
  basic,  // N tests a period: each node one peer, another one each period, until all pairs were seen
  full,   // N(N-1): every ordered pair
  zones   // one pair of nodes for every ordered pair of zones
};
std::optional<ProbeMode> probe_mode_of(std::string_view name);
std::string_view name_of(ProbeMode mode);

struct ProbeMember {
  std::string node, region, zone;
  bool operator==(const ProbeMember&) const = default;
};

struct ProbeTask {
  std::string origin, destination;
  Duration start{};  // from the beginning of the period
  bool with_bandwidth = false;
  bool operator==(const ProbeTask&) const = default;
};

struct ProbeSettings {
  ProbeMode mode = ProbeMode::basic;
  Duration period = std::chrono::minutes(5);
  std::int64_t bandwidth_every = 0;  // each so-manieth test of a pair measures bandwidth too; 0: none does
};

// Periods are counted from the beginning of time, so all nodes whose clocks agree agree on them.
std::int64_t epoch_at(Time now, Duration period);
Time beginning_of(std::int64_t epoch, Duration period);

// Every test of that period, by when it starts. No two that are due at the same time share a node, as far as
// a test takes no longer than its slot; within the slot the start is spread by chance, the same for all who
// ask. The order of `members` does not matter.
std::vector<ProbeTask> plan_probes(std::vector<ProbeMember> members, const ProbeSettings& settings,
                                   std::int64_t epoch);

// How many ordered pairs the ConfigMap has to hold once all were seen; `basic` may hold fewer.
std::size_t pairs_of(const std::vector<ProbeMember>& members, ProbeMode mode);

}  // namespace evenkeel::monitor
