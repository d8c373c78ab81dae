// What objects of every kind are made of.
#pragma once
#include <string>
#include <vector>

#include "cluster/labels.h"
#include "cluster/node_selector.h"
#include "cluster/owner_reference.h"
#include "cluster/resources.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

struct Metadata {
  std::string name_space, name, uid;
  Labels labels;
  std::vector<OwnerReference> owners;
  Time created{};
  bool terminating = false;
};
Metadata read_metadata(const JsonField& object);  // of the whole object
// An annotation by its key; the others are never looked at, however long.
std::optional<std::string> read_annotation(const JsonField& object, std::string_view key);

Labels read_labels(const JsonField& map);
// matchLabels and matchExpressions; absent: none, which selects nothing.
std::optional<LabelSelector> read_selector(const JsonField& field);
// A plain map of labels, as Services and ReplicationControllers have: absent or empty is none.
std::optional<LabelSelector> read_equality_selector(const JsonField& map);
NodeSelectorTerm read_node_selector_term(const JsonField& field);
std::vector<NodeSelectorTerm> read_node_selector(const JsonField& field);  // nodeSelectorTerms

// Nobody has more of a resource: what asks for more goes nowhere, and no sum overflows.
inline constexpr std::int64_t kMostOfAResource = std::int64_t{1} << 50;
// More than anybody needs. What is compared with each of its like, or for each node and pod, stays short, so
// that no object can stall the scheduler: longer lists are errors.
inline constexpr std::size_t kMostEntries = 1000;
std::vector<JsonField> few_items(const JsonField& list);
std::vector<std::pair<std::string_view, JsonField>> few_entries(const JsonField& map);

// Whether the scheduler counts resources of that name beyond cpu, memory, storage and pods.
bool is_scalar_resource(std::string_view name);
void add_resource(Resources& resources, std::string_view name, const JsonField& amount);
Resources read_resources(const JsonField& map);

}  // namespace evenkeel::kubernetes
