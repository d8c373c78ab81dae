#pragma once
#include <string>
#include <vector>

#include "base/time.h"

namespace evenkeel::agents {

// Whom a leader names to take over from it. Those it has named stay, as long as they are there, since they
// follow the whole cluster already; then come the longest joined. A new leader begins with whom its
// predecessor named, and gives them a moment to find it: were the first to join named instead, two kills in a
// row would meet nobody who is ready.
class Deputies {
 public:
  explicit Deputies(std::size_t most) : most_(most) {}

  void begin_term(std::vector<std::string> before, Time now);
  // `joined`: the longest first; `own` is never named.
  const std::vector<std::string>& choose(const std::vector<std::string>& joined, const std::string& own,
                                         Time now);

 private:
  std::size_t most_;
  Time awaited_until_{};
  std::vector<std::string> named_;
};

}  // namespace evenkeel::agents
