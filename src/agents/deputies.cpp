#include "agents/deputies.h"

#include <algorithm>
#include <utility>

namespace evenkeel::agents {
namespace {

constexpr Duration kMayFindUs = std::chrono::seconds{2};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void Deputies::begin_term(std::vector<std::string> before, Time now) {
  named_ = std::move(before);
  awaited_until_ = now + kMayFindUs;
}

const std::vector<std::string>& Deputies::choose(const std::vector<std::string>& joined,
                                                 const std::string& own, Time now) {
  std::erase_if(named_, [&](const std::string& name) {
    return name == own || (now >= awaited_until_ && !contains(joined, name));
  });
  for (const std::string& name : joined) {
    if (named_.size() >= most_) break;
    if (name != own && !contains(named_, name)) named_.push_back(name);
  }
  if (named_.size() > most_) named_.resize(most_);
  return named_;
}

}  // namespace evenkeel::agents
