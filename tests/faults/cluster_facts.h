#pragma once
#include <map>
#include <string>
#include <vector>

#include "api_storage.h"

namespace evenkeel::faults {

// The few rules of scheduling that a judge must know by itself, written down plainly and apart from the
// scheduler's.

bool is_ending(const Stored& pod);  // has a deletionTimestamp
bool has_ended(const Stored& pod);  // Succeeded or Failed: takes no room
bool is_gated(const Stored& pod);
std::int64_t priority_of(const Stored& pod);
std::string node_of(const Stored& pod);  // empty while it waits

// Pods that take room on the node.
std::vector<StoredPtr> pods_on(const std::map<std::string, StoredPtr>& pods, const std::string& node);

// Why the pod does not fit onto the node beside those others: CPU, memory, number of pods, host ports, cordon
// and taints; empty where it does.
std::string misfit(const Stored& pod, const Stored& node, const std::vector<StoredPtr>& others);

// Why the pod must not be moved, by what it says itself; empty: nothing speaks against it.
std::string why_it_must_stay(const Stored& pod);

// Whether one of the two refuses to share its `topologyKey` with the other by required anti-affinity
// (matchLabels alone).
bool is_repelled(const Stored& pod, const Stored& node, const Stored& other, const Stored& its_node);

}  // namespace evenkeel::faults
