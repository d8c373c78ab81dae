#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel {

struct Label {
  std::string key, value;
  auto operator<=>(const Label&) const = default;
};

// A node's or a pod's labels: few, read often, so a sorted vector and not a map.
class Labels {
 public:
  Labels() = default;
  Labels(std::initializer_list<Label> labels);
  void set(std::string_view key, std::string_view value);
  const std::string* find(std::string_view key) const;
  const std::vector<Label>& all() const { return labels_; }
  bool operator==(const Labels&) const = default;

 private:
  std::vector<Label> labels_;  // sorted by key
};

enum class SelectorOperator { in, not_in, exists, does_not_exist, greater_than, less_than };

struct SelectorRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::exists;
  std::vector<std::string> values;
  bool operator==(const SelectorRequirement&) const = default;
};

// As apimachinery's labels.Requirement: NotIn also holds where the key is absent,
// and Gt/Lt only where both sides are integers.
bool matches(const SelectorRequirement& requirement, const Labels& labels);
bool matches(const SelectorRequirement& requirement, const std::string* found);  // null: the key is absent

// A LabelSelector: everything must hold. Without requirements it selects everything;
// a selector that is absent altogether selects nothing, which std::optional says.
struct LabelSelector {
  std::vector<SelectorRequirement> requirements;
  bool operator==(const LabelSelector&) const = default;
};
bool matches(const LabelSelector& selector, const Labels& labels);

}  // namespace evenkeel
