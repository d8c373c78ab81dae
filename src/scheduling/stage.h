#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod.h"

namespace evenkeel::scheduling {

// How far a learned policy has got in a profile. shadow: the rule decides and the learned choice is recorded
// beside it; canary: it decides about some pods; full: about all.
enum class Stage { shadow, canary, full };

struct StageSettings {
  Stage stage = Stage::full;
  // canary: this share of pods, by a hash of their name, and all of these namespaces.
  double share = 0.1;
  std::vector<std::string> namespaces;
  bool operator==(const StageSettings&) const = default;
};

std::string_view name_of(Stage stage);
std::optional<Stage> stage_named(std::string_view name);
// "canary, 10 % of pods and namespaces a, b"
std::string describe(const StageSettings& settings);

// Whether the learned policy is to decide about the pod. Steady: the same pod, asked about again, is on the
// same side, and stays there when the share grows.
bool learned_decides(const StageSettings& settings, const Pod& pod);

}  // namespace evenkeel::scheduling
