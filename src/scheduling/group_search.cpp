#include "scheduling/group_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace evenkeel::scheduling {
namespace {

constexpr double kSmall = 1e-9;  // below that a change is none

// -log(u) for u spread evenly over (0, 1): how much worse a step may be, in temperatures.
const std::array<double, 4096>& patience() {
  static const std::array<double, 4096> table = [] {
    std::array<double, 4096> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = -portable_log((static_cast<double>(i) + 0.5) / static_cast<double>(made.size()));
    return made;
  }();
  return table;
}

}  // namespace

GroupSearch::GroupSearch(const GroupProblem& problem, Random random)
    : layout_(problem), random_(random), nodes_of_(problem.pods.size()), zone_nodes_(problem.zones) {
  const auto nodes = static_cast<std::uint32_t>(problem.nodes.size());
  for (std::uint32_t n = 0; n < nodes; ++n) zone_nodes_[problem.nodes[n].zone].push_back(n);
  for (std::uint32_t p = 0; p < problem.pods.size(); ++p) {
    double pull = 0;
    for (const GroupLayout::Peer& peer : layout_.peers(p)) pull += peer.out + peer.in;
    pull_of_all_.push_back(pull);
    if (layout_.is_fixed(p)) continue;
    for (std::uint32_t n = 0; n < nodes; ++n)
      if (layout_.has_room(p, n)) nodes_of_[p].push_back(n);
    if (!nodes_of_[p].empty()) movable_.push_back(p);
  }
  best_ = layout_.places();
  best_placed_ = layout_.placed();
  best_objective_ = layout_.objective();
}

void GroupSearch::note() {
  if (layout_.placed() < best_placed_ ||
      (layout_.placed() == best_placed_ && layout_.objective() >= best_objective_ - kSmall))
    return;
  best_ = layout_.places();
  best_placed_ = layout_.placed();
  best_objective_ = layout_.objective();
}

void GroupSearch::start_over() {
  for (const std::uint32_t pod : movable_) layout_.move(pod, kNowhere);
}

void GroupSearch::restore(const std::vector<std::uint32_t>& places) {
  start_over();
  for (const std::uint32_t pod : movable_)
    if (places[pod] < layout_.problem().nodes.size() && layout_.may_put(pod, places[pod]))
      layout_.move(pod, places[pod]);
  note();
}

bool GroupSearch::accepts(double delta) {
  return delta <= 0 || delta < temperature_ * patience()[random_.bits() % patience().size()];
}

// Half of the time where one of its peers is or next to it, else anywhere.
std::uint32_t GroupSearch::draw_node(std::uint32_t pod) {
  const auto peers = layout_.peers(pod);
  const std::uint64_t coin = random_.bits() >> 60;
  if (!peers.empty() && coin < 8) {
    const std::uint32_t there = layout_.node_of(peers[draw(peers.size())].pod);
    if (there != kNowhere) {
      if (coin < 4) return there;
      const auto& around = zone_nodes_[layout_.zone_of(there)];
      return around[draw(around.size())];
    }
  }
  const auto& all = nodes_of_[pod];
  return all[draw(all.size())];
}

std::uint32_t GroupSearch::cheapest_node(std::uint32_t pod, std::uint32_t except) {
  std::uint32_t best = kNowhere;
  double least = std::numeric_limits<double>::infinity();
  const auto& all = nodes_of_[pod];
  looks_ += all.size() / 2;
  const std::size_t first = draw(all.size());  // equals are taken in turn
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint32_t node = all[first + i < all.size() ? first + i : first + i - all.size()];
    if (node == except) continue;
    const double cost = layout_.cost_at(pod, node);
    if (cost >= least || !layout_.may_put(pod, node)) continue;
    least = cost;
    best = node;
  }
  return best;
}

// Where most pods like this one would fit within the zone.
std::uint32_t GroupSearch::roomiest_node(std::uint32_t pod) {
  std::vector<std::uint32_t> fitting(zone_nodes_.size());
  for (const std::uint32_t node : nodes_of_[pod]) ++fitting[layout_.zone_of(node)];
  std::uint32_t best = kNowhere;
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t node : nodes_of_[pod]) {
    const double cost = layout_.cost_at(pod, node) - fitting[layout_.zone_of(node)];
    if (cost >= least || !layout_.may_put(pod, node)) continue;
    least = cost;
    best = node;
  }
  return best;
}

std::uint32_t GroupSearch::next_to_grow(const std::vector<double>& pull,
                                        const std::vector<std::uint8_t>& tried) {
  std::uint32_t next = kNowhere;
  const std::size_t first = draw(movable_.size());
  for (std::size_t i = 0; i < movable_.size(); ++i) {
    const std::uint32_t pod = movable_[(first + i) % movable_.size()];
    if (tried[pod] || layout_.node_of(pod) != kNowhere) continue;
    if (next == kNowhere || pull[pod] > pull[next] ||
        (pull[pod] == pull[next] && pull_of_all_[pod] > pull_of_all_[next]))
      next = pod;
  }
  return next;
}

