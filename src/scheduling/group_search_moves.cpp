// Moves of more than one pod: made one by one, and undone unless the whole is worth it.
#include <algorithm>

#include "scheduling/group_search.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::size_t kMostVictims = 3;

}  // namespace

void GroupSearch::make(std::uint32_t pod, std::uint32_t node) {
  made_.push_back({pod, layout_.node_of(pod)});
  looks_ += layout_.price_of_move(pod);
  layout_.move(pod, node);
}

bool GroupSearch::try_make(std::uint32_t pod, std::uint32_t node) {
  ++looks_;
  const std::uint32_t from = layout_.node_of(pod);
  if (!layout_.try_move(pod, node)) return false;
  made_.push_back({pod, from});
  looks_ += layout_.price_of_move(pod);
  return true;
}

void GroupSearch::undo_all() {
  for (; !made_.empty(); made_.pop_back()) {
    looks_ += layout_.price_of_move(made_.back().pod);
    layout_.move(made_.back().pod, made_.back().from);
  }
}

// More placed is always worth it, fewer never, and as many by what it costs.
void GroupSearch::settle(double before, std::uint32_t placed_before) {
  const std::uint32_t placed = layout_.placed();
  if (placed < placed_before || (placed == placed_before && !accepts(layout_.objective() - before)))
    return undo_all();
  made_.clear();
  note();
}

// The pod to a node that is full, one of those there to wherever it is cheapest.
void GroupSearch::chain(std::uint32_t pod, std::uint32_t node) {
  const auto here = layout_.pods_on(node);
  if (node == layout_.node_of(pod) || here.empty()) return;
  const double before = layout_.objective();
  const std::uint32_t placed = layout_.placed();
  const std::uint32_t victim = here[draw(here.size())];
  make(victim, kNowhere);
  if (!try_make(pod, node)) return undo_all();
  const std::uint32_t refuge = cheapest_node(victim, node);
  if (refuge == kNowhere) return undo_all();
  make(victim, refuge);
  settle(before, placed);
}

// All that was put on one node to another, and the other way round.
void GroupSearch::exchange_nodes() {
  const std::uint32_t a = layout_.node_of(movable_[draw(movable_.size())]);
  if (a == kNowhere) return;
  const std::uint32_t b = [&] {
    const std::uint32_t other = layout_.node_of(movable_[draw(movable_.size())]);
    if (other != kNowhere && random_.bits() % 2 == 0) return other;
    return draw(layout_.problem().nodes.size());
  }();
  if (a == b) return;
  const double before = layout_.objective();
  const std::uint32_t placed = layout_.placed();
  const auto on_a = layout_.pods_on(a), on_b = layout_.pods_on(b);
  const std::vector<std::uint32_t> from_a(on_a.begin(), on_a.end()), from_b(on_b.begin(), on_b.end());
  for (const std::uint32_t pod : from_a) make(pod, kNowhere);
  for (const std::uint32_t pod : from_b) make(pod, kNowhere);
  for (const std::uint32_t pod : from_a)
    if (!try_make(pod, b) && !try_make(pod, a)) return undo_all();
  for (const std::uint32_t pod : from_b)
    if (!try_make(pod, a) && !try_make(pod, b)) return undo_all();
  settle(before, placed);
}

// A pod and some of those it is connected to, all of one zone, to another zone, each to its cheapest node.
void GroupSearch::shift_zone() {
  const std::uint32_t first = movable_[draw(movable_.size())];
  if (layout_.node_of(first) == kNowhere || zone_nodes_.size() < 2) return;
  const std::uint32_t from = layout_.zone_of(layout_.node_of(first)), to = draw(zone_nodes_.size());
  if (to == from || zone_nodes_[to].empty()) return;
  const std::size_t wanted = 1 + draw(std::min<std::size_t>(movable_.size(), 8));
  std::vector<std::uint32_t> part{first};
  for (std::size_t at = 0; at < part.size() && part.size() < wanted; ++at)
    for (const GroupLayout::Peer& peer : layout_.peers(part[at])) {
      const std::uint32_t node = layout_.node_of(peer.pod);
      if (part.size() < wanted && node != kNowhere && layout_.zone_of(node) == from &&
          !layout_.is_fixed(peer.pod) && std::ranges::find(part, peer.pod) == part.end())
        part.push_back(peer.pod);
    }
  const double before = layout_.objective();
  const std::uint32_t placed = layout_.placed();
  for (const std::uint32_t pod : part) {
    std::uint32_t best = kNowhere;
    looks_ += zone_nodes_[to].size() / 2;
    const auto& around = zone_nodes_[to];
    const std::size_t shift = draw(around.size());
    for (std::size_t i = 0; i < around.size(); ++i) {
      const std::uint32_t node = around[(i + shift) % around.size()];
      if (layout_.has_room(pod, node) &&
          (best == kNowhere || layout_.cost_at(pod, node) < layout_.cost_at(pod, best)))
        best = node;
    }
    if (best != kNowhere) try_make(pod, best);
  }
  if (made_.empty()) return;
  settle(before, placed);
}

// Room for the pod on that node: others from there go elsewhere, or one of them nowhere instead of it.
bool GroupSearch::make_room(std::uint32_t pod, std::uint32_t node) {
  std::vector<std::uint32_t> victims;
  while (!layout_.may_put(pod, node)) {
    const auto here = layout_.pods_on(node);
    if (here.empty() || victims.size() == kMostVictims) return false;
    victims.push_back(here[draw(here.size())]);
    make(victims.back(), kNowhere);
  }
  make(pod, node);
  std::size_t homeless = 0;
  for (const std::uint32_t victim : victims) {
    const std::uint32_t refuge = cheapest_node(victim, kNowhere);
    if (refuge == kNowhere) {
      ++homeless;
    } else {
      make(victim, refuge);
    }
  }
  return homeless <= 1;
}

void GroupSearch::insert(std::uint32_t pod) {
  const double before = layout_.objective();
  const std::uint32_t placed = layout_.placed();
  if (const std::uint32_t node = draw_node(pod); !make_room(pod, node)) return undo_all();
  settle(before, placed);
}

}  // namespace evenkeel::scheduling
