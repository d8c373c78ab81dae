#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cluster/network_facts.h"
#include "controllers/measurements.h"

namespace evenkeel::controllers {

// What it costs from one zone to another of its region and from one region to another, in milliseconds:
//   - the median over the pairs of nodes measured in this direction;
//   - where none was, the median of the other direction: what is measured is a round trip;
//   - where neither was, the shortest way over other places;
//   - where there is none, nothing at all: a link that nobody knows is left out, never free.
// In whole numbers, and at least 1: another zone is never nearer than one's own.
struct LinkCosts {
  std::map<LinkId, std::int64_t> costs;
  std::size_t measured = 0, by_way_of_others = 0;  // links
  std::vector<LinkId> unknown;
  std::vector<std::string>
      shared_zones;         // names that mean zones of several regions: one entry for all of them
  bool is_too_big = false;  // nothing was worked out: no object could hold it
};

inline constexpr std::size_t kMostLinks = 10'000;

LinkCosts link_costs(std::span<const Measurement> measurements, const Places& nodes);

}  // namespace evenkeel::controllers
