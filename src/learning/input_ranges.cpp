#include "learning/input_ranges.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace evenkeel::learning {
namespace {

constexpr Real kTail = 0.005;

Real quantile(std::vector<Real>& values, Real q) {
  const auto last = static_cast<Real>(values.size() - 1);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::lround(q * last));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

void InputSurvey::add(std::size_t input, Real value) {
  EVENKEEL_CHECK(input < inputs_.size());
  if (!std::isfinite(value)) return;
  Input& into = inputs_[input];
  into.lowest = into.seen == 0 ? value : std::min(into.lowest, value);
  into.highest = into.seen == 0 ? value : std::max(into.highest, value);
  ++into.seen;
  if (into.kept.size() < kKept) {
    into.kept.push_back(value);
  } else if (const std::uint64_t place = random_.below(into.seen); place < kKept) {
    into.kept[place] = value;
  }
}

void InputSurvey::merge(const InputSurvey& other) {
  EVENKEEL_CHECK(other.size() == size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& from = other.inputs_[i];
    if (from.seen == 0) continue;
    const bool first = inputs_[i].seen == 0;
    const Real lowest = first ? from.lowest : std::min(inputs_[i].lowest, from.lowest);
    const Real highest = first ? from.highest : std::max(inputs_[i].highest, from.highest);
    // Each kept value stands for as many as were seen, so that a long look counts for more than a short one.
    const std::uint64_t each = std::max<std::uint64_t>(1, from.seen / from.kept.size());
    for (const Real value : from.kept) {
      add(i, value);
      inputs_[i].seen += each - 1;
    }
    inputs_[i].lowest = lowest;
    inputs_[i].highest = highest;
  }
}

std::vector<InputRange> InputSurvey::ranges(std::span<const std::string> names) const {
  EVENKEEL_CHECK(names.size() == inputs_.size());
  std::vector<InputRange> ranges;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    InputRange range{names[i], inputs_[i].lowest, 0, 0, inputs_[i].highest};
    if (std::vector<Real> values = inputs_[i].kept; !values.empty()) {
      range.low = quantile(values, kTail);
      range.high = quantile(values, 1 - kTail);
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace evenkeel::learning
