#pragma once
#include <span>
#include <string>
#include <vector>

#include "cluster/app_group.h"

namespace evenkeel::controllers {

// In which order the workloads of a group are placed, by Diktyo's six ways (its section V-C):
//   KahnSort         whom nobody waits for comes off a stack, its dependencies go onto it
//   TarjanSort       depth first, filled from the end
//   Reverse…         the same, backwards: dependencies before those who need them
//   Alternate…       first, last, second, last but one, …
// Any other word is KahnSort. Vertices are selectors, which pods carry, not names, which they do not. Where
// upstream walks a hash map we walk the spec: the first workload listed comes first. Two that name each
// other, as in upstream's examples, are folded into the direction that the one-way dependencies leave open,
// and into that of the spec where both are; one that names itself depends on nobody for that. Workloads
// without dependencies keep their place, and so does one that is only ever depended on.
struct TopologyOrder {
  std::vector<WorkloadReference> workloads;  // the first is placed first; a cycle: as the spec lists them
  std::string algorithm;                     // what was used
  bool is_known_algorithm = true;
  std::vector<std::string> cycle;  // selectors on a way back to the first of them; empty: there is none
};

// `visiting`: selectors that the outer loop of Tarjan's way begins with, before the rest of the spec.
TopologyOrder sort_topology(const AppGroup& group, std::span<const std::string> visiting = {});

}  // namespace evenkeel::controllers
