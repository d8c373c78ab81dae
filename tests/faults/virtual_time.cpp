#include "virtual_time.h"

#include <algorithm>
#include <utility>

namespace evenkeel::faults {

VirtualTime::Id VirtualTime::at(Time when, Work work) {
  const Id id = ++last_;
  when = std::max(when, now_);
  queue_.emplace(std::pair(when, id), std::move(work));
  when_.emplace(id, when);
  return id;
}

void VirtualTime::cancel(Id id) {
  const auto found = when_.find(id);
  if (found == when_.end()) return;
  queue_.erase({found->second, id});
  when_.erase(found);
}

bool VirtualTime::run_next(Time limit) {
  const auto first = queue_.begin();
  if (first == queue_.end() || first->first.first > limit) {
    now_ = std::max(now_, limit);
    return false;
  }
  now_ = first->first.first;
  const Work work = std::move(first->second);
  when_.erase(first->first.second);
  queue_.erase(first);
  work();
  return true;
}

std::optional<Time> VirtualTime::next() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first.first;
}

}  // namespace evenkeel::faults
