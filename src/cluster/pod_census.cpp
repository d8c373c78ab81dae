#include "cluster/pod_census.h"

#include <algorithm>

namespace evenkeel {
namespace {

constexpr std::size_t kMostAnswers = 512;  // queries of pods long gone are forgotten with the rest

std::size_t mix(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}
std::size_t mix(std::size_t seed, const std::string& text) {
  return mix(seed, std::hash<std::string>{}(text));
}

std::size_t hash_of(const PodQuery& query) {
  std::size_t hash = query.skip_terminating ? 1 : 0;
  for (const PodMatch& match : query.all) {
    hash = mix(hash, match.everywhere ? 1 : 0);
    for (const std::string& name : match.namespaces) hash = mix(hash, name);
    for (const SelectorRequirement& r : match.selector.requirements) {
      hash = mix(mix(hash, r.key), static_cast<std::size_t>(r.op));
      for (const std::string& value : r.values) hash = mix(hash, value);
    }
  }
  return hash;
}

}  // namespace

bool matches(const PodMatch& match, const std::string& name_space, const Labels& labels) {
  if (!match.everywhere && !std::binary_search(match.namespaces.begin(), match.namespaces.end(), name_space))
    return false;
  return matches(match.selector, labels);
}

bool PodCensus::meant(const PodQuery& query, const KindEntry& kind) {
  if (query.all.empty() || (query.skip_terminating && kind.terminating)) return false;
  return std::all_of(query.all.begin(), query.all.end(),
                     [&](const PodMatch& match) { return matches(match, kind.name_space, kind.labels); });
}

PodCensus::Kind PodCensus::kind_of(const Pod& pod) {
  const std::size_t hash = mix(pod.shape->kind_hash, pod.terminating ? 1 : 0);
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto at = from; at != to; ++at) {
    KindEntry& entry = kinds_[at->second];
    if (entry.name_space != pod.shape->name_space || entry.labels != pod.shape->labels ||
        entry.terminating != pod.terminating)
      continue;
    ++entry.holders;
    return at->second;
  }
  Kind kind = 0;
  if (free_.empty()) {
    kind = static_cast<Kind>(kinds_.size());
    kinds_.emplace_back();
  } else {
    kind = free_.back();
    free_.pop_back();
  }
  KindEntry& entry = kinds_[kind];
  entry = {pod.shape->name_space, pod.shape->labels, pod.terminating, hash, 1, {}, {}};
  for (std::uint32_t i = 0; i < answers_.size(); ++i)
    if (meant(answers_[i].query, entry)) entry.answers_to.push_back(i);
  by_hash_.emplace(hash, kind);
  return kind;
}

void PodCensus::release(Kind kind) {
  KindEntry& entry = kinds_[kind];
  if (--entry.holders > 0) return;
  const auto [from, to] = by_hash_.equal_range(entry.hash);
  for (auto at = from; at != to; ++at) {
    if (at->second != kind) continue;
    by_hash_.erase(at);
    break;
  }
  free_.push_back(kind);
}

void PodCensus::count(Kind kind, std::uint32_t node, bool added) {
  KindEntry& entry = kinds_[kind];
  const auto at = std::lower_bound(entry.nodes.begin(), entry.nodes.end(), node,
                                   [](const OnNode& on, std::uint32_t slot) { return on.node < slot; });
  const bool here = at != entry.nodes.end() && at->node == node;
  if (added && here) {
    ++at->count;
  } else if (added) {
    entry.nodes.insert(at, {node, 1});
  } else if (--at->count == 0) {
    entry.nodes.erase(at);
  }
  for (const std::uint32_t index : entry.answers_to) {
    auto& on_node = answers_[index].on_node;
    if (node >= on_node.size()) on_node.resize(node + std::size_t{1});
    on_node[node] += added ? 1U : ~0U;
  }
}

void PodCensus::add_to(Answer& answer, const KindEntry& kind) const {
  for (const OnNode& on : kind.nodes) {
    if (on.node >= answer.on_node.size()) answer.on_node.resize(on.node + std::size_t{1});
    answer.on_node[on.node] += on.count;
  }
}

std::span<const std::uint32_t> PodCensus::counts(const PodQuery& query, std::size_t nodes) {
  const std::size_t hash = hash_of(query);
  const auto [from, to] = answers_by_hash_.equal_range(hash);
  for (auto at = from; at != to; ++at) {
    Answer& known = answers_[at->second];
    if (known.query != query) continue;
    if (known.on_node.size() < nodes) known.on_node.resize(nodes);
    return known.on_node;
  }
  if (answers_.size() >= kMostAnswers) {
    answers_.clear();
    answers_by_hash_.clear();
    for (KindEntry& kind : kinds_) kind.answers_to.clear();
  }
  const auto index = static_cast<std::uint32_t>(answers_.size());
  Answer& answer = answers_.emplace_back(Answer{query, std::vector<std::uint32_t>(nodes)});
  answers_by_hash_.emplace(hash, index);
  for (KindEntry& kind : kinds_) {
    if (kind.holders == 0 || !meant(query, kind)) continue;
    kind.answers_to.push_back(index);
    add_to(answer, kind);
  }
  return answer.on_node;
}

void RuleCensus::count(const std::shared_ptr<const PodTemplate>& shape, std::uint32_t node, bool added) {
  const auto find = [&]() -> RuleHolders* {
    const auto [from, to] = by_hash_.equal_range(shape->rule_hash);
    for (auto at = from; at != to; ++at) {
      RuleHolders& holders = holders_[at->second];
      const PodTemplate& other = *holders.example;
      if (&other == shape.get() ||
          (other.name_space == shape->name_space && other.spec.pod_affinity == shape->spec.pod_affinity &&
           other.spec.pod_anti_affinity == shape->spec.pod_anti_affinity))
        return &holders;
    }
    return nullptr;
  };
  RuleHolders* holders = find();
  if (!holders) {
    const auto empty =
        std::find_if(holders_.begin(), holders_.end(), [](const RuleHolders& h) { return h.total == 0; });
    const auto index = static_cast<std::uint32_t>(empty - holders_.begin());
    if (empty == holders_.end()) {
      holders_.emplace_back();
    } else {
      std::erase_if(by_hash_, [&](const auto& entry) { return entry.second == index; });
      holders_[index] = {};
    }
    by_hash_.emplace(shape->rule_hash, index);
    holders = &holders_[index];
    holders->example = shape;
  }
  if (node >= holders->on_node.size()) holders->on_node.resize(node + std::size_t{1});
  const std::uint32_t by = added ? 1U : ~0U;  // wraps around and back
  holders->on_node[node] += by;
  holders->total += added ? std::size_t{1} : ~std::size_t{0};
  pods_ += added ? std::size_t{1} : ~std::size_t{0};
  if (!shape->spec.pod_anti_affinity.required.empty())
    with_required_anti_ += added ? std::size_t{1} : ~std::size_t{0};
}

}  // namespace evenkeel
