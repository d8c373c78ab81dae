#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "base/time.h"

namespace evenkeel::scheduling {

// Decisions that wait for their reward, the one due first in front. Decision has `Time at`: when it is to be
// looked at.
template <typename Decision>
class PendingRewards {
 public:
  void add(Decision decision) {
    const auto after = std::upper_bound(waiting_.begin(), waiting_.end(), decision.at,
                                        [](Time at, const Decision& other) { return at < other.at; });
    waiting_.insert(after, std::move(decision));
  }

  Time next() const { return waiting_.empty() ? Time::max() : waiting_.front().at; }

  // Takes out all that are due, in order, and asks about each: `judge(Decision&)` true: too early to say, so
  // it is looked at again after `again`, and meanwhile goes on waiting.
  template <typename Judge>
  void review(Time now, Duration again, Judge judge) {
    while (next() <= now) {
      Decision decision = std::move(waiting_.front());
      waiting_.pop_front();
      if (!judge(decision)) continue;
      decision.at = now + again;
      add(std::move(decision));
    }
  }

  template <typename Condition>
  std::size_t erase_if(Condition condition) {
    return std::erase_if(waiting_, condition);
  }
  void clear() { waiting_.clear(); }
  std::size_t size() const { return waiting_.size(); }
  auto begin() const { return waiting_.begin(); }
  auto end() const { return waiting_.end(); }

 private:
  std::deque<Decision> waiting_;
};

}  // namespace evenkeel::scheduling
