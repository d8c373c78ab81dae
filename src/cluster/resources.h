#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace evenkeel {

// Anything beyond cpu, memory and ephemeral storage: GPUs, huge pages, bandwidth.
struct ExtendedResource {
  std::string name;
  std::int64_t count = 0;
  bool operator==(const ExtendedResource&) const = default;
};

// What is requested, limited or allocatable; exact integers, as the API has them.
struct Resources {
  MilliCpu cpu;
  Bytes memory;
  Bytes ephemeral_storage;
  std::vector<ExtendedResource> extended;  // sorted by name, no zero counts

  std::int64_t extended_count(std::string_view name) const;
  void set_extended(std::string_view name, std::int64_t count);

  Resources& operator+=(const Resources& other);
  Resources& operator-=(const Resources& other);
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }
  bool operator==(const Resources&) const = default;
};

// The larger of the two in each resource.
Resources max_of(Resources a, const Resources& b);

}  // namespace evenkeel
