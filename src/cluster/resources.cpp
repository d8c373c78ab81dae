#include "cluster/resources.h"

#include <algorithm>

namespace evenkeel {
namespace {

auto position(std::vector<ExtendedResource>& extended, std::string_view name) {
  return std::lower_bound(extended.begin(), extended.end(), name,
                          [](const ExtendedResource& r, std::string_view n) { return r.name < n; });
}

}  // namespace

std::int64_t Resources::extended_count(std::string_view name) const {
  for (const ExtendedResource& resource : extended)
    if (resource.name == name) return resource.count;
  return 0;
}

void Resources::set_extended(std::string_view name, std::int64_t count) {
  const auto at = position(extended, name);
  const bool found = at != extended.end() && at->name == name;
  if (count == 0) {
    if (found) extended.erase(at);
  } else if (found) {
    at->count = count;
  } else {
    extended.insert(at, {std::string(name), count});
  }
}

Resources& Resources::operator+=(const Resources& other) {
  cpu += other.cpu;
  memory += other.memory;
  ephemeral_storage += other.ephemeral_storage;
  for (const auto& [name, count] : other.extended) set_extended(name, extended_count(name) + count);
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  cpu -= other.cpu;
  memory -= other.memory;
  ephemeral_storage -= other.ephemeral_storage;
  for (const auto& [name, count] : other.extended) set_extended(name, extended_count(name) - count);
  return *this;
}

Resources max_of(Resources a, const Resources& b) {
  a.cpu = std::max(a.cpu, b.cpu);
  a.memory = std::max(a.memory, b.memory);
  a.ephemeral_storage = std::max(a.ephemeral_storage, b.ephemeral_storage);
  for (const auto& [name, count] : b.extended) a.set_extended(name, std::max(a.extended_count(name), count));
  return a;
}

}  // namespace evenkeel
