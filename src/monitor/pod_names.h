#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel::monitor {

// How kubelets name the cgroups of pods:
//   cgroupfs   kubepods/[besteffort/|burstable/]pod<uid>
//   systemd    kubepods.slice/[kubepods-burstable.slice/]kubepods[-burstable]-pod<uid, _ for ->.slice
// and with a --cgroup-root of their own below that, systemd then putting its name before every other.

// Where pods may lie below a node's cgroup.
inline constexpr std::array<std::string_view, 4> kPodRoots = {
    "kubepods", "kubepods.slice", "kubelet/kubepods", "kubelet.slice/kubelet-kubepods.slice"};

// The uid of the pod whose cgroup this folder is; none: it is not a pod's.
std::optional<std::string> pod_uid_of(std::string_view folder);

// Whether the folder holds the pods of a class of service: besteffort or burstable.
bool is_service_class(std::string_view folder);

}  // namespace evenkeel::monitor
