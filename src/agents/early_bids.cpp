#include "agents/early_bids.h"

#include <algorithm>

namespace evenkeel::agents {

bool EarlyBids::is_void(const Arrival& arrival) const {
  const auto known = pods_.find(arrival.pod);
  return known == pods_.end() || known->second.number != arrival.number;
}

void EarlyBids::add(const PodKey& pod, const Said& said) {
  if (counts_.size() <= said.agent) counts_.resize(said.agent + 1, 0);
  auto known = pods_.find(pod);
  const auto place_in = [&](std::vector<Said>& all) {
    return std::lower_bound(all.begin(), all.end(), said.agent,
                            [](const Said& other, std::uint32_t agent) { return other.agent < agent; });
  };
  if (known != pods_.end()) {
    std::vector<Said>& all = known->second.said;
    const auto earlier = place_in(all);
    if (earlier != all.end() && earlier->agent == said.agent) {
      if (earlier->joining != said.joining || earlier->awards <= said.awards) *earlier = said;
      return;
    }
  }
  if (counts_[said.agent] >= limits_.of_agent) return;
  if (known == pods_.end()) {
    if (pods_.size() >= limits_.pods) return;
    known = pods_.try_emplace(pod).first;
    known->second.number = next_number_++;
    arrivals_.push_back({said.at, pod, known->second.number});
    if (arrivals_.size() > 2 * limits_.pods)
      std::erase_if(arrivals_, [&](const Arrival& arrival) { return is_void(arrival); });
  }
  std::vector<Said>& all = known->second.said;
  all.insert(place_in(all), said);
  ++counts_[said.agent];
}

std::vector<Said> EarlyBids::take(const PodKey& pod) {
  const auto known = pods_.find(pod);
  if (known == pods_.end()) return {};
  std::vector<Said> said = std::move(known->second.said);
  pods_.erase(known);
  for (const Said& one : said) --counts_[one.agent];
  return said;
}

void EarlyBids::forget_before(Time first_said) {
  while (!arrivals_.empty() && arrivals_.front().at < first_said) {
    const Arrival arrival = arrivals_.front();
    arrivals_.pop_front();
    if (!is_void(arrival)) take(arrival.pod);
  }
}

void EarlyBids::clear() {
  pods_.clear();
  arrivals_.clear();
  counts_.clear();
}

}  // namespace evenkeel::agents
