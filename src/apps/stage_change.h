#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/stage_record.h"

namespace evenkeel::apps {

// One step of a profile's learned policy, forward or back.
struct StageChange {
  std::string profile = "evenkeel", name_space = "kube-system";
  bool back = false;              // demote
  std::optional<std::string> to;  // none: the next stage, or the one before
  std::optional<double> share;
  std::vector<std::string> namespaces;
  std::string by;
  bool dry_run = false;
};

struct StageChanged {
  std::string before, after;  // for people; before is empty where nothing was said
  std::string text;           // what the profile's key now holds, or would
};

// The record after the change, or why there is none. Pure.
Result<kubernetes::StageRecord> changed(const kubernetes::StageRecord& record, const StageChange& change,
                                        const std::string& since);

// Reads the ConfigMap, changes one key and writes it where nobody has changed it meanwhile; else looks again.
Result<StageChanged> change_stage(kubernetes::ApiConnection& server, const StageChange& change);

}  // namespace evenkeel::apps
