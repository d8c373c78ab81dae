#include "reporting/fit_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace evenkeel::reporting {
namespace {

// How each plugin's reasons begin (the ErrReason… of pkg/scheduler/framework/plugins). Of two that fit the
// longer is meant, so it stands first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kWords{{
    {"Insufficient ", "NodeResourcesFit"},
    {"Too many pods", "NodeResourcesFit"},
    {"node(s) were unschedulable", "NodeUnschedulable"},
    {"node(s) had untolerated taint", "TaintToleration"},
    {"node(s) didn't match the requested node name", "NodeName"},
    {"node(s) didn't match Pod's node affinity", "NodeAffinity"},
    {"node(s) didn't match scheduler-enforced node affinity", "NodeAffinity"},
    {"node(s) didn't satisfy plugin(s) [NodeAffinity]", "NodeAffinity"},
    {"node(s) didn't have free ports", "NodePorts"},
    {"node(s) didn't match pod topology spread constraints", "PodTopologySpread"},
    {"node(s) didn't match pod affinity rules", "InterPodAffinity"},
    {"node(s) didn't match pod anti-affinity rules", "InterPodAffinity"},
    {"node(s) didn't satisfy existing pods anti-affinity rules", "InterPodAffinity"},
    {"node(s) had no available disk", "VolumeRestrictions"},
    {"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod", "VolumeRestrictions"},
    {"node(s) exceed max volume count", "NodeVolumeLimits"},
    {"node(s) had no available volume zone", "VolumeZone"},
    {"node(s) didn't match PersistentVolume's node affinity", "VolumeBinding"},
    {"node(s) didn't find available persistent volumes", "VolumeBinding"},
    {"node(s) did not have enough free storage", "VolumeBinding"},
    {"node(s) unavailable due to one or more pvc(s)", "VolumeBinding"},
    {"pod has unbound immediate PersistentVolumeClaims", "VolumeBinding"},
    {"persistentvolumeclaim ", "VolumeBinding"},
    {"node(s) didn't match Pod's required features", "NodeDeclaredFeatures"},
    {"waiting for scheduling gates", "SchedulingGates"},
    {"the pod uses dynamic resource claims", "DynamicResources"},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where the next ", 3 reason" begins; a reason may hold commas itself.
std::size_t end_of_part(std::string_view list) {
  for (std::size_t comma = list.find(", "); comma != std::string_view::npos;
       comma = list.find(", ", comma + 1)) {
    std::size_t at = comma + 2;
    const std::size_t digits = at;
    while (at < list.size() && is_digit(list[at])) ++at;
    if (at > digits && at < list.size() && list[at] == ' ') return comma;
  }
  return list.size();
}

FitMessage::Part part_of(std::string_view text) {
  FitMessage::Part part;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part.nodes);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error == std::errc{} && digits < text.size() && text[digits] == ' ') {
    text.remove_prefix(digits + 1);
  } else {
    part.nodes = 0;
  }
  part.reason = text;
  part.plugin = plugin_that_says(text);
  return part;
}

}  // namespace

std::string_view plugin_that_says(std::string_view reason) {
  const auto* const found = std::find_if(kWords.begin(), kWords.end(),
                                         [&](const auto& words) { return reason.starts_with(words.first); });
  return found == kWords.end() ? std::string_view{} : found->second;
}

FitMessage parse_fit_message(std::string_view message) {
  FitMessage read;
  constexpr std::string_view kPreemption = " preemption: ";
  if (const std::size_t at = message.find(kPreemption); at != std::string_view::npos) {
    read.tried_preemption = true;
    message = message.substr(0, at);
  }
  constexpr std::string_view kAvailable = " nodes are available: ";
  if (const std::size_t at = message.find(kAvailable);
      message.starts_with("0/") && at != std::string_view::npos)
    message.remove_prefix(at + kAvailable.size());
  if (message.ends_with('.')) message.remove_suffix(1);
  while (!message.empty()) {
    const std::size_t end = end_of_part(message);
    read.parts.push_back(part_of(message.substr(0, end)));
    message.remove_prefix(std::min(message.size(), end + 2));
  }
  return read;
}

}  // namespace evenkeel::reporting
