#include "controllers/constrained_links.h"

#include <algorithm>
#include <optional>
#include <set>

namespace evenkeel::controllers {
namespace {

constexpr std::int32_t kCritical = 2'000'000'000;  // system-cluster-critical and above

bool may_be_asked(const NetworkPod& pod) {
  return pod.bar == MoveBar::none && pod.comes_back && pod.priority < kCritical &&
         pod.name_space != "kube-system" && pod.talks() && !pod.terminating;
}

std::optional<LinkId::Level> level_of(const std::string& topology_key) {
  if (topology_key == kZoneLabel) return LinkId::Level::zone;
  if (topology_key == kRegionLabel) return LinkId::Level::region;
  return std::nullopt;
}

// A group's pods that stay, and what they put on one link.
class LinkUsers {
 public:
  LinkUsers(const NetworkBook& book, const LinkId& link, const std::set<std::string>& spared)
      : book_(book), link_(link), spared_(spared) {
    for (const auto& [key, group] : book.groups()) {
      std::vector<const NetworkPod*> staying = book.members(key);
      std::erase_if(staying, [](const NetworkPod* pod) { return pod->terminating; });
      const std::int64_t load = on_link(group, staying);
      if (load > 0) groups_.push_back({&group, std::move(staying), load});
    }
  }

  std::int64_t load() const {
    std::int64_t sum = 0;
    for (const Group& one : groups_) sum = std::min(kPlenty, sum + one.load);
    return sum;
  }

  // Whom to ask next if so much has to go; nobody: no one is left who may be asked and uses it.
  const NetworkPod* next(std::int64_t excess) const {
    const NetworkPod* best = nullptr;
    std::int64_t best_share = 0;
    for (const Group& one : groups_)
      for (const NetworkPod* pod : one.pods) {
        if (!may_be_asked(*pod) || spared_.contains(pod->uid) || (best && pod->priority > best->priority))
          continue;
        const std::int64_t share = one.load - without(one, pod);
        if (share <= 0) continue;
        if (best && pod->priority == best->priority && !is_better(*pod, share, *best, best_share, excess))
          continue;
        best = pod;
        best_share = share;
      }
    return best;
  }

  void remove(const NetworkPod* pod) {
    for (Group& one : groups_)
      if (std::erase(one.pods, pod) > 0) one.load = on_link(*one.group, one.pods);
  }

 private:
  static constexpr std::int64_t kPlenty = std::int64_t{1} << 62;
  struct Group {
    const AppGroup* group;
    std::vector<const NetworkPod*> pods;
    std::int64_t load;
  };

  static bool is_better(const NetworkPod& pod, std::int64_t share, const NetworkPod& best,
                        std::int64_t best_share, std::int64_t excess) {
    const bool is_enough = share >= excess, was_enough = best_share >= excess;
    if (is_enough != was_enough) return is_enough;
    if (share != best_share) return is_enough ? share < best_share : share > best_share;
    return pod.created > best.created;  // whoever has worked longest stays
  }

  std::int64_t on_link(const AppGroup& group, PodSpan pods) const {
    const LinkLoads loads = loads_of(group, pods, book_.places());
    const auto at = loads.find(link_);
    return at == loads.end() ? 0 : at->second.count;
  }

  std::int64_t without(const Group& group, const NetworkPod* pod) const {
    std::vector<const NetworkPod*> others = group.pods;
    std::erase(others, pod);
    return on_link(*group.group, others);
  }

  const NetworkBook& book_;
  const LinkId& link_;
  const std::set<std::string>& spared_;
  std::vector<Group> groups_;
};

}  // namespace

std::map<LinkId, BitsPerSecond> link_capacities(const NetworkTopology& topology) {
  std::map<LinkId, BitsPerSecond> capacities;
  const bool has_others =
      std::ranges::any_of(topology.weights, [](const auto& one) { return one.name != kMeasuredWeights; });
  for (const NetworkTopology::Weights& weights : topology.weights) {
    if (has_others && weights.name == kMeasuredWeights) continue;
    for (const NetworkTopology::Level& level : weights.levels) {
      const auto kind = level_of(level.topology_key);
      if (!kind) continue;
      for (const NetworkTopology::Origin& origin : level.origins)
        for (const NetworkTopology::Cost& cost : origin.costs) {
          if (!cost.capacity) continue;
          const auto [at, is_new] =
              capacities.try_emplace({*kind, origin.origin, cost.destination}, *cost.capacity);
          if (!is_new) at->second = std::min(at->second, *cost.capacity);
        }
    }
  }
  return capacities;
}

std::vector<ConstrainedLink> constrained_links(const LinkLoads& loads,
                                               const std::map<LinkId, BitsPerSecond>& capacities) {
  std::vector<ConstrainedLink> found;
  for (const auto& [link, capacity] : capacities)
    if (const auto load = loads.find(link); load != loads.end() && load->second > capacity)
      found.push_back({link, capacity, load->second});
  return found;
}

std::vector<LinkEviction> choose_evictions(const NetworkBook& book, const ConstrainedLink& link,
                                           std::size_t at_most, const std::set<std::string>& spared) {
  std::vector<LinkEviction> chosen;
  LinkUsers users(book, link.link, spared);
  for (std::int64_t excess = users.load() - link.capacity.count; excess > 0 && chosen.size() < at_most;
       excess = users.load() - link.capacity.count) {
    const NetworkPod* pod = users.next(excess);
    if (!pod) break;
    chosen.push_back({*pod, to_text(link.link) + " has " + std::to_string(link.allocated.count) + " of " +
                                std::to_string(link.capacity.count) + " bit/s promised"});
    users.remove(pod);
  }
  return chosen;
}

}  // namespace evenkeel::controllers
