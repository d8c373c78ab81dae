#include "cluster/node_matches.h"

#include <algorithm>
#include <string>

namespace evenkeel {
namespace {

constexpr std::size_t kMostAnswers = 256;  // queries of pods long gone are forgotten with the rest

class Hash {
 public:
  void add(std::size_t value) { sum_ ^= value + 0x9e3779b97f4a7c15ULL + (sum_ << 6U) + (sum_ >> 2U); }
  void add(const std::string& text) { add(std::hash<std::string>{}(text)); }
  void add(const std::vector<SelectorRequirement>& requirements) {
    for (const SelectorRequirement& requirement : requirements) {
      add(requirement.key);
      add(static_cast<std::size_t>(requirement.op));
      for (const std::string& value : requirement.values) add(value);
    }
  }
  std::size_t sum() const { return sum_; }

 private:
  std::size_t sum_ = 0;
};

std::size_t hash_of(const NodeQuery& query) {
  Hash hash;
  hash.add(query.any_term ? 1U : 0U);
  for (const Label& label : query.labels.all()) {
    hash.add(label.key);
    hash.add(label.value);
  }
  for (const NodeSelectorTerm& term : query.terms) {
    hash.add(term.expressions);
    hash.add(term.fields);
  }
  return hash.sum();
}

}  // namespace

bool matches(const NodeQuery& query, const Node& node) {
  for (const Label& wanted : query.labels.all()) {
    const std::string* found = node.labels.find(wanted.key);
    if (!found || *found != wanted.value) return false;
  }
  return query.any_term || any_term_matches(query.terms, node);
}

void NodeMatches::node_set(std::size_t slot, const Node& node) {
  for (Answer& answer : answers_) {
    if (slot >= answer.on_node.size()) answer.on_node.resize(slot + 1);
    answer.on_node[slot] = matches(answer.query, node);
  }
}

std::span<const std::uint8_t> NodeMatches::of(const NodeQuery& query, std::size_t nodes,
                                              const NodeAt& node_at) {
  const std::size_t hash = hash_of(query);
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto at = from; at != to; ++at) {
    Answer& known = answers_[at->second];
    if (known.query != query) continue;
    if (known.on_node.size() < nodes) known.on_node.resize(nodes);
    return known.on_node;
  }
  if (answers_.size() >= kMostAnswers) {
    answers_.clear();
    by_hash_.clear();
  }
  by_hash_.emplace(hash, answers_.size());
  Answer& answer = answers_.emplace_back(Answer{query, std::vector<std::uint8_t>(nodes)});
  for (std::size_t slot = 0; slot < nodes; ++slot) answer.on_node[slot] = matches(query, node_at(slot));
  return answer.on_node;
}

}  // namespace evenkeel
