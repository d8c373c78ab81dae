// The stage of each profile's learned policy, as it is kept in a ConfigMap: one key per profile, named like
// its scheduler, whose value is YAML:
//
//   stage: canary            shadow, canary or full
//   share: 0.1               of pods; canary alone
//   namespaces: [shop]       all of whose pods; canary alone
//   since: "2026-01-31T10:00:00Z"
//   by: ops@host             for people
//   history:                 what was before, the latest first
//   - {stage: shadow, since: "2026-01-30T09:00:00Z", by: ops@host}
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::kubernetes {

struct StageEntry {
  std::string stage;  // one of the three words
  double share = 0;
  std::vector<std::string> namespaces{};
  std::string since{}, by{};
  bool operator==(const StageEntry&) const = default;
};

struct StageRecord {
  static constexpr std::size_t kMostHistory = 10;

  StageEntry current;
  std::vector<StageEntry> history;
  bool operator==(const StageRecord&) const = default;

  void advance(StageEntry to);    // what is current becomes history
  bool go_back(StageEntry& now);  // `now` is given the stage before; false: there was none
};

Result<StageRecord> read_stage(std::string_view text, const std::string& name);
std::string write_stage(const StageRecord& record);

// `data` of a ConfigMap, the whole object in JSON. Each profile by itself: one that is damaged says so and
// leaves the others alone.
using StageRecords = std::map<std::string, Result<StageRecord>, std::less<>>;
Result<StageRecords> read_stage_map(std::string_view object_json, const std::string& name);

}  // namespace evenkeel::kubernetes
