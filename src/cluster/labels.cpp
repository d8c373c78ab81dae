#include "cluster/labels.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace evenkeel {
namespace {

std::optional<long long> as_integer(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool compares(const SelectorRequirement& requirement, const std::string& found) {
  if (requirement.values.size() != 1) return false;
  const auto left = as_integer(found), right = as_integer(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == SelectorOperator::greater_than ? *left > *right : *left < *right;
}

}  // namespace

Labels::Labels(std::initializer_list<Label> labels) {
  for (const Label& label : labels) set(label.key, label.value);
}

void Labels::set(std::string_view key, std::string_view value) {
  const auto at = std::lower_bound(labels_.begin(), labels_.end(), key,
                                   [](const Label& label, std::string_view k) { return label.key < k; });
  if (at != labels_.end() && at->key == key) {
    at->value = value;
  } else {
    labels_.insert(at, {std::string(key), std::string(value)});
  }
}

const std::string* Labels::find(std::string_view key) const {
  const auto at = std::lower_bound(labels_.begin(), labels_.end(), key,
                                   [](const Label& label, std::string_view k) { return label.key < k; });
  return at != labels_.end() && at->key == key ? &at->value : nullptr;
}

bool matches(const SelectorRequirement& requirement, const Labels& labels) {
  return matches(requirement, labels.find(requirement.key));
}

bool matches(const SelectorRequirement& requirement, const std::string* found) {
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *found) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOperator::in:
      return found && listed();
    case SelectorOperator::not_in:
      return !found || !listed();
    case SelectorOperator::exists:
      return found != nullptr;
    case SelectorOperator::does_not_exist:
      return found == nullptr;
    case SelectorOperator::greater_than:
    case SelectorOperator::less_than:
      return found && compares(requirement, *found);
  }
  return false;
}

bool matches(const LabelSelector& selector, const Labels& labels) {
  return std::all_of(selector.requirements.begin(), selector.requirements.end(),
                     [&](const SelectorRequirement& r) { return matches(r, labels); });
}

}  // namespace evenkeel
