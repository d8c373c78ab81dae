// Groups as tests write them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cluster/app_group.h"

namespace evenkeel::controllers {

inline AppGroup make_group(const std::string& algorithm,
                           const std::vector<std::pair<std::string, std::vector<std::string>>>& workloads,
                           BitsPerSecond bandwidth = {}) {
  AppGroup group;
  group.name_space = "shop";
  group.name = "group";
  group.members = static_cast<std::int32_t>(workloads.size());
  group.sorting_algorithm = algorithm;
  const auto reference = [](const std::string& selector) {
    return WorkloadReference{"Deployment", selector, selector, "apps/v1", "shop"};
  };
  for (const auto& [selector, dependencies] : workloads) {
    AppWorkload one{reference(selector), {}};
    for (const std::string& to : dependencies)
      one.dependencies.push_back({reference(to), bandwidth, 0, false});
    group.workloads.push_back(std::move(one));
  }
  return group;
}

// The eleven services of Online Boutique, as Diktyo's Fig. 1b draws them.
inline AppGroup online_boutique(const std::string& algorithm) {
  return make_group(algorithm, {{"P1", {"P2", "P3", "P4", "P6", "P8", "P9", "P10"}},
                                {"P2", {"P11"}},
                                {"P3", {}},
                                {"P4", {}},
                                {"P5", {}},
                                {"P6", {}},
                                {"P7", {}},
                                {"P8", {"P2", "P3", "P4", "P5", "P6", "P7"}},
                                {"P9", {"P3"}},
                                {"P10", {}},
                                {"P11", {}}});
}

}  // namespace evenkeel::controllers
