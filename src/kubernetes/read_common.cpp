#include "kubernetes/read_common.h"

#include <algorithm>
#include "base/sort_stably.h"

#include "base/numbers.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::pair<std::string_view, SelectorOperator> kLabelOperators[] = {
    {"In", SelectorOperator::in},
    {"NotIn", SelectorOperator::not_in},
    {"Exists", SelectorOperator::exists},
    {"DoesNotExist", SelectorOperator::does_not_exist}};
constexpr std::pair<std::string_view, SelectorOperator> kNodeOperators[] = {
    {"In", SelectorOperator::in},           {"NotIn", SelectorOperator::not_in},
    {"Exists", SelectorOperator::exists},   {"DoesNotExist", SelectorOperator::does_not_exist},
    {"Gt", SelectorOperator::greater_than}, {"Lt", SelectorOperator::less_than}};

// As the API server validates: an operator it does not know, or the wrong number of values, selects nothing
// sensible, and is said rather than guessed.
using Operators = std::span<const std::pair<std::string_view, SelectorOperator>>;
SelectorRequirement read_requirement(const JsonField& field, Operators operators) {
  SelectorRequirement requirement;
  requirement.key = field.required_text_at("key");
  if (!field.has("operator")) field.fail_at("operator", "expected an operator such as In, found nothing");
  requirement.op = field.choice_at("operator", operators, SelectorOperator::exists);
  requirement.values = field.texts_at("values");
  switch (requirement.op) {
    case SelectorOperator::in:
    case SelectorOperator::not_in:
      if (requirement.values.empty()) field.fail_at("values", "expected at least one value, found none");
      break;
    case SelectorOperator::exists:
    case SelectorOperator::does_not_exist:
      if (!requirement.values.empty())
        field.fail_at("values", "expected no values with Exists and DoesNotExist, found '" +
                                    requirement.values[0] + "'");
      break;
    case SelectorOperator::greater_than:
    case SelectorOperator::less_than:
      if (requirement.values.size() != 1 || !parse_integer(requirement.values[0]))
        field.fail_at("values", "expected one whole number with Gt and Lt");
      break;
  }
  return requirement;
}

void refuse_more_than_few(std::size_t found, const JsonField& field) {
  if (found > kMostEntries)
    field.fail("expected at most " + std::to_string(kMostEntries) + " entries, found " +
               std::to_string(found));
}

}  // namespace

std::vector<JsonField> few_items(const JsonField& list) {
  std::vector<JsonField> items = list.items();
  refuse_more_than_few(items.size(), list);
  if (items.size() > kMostEntries) items.clear();
  return items;
}

std::vector<std::pair<std::string_view, JsonField>> few_entries(const JsonField& map) {
  auto entries = map.entries();
  refuse_more_than_few(entries.size(), map);
  if (entries.size() > kMostEntries) entries.clear();
  return entries;
}

Labels read_labels(const JsonField& map) {
  std::vector<Label> labels;
  for (const auto& [key, value] : map.entries()) labels.push_back({std::string(key), value.text()});
  // Sorted first, so that each is set behind the last and ten thousand cost no more than they must. Of a key
  // given twice the last counts.
  sort_stably(labels, [](const Label& a, const Label& b) { return a.key < b.key; });
  Labels sorted;
  for (const Label& label : labels) sorted.set(label.key, label.value);
  return sorted;
}

Metadata read_metadata(const JsonField& object) {
  const JsonField metadata = object.at("metadata");
  Metadata read;
  read.name = metadata.required_text_at("name");
  read.name_space = metadata.text_at("namespace");
  read.uid = metadata.text_at("uid");
  read.labels = read_labels(metadata.at("labels"));
  for (const JsonField& owner : metadata.at("ownerReferences").items())
    read.owners.push_back({owner.text_at("kind"), owner.text_at("name"), owner.text_at("uid"),
                           owner.flag_at("controller"), owner.text_at("apiVersion")});
  read.created = metadata.at("creationTimestamp").time().value_or(Time{});
  read.terminating = metadata.has("deletionTimestamp");
  return read;
}

std::optional<std::string> read_annotation(const JsonField& object, std::string_view key) {
  return object.at("metadata").at("annotations").optional_text_at(key);
}

std::optional<LabelSelector> read_selector(const JsonField& field) {
  if (!field) return std::nullopt;
  LabelSelector selector;
  for (const auto& [key, value] : field.at("matchLabels").entries())
    selector.requirements.push_back({std::string(key), SelectorOperator::in, {value.text()}});
  for (const JsonField& expression : few_items(field.at("matchExpressions")))
    selector.requirements.push_back(read_requirement(expression, kLabelOperators));
  return selector;
}

std::optional<LabelSelector> read_equality_selector(const JsonField& map) {
  LabelSelector selector;
  for (const auto& [key, value] : map.entries())
    selector.requirements.push_back({std::string(key), SelectorOperator::in, {value.text()}});
  if (selector.requirements.empty()) return std::nullopt;
  return selector;
}

NodeSelectorTerm read_node_selector_term(const JsonField& field) {
  NodeSelectorTerm term;
  for (const JsonField& expression : few_items(field.at("matchExpressions")))
    term.expressions.push_back(read_requirement(expression, kNodeOperators));
  for (const JsonField& expression : few_items(field.at("matchFields"))) {
    term.fields.push_back(read_requirement(expression, kNodeOperators));
    if (term.fields.back().key != "metadata.name")
      expression.fail_at("key", "expected metadata.name, found '" + term.fields.back().key + "'");
  }
  return term;
}

std::vector<NodeSelectorTerm> read_node_selector(const JsonField& field) {
  std::vector<NodeSelectorTerm> terms;
  for (const JsonField& term : few_items(field.at("nodeSelectorTerms")))
    terms.push_back(read_node_selector_term(term));
  return terms;
}

bool is_scalar_resource(std::string_view name) {
  return (name.find('/') != std::string_view::npos && !name.starts_with("requests.")) ||
         name.starts_with("hugepages-") || name.starts_with("attachable-volumes-");
}

void add_resource(Resources& resources, std::string_view name, const JsonField& amount) {
  if (name == "cpu") {
    resources.cpu = MilliCpu{std::min(amount.quantity_milli(), kMostOfAResource)};
  } else if (name == "memory") {
    resources.memory = Bytes{std::min(amount.quantity(), kMostOfAResource)};
  } else if (name == "ephemeral-storage") {
    resources.ephemeral_storage = Bytes{std::min(amount.quantity(), kMostOfAResource)};
  } else if (is_scalar_resource(name)) {
    resources.set_extended(name, std::min(amount.quantity(), kMostOfAResource));
  } else {
    static_cast<void>(amount.quantity());  // of no interest, but it must be one
  }
}

Resources read_resources(const JsonField& map) {
  Resources resources;
  for (const auto& [name, amount] : few_entries(map)) add_resource(resources, name, amount);
  return resources;
}

}  // namespace evenkeel::kubernetes
