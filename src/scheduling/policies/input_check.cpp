#include "scheduling/policies/input_check.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::scheduling {

void InputCheck::trained_on(std::span<const learning::InputRange> ranges) {
  bounds_.clear();
  for (const learning::InputRange& range : ranges) {
    const double slack = std::max(kLeastSlack, kSlack * (range.high - range.low));
    bounds_.push_back({range.low - slack, range.high + slack});
  }
}

template <class Value>
void InputCheck::look_at(std::size_t first, std::span<const Value> values, double limit) {
  if (survey_)
    for (std::size_t i = 0; i < values.size(); ++i) survey_->add(first + i, static_cast<double>(values[i]));
  const bool knows = first + values.size() <= bounds_.size();
  if (!knows && limit <= 0) return;
  found_.inputs += static_cast<std::uint32_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    const bool within =
        knows ? value >= bounds_[first + i].low && value <= bounds_[first + i].high : std::abs(value) < limit;
    found_.outside += within ? 0 : 1;  // a NaN is outside
  }
}

void InputCheck::look(std::size_t first, std::span<const float> values, double limit) {
  look_at(first, values, limit);
}

void InputCheck::look(std::size_t first, std::span<const double> values, double limit) {
  look_at(first, values, limit);
}

}  // namespace evenkeel::scheduling