void GroupSearch::grow(bool first_by_draw) {
  std::vector<double> pull(layout_.problem().pods.size(), 0);
  std::vector<std::uint8_t> tried(pull.size(), 0);
  for (std::uint32_t p = 0; p < pull.size(); ++p)
    for (const GroupLayout::Peer& peer : layout_.peers(p))
      if (layout_.node_of(peer.pod) != kNowhere) pull[p] += peer.out + peer.in;
  for (std::uint32_t pod = next_to_grow(pull, tried); pod != kNowhere; pod = next_to_grow(pull, tried)) {
    tried[pod] = 1;
    std::uint32_t node = kNowhere;
    if (pull[pod] == 0 && first_by_draw) {
      const auto& all = nodes_of_[pod];
      node = all[draw(all.size())];
      if (!layout_.may_put(pod, node)) node = kNowhere;
    } else if (pull[pod] == 0) {
      node = roomiest_node(pod);
    }
    if (node == kNowhere) node = cheapest_node(pod, kNowhere);
    looks_ += 1 + movable_.size() / 4;
    if (node == kNowhere) continue;
    layout_.move(pod, node);
    looks_ += layout_.price_of_move(pod);
    for (const GroupLayout::Peer& peer : layout_.peers(pod)) pull[peer.pod] += peer.out + peer.in;
  }
  note();
}

void GroupSearch::descend(std::uint64_t budget) {
  const std::uint64_t until = looks_ + budget;
  for (bool better = true; better && looks_ < until;) {
    better = false;
    for (const std::uint32_t pod : movable_) {
      const std::uint32_t from = layout_.node_of(pod);
      if (from == kNowhere) continue;
      looks_ += nodes_of_[pod].size() / 2;
      for (const std::uint32_t node : nodes_of_[pod])
        if (node != layout_.node_of(pod) &&
            layout_.cost_at(pod, node) < layout_.cost_at(pod, layout_.node_of(pod)) - kSmall &&
            layout_.try_move(pod, node)) {
          better = true;
          looks_ += layout_.price_of_move(pod);
        }
      looks_ += movable_.size();
      for (const std::uint32_t other : movable_)
        if (layout_.node_of(other) != kNowhere && layout_.node_of(other) != layout_.node_of(pod) &&
            layout_.swap_delta(pod, other) < -kSmall && layout_.try_swap(pod, other)) {
          better = true;
          looks_ += layout_.price_of_move(pod) * 2;
        }
    }
  }
  note();
}

GroupSearch::Changes GroupSearch::sample_changes() {
  constexpr int kSamples = 200;
  constexpr double kNone = 0.005;  // of the average
  std::vector<double> seen;
  double sum = 0;
  looks_ += kSamples;
  for (int i = 0; i < kSamples; ++i) {
    const std::uint32_t pod = movable_[draw(movable_.size())];
    const std::uint32_t node = draw_node(pod);
    if (layout_.node_of(pod) == kNowhere || node == layout_.node_of(pod)) continue;
    seen.push_back(std::abs(layout_.cost_at(pod, node) - layout_.cost_at(pod, layout_.node_of(pod))));
    sum += seen.back();
  }
  if (seen.empty()) return {};
  Changes changes{sum / static_cast<double>(seen.size()), 0};
  std::erase_if(seen, [&](double change) { return change < changes.typical * kNone; });
  std::ranges::sort(seen);
  if (!seen.empty()) changes.small = seen[seen.size() / 10];
  return changes;
}

void GroupSearch::anneal(std::uint64_t budget, double hot, double cold) {
  if (movable_.empty() || budget == 0) return;
  constexpr std::uint64_t kStage = 256;  // looks at one temperature
  const std::uint64_t began = looks_, until = looks_ + budget;
  while (looks_ < until) {
    const double left = 1 - static_cast<double>(looks_ - began) / static_cast<double>(budget);
    temperature_ = cold + (hot - cold) * left * left * left;
    for (const std::uint64_t stage = looks_ + kStage; looks_ < stage;) {
      const std::uint64_t kind = random_.bits() >> 56;  // of 256: of several pods few, which cost most
      const std::uint32_t pod = movable_[draw(movable_.size())];
      ++looks_;
      if (layout_.node_of(pod) == kNowhere) {
        insert(pod);
      } else if (kind < 148) {
        relocate(pod, draw_node(pod));
      } else if (kind < 252) {
        swap_with(pod, movable_[draw(movable_.size())]);
      } else if (kind == 252) {
        chain(pod, draw_node(pod));
      } else if (kind == 253) {
        exchange_nodes();
      } else {
        shift_zone();
      }
    }
  }
}

void GroupSearch::relocate(std::uint32_t pod, std::uint32_t node) {
  if (node == layout_.node_of(pod)) return;
  if (!layout_.has_room(pod, node)) {
    const auto here = layout_.pods_on(node);
    if (!here.empty()) swap_with(pod, here[draw(here.size())]);
    return;
  }
  if (!accepts(layout_.cost_at(pod, node) - layout_.cost_at(pod, layout_.node_of(pod)))) return;
  looks_ += layout_.price_of_move(pod);
  if (layout_.try_move(pod, node)) note();
}

void GroupSearch::swap_with(std::uint32_t pod, std::uint32_t other) {
  ++looks_;
  const std::uint32_t a = layout_.node_of(pod), b = layout_.node_of(other);
  if (b == kNowhere || a == b || !accepts(layout_.swap_delta(pod, other))) return;
  looks_ += layout_.price_of_move(pod) + layout_.price_of_move(other);
  if (layout_.try_swap(pod, other)) note();
}

}  // namespace evenkeel::scheduling
