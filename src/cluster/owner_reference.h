#pragma once
#include <string>

namespace evenkeel {

struct OwnerReference {
  std::string kind, name, uid;
  bool controller = false;
  std::string api_version{};  // empty: an owner that is no object of an API server, as in a simulation
  bool operator==(const OwnerReference&) const = default;
};

}  // namespace evenkeel
