#include "controllers/network_book.h"

#include <utility>

namespace evenkeel::controllers {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kMost ? kMost : product;
}

void add(BitsPerSecond& sum, std::int64_t bits) {
  sum.count = bits > kMost - sum.count ? kMost : sum.count + bits;
}

}  // namespace

LinkLoads loads_of(const AppGroup& group, PodSpan pods, const Places& places) {
  std::map<std::string, std::map<Place, std::int64_t>, std::less<>> counts;  // of pods, by workload and place
  for (const NetworkPod* pod : pods) {
    const auto place = pod->talks() ? places.find(pod->node) : places.end();
    if (place != places.end()) ++counts[pod->workload][place->second];
  }
  LinkLoads loads;
  const auto book = [&](const Place& from, const Place& to, std::int64_t bits) {
    const bool is_zone = from.region == to.region;
    const LinkId link = is_zone ? LinkId{LinkId::Level::zone, from.zone, to.zone}
                                : LinkId{LinkId::Level::region, from.region, to.region};
    if (link.origin == link.destination || link.origin.empty() || link.destination.empty()) return;
    add(loads[link], bits);
  };
  for (const AppWorkload& one : group.workloads) {
    const auto senders = counts.find(one.workload.selector);
    if (senders == counts.end()) continue;
    for (const AppDependency& dependency : one.dependencies) {
      const auto receivers = counts.find(dependency.workload.selector);
      if (receivers == counts.end() || dependency.min_bandwidth.count <= 0) continue;
      for (const auto& [from, sending] : senders->second)
        for (const auto& [to, receiving] : receivers->second)
          book(from, to, times(times(sending, receiving), dependency.min_bandwidth.count));
    }
  }
  return loads;
}

void NetworkBook::touch(const std::string& group_key) {
  stale_.insert(group_key);
  changed_.insert(group_key);
}

void NetworkBook::set_node(const std::string& name, Place place) {
  const auto [at, is_new] = places_.try_emplace(name);
  if (!is_new && at->second == place) return;
  at->second = std::move(place);
  for (const auto& [key, pod] : pods_)
    if (pod.node == name) stale_.insert(pod.group_key());
}

void NetworkBook::drop_node(const std::string& name) {
  if (places_.erase(name) == 0) return;
  for (const auto& [key, pod] : pods_)
    if (pod.node == name) stale_.insert(pod.group_key());
}

void NetworkBook::set_group(AppGroup group) {
  const std::string key = group.name_space + "/" + group.name;
  const auto [at, is_new] = groups_.try_emplace(key);
  if (!is_new && at->second == group) return;
  at->second = std::move(group);
  touch(key);
}

void NetworkBook::drop_group(const std::string& key) {
  if (groups_.erase(key) > 0) touch(key);
}

void NetworkBook::set_pod(NetworkPod pod) {
  const std::string key = pod.key();
  const auto [at, is_new] = pods_.try_emplace(key);
  if (!is_new) {
    if (at->second == pod) return;
    members_[at->second.group_key()].erase(key);  // the label may be another by now
    touch(at->second.group_key());
  }
  touch(pod.group_key());
  members_[pod.group_key()].insert(key);
  at->second = std::move(pod);
}

void NetworkBook::drop_pod(const std::string& key) {
  const auto at = pods_.find(key);
  if (at == pods_.end()) return;
  const std::string group_key = at->second.group_key();
  touch(group_key);
  const auto members = members_.find(group_key);
  members->second.erase(key);
  if (members->second.empty()) members_.erase(members);
  pods_.erase(at);
}

const AppGroup* NetworkBook::group(const std::string& key) const {
  const auto at = groups_.find(key);
  return at == groups_.end() ? nullptr : &at->second;
}

std::vector<const NetworkPod*> NetworkBook::members(const std::string& group_key) const {
  std::vector<const NetworkPod*> found;
  const auto members = members_.find(group_key);
  if (members == members_.end()) return found;
  for (const std::string& key : members->second) found.push_back(&pods_.at(key));
  return found;
}

std::set<std::string> NetworkBook::take_changed() { return std::exchange(changed_, {}); }

const LinkLoads& NetworkBook::loads() {
  if (stale_.empty()) return loads_;
  for (const std::string& key : std::exchange(stale_, {})) {
    const AppGroup* known = group(key);
    LinkLoads made = known ? loads_of(*known, members(key), places_) : LinkLoads{};
    if (made.empty())
      by_group_.erase(key);
    else
      by_group_[key] = std::move(made);
  }
  loads_.clear();
  for (const auto& [key, loads] : by_group_)
    for (const auto& [link, bits] : loads) add(loads_[link], bits.count);
  return loads_;
}

}  // namespace evenkeel::controllers
