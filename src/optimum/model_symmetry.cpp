#include <algorithm>
#include <cmath>
#include <string>

#include "base/sort_stably.h"
#include "optimum/model_builder.h"

namespace evenkeel::optimum {

using Part = CostTree::Part;

// Siblings in the cost tree with the same label can be exchanged with all that is on them: only solutions
// where the earlier holds no fewer pods are looked at.
void ModelBuilder::order_alike() {
  label(static_cast<std::uint32_t>(tree_.parts.size() - 1));
  for (const auto& siblings : model_.alike_)
    for (std::size_t i = 0; i + 1 < siblings.size(); ++i) {
      Linear more;
      for (std::uint32_t one = 0; one < classes(); ++one) {
        if (is_fixed(one)) continue;
        for (const std::uint32_t node : siblings[i]) more.add(count(one, node), 1);
        for (const std::uint32_t node : siblings[i + 1]) more.add(count(one, node), -1);
      }
      if (!more.terms.empty()) row({0, MixedProgram::kInfinite}, more);
    }
}

// What a part is like, and its nodes in an order in which those of parts alike correspond. Notes who is
// alike, the lower parts first.
std::pair<std::string, std::vector<std::uint32_t>> ModelBuilder::label(std::uint32_t number) {
  const Part& part = tree_.parts[number];
  if (part.kind == Part::Kind::node) return {label_of_node(part.number), {part.number}};
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> below;
  below.reserve(part.children.size());
  for (const std::uint32_t child : part.children) below.push_back(label(child));
  sort_stably(below, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = std::to_string(part.height);
  if (part.kind == Part::Kind::zone) {
    text += " zone";
    if (zones_differ()) text += std::to_string(part.number);
    for (const auto& rule : problem_.apart)
      if (rule.by_zone) text += !rule.taken.empty() && rule.taken[part.number] ? '+' : '-';
  }
  std::vector<std::uint32_t> nodes;
  for (std::size_t first = 0; first < below.size();) {
    std::vector<std::vector<std::uint32_t>> same;
    std::size_t next = first;
    for (; next < below.size() && below[next].first == below[first].first; ++next) {
      same.push_back(below[next].second);
      text += "(" + below[next].first + ")";
      nodes.insert(nodes.end(), below[next].second.begin(), below[next].second.end());
    }
    if (same.size() > 1) model_.alike_.push_back(std::move(same));
    first = next;
  }
  return {text, nodes};
}

// Links and remainders know zones by name.
bool ModelBuilder::zones_differ() const {
  const auto is_limited = [](double room) { return std::isfinite(room); };
  return !tree_.exact || std::ranges::any_of(problem_.zone_room, is_limited) ||
         std::ranges::any_of(problem_.region_room, is_limited);
}

std::string ModelBuilder::label_of_node(std::uint32_t number) const {
  const auto& node = problem_.nodes[number];
  std::string text = std::to_string(node.egress);
  for (const double free : node.free) text += " " + std::to_string(free);
  for (std::uint32_t one = 0; one < classes(); ++one) {
    const auto& pod = pod_of(one);
    if (is_fixed(one)) {
      if (class_of(one).fixed == number) text += " own" + std::to_string(number);
      continue;
    }
    if (!pod.allowed.empty()) text += pod.allowed[number] ? '+' : '-';
    if (!pod.bias.empty()) text += " " + std::to_string(pod.bias[number]);
  }
  for (const auto& rule : problem_.apart)
    if (!rule.by_zone) text += !rule.taken.empty() && rule.taken[number] ? 't' : 'f';
  return text;
}

}  // namespace evenkeel::optimum
