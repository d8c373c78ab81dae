// PodTopologySpread's filter: pods that match plus the pod itself, less the fewest of any domain,
// must not exceed maxSkew.
#include <algorithm>
#include <limits>

#include "scheduling/filters/prepared.h"

namespace evenkeel::scheduling {
namespace {

constexpr const char* kUneven = "node(s) didn't match pod topology spread constraints";
constexpr const char* kNoLabel =
    "node(s) didn't match pod topology spread constraints (missing required label)";

}  // namespace

SpreadState::SpreadState(const FilterInput& input) {
  for (SpreadConstraint& constraint : hard_constraints(input.pod, input.cluster, input.options.profile)) {
    Domains domains;
    domains.topology = &input.cluster.topology(constraint.topology_key);
    domains.means_itself = constraint.means(input.pod.shape->labels);
    domains.pods.resize(domains.topology->values());
    domains.exists.resize(domains.topology->values());
    domains.constraint = std::move(constraint);
    constraints_.push_back(std::move(domains));
  }
  const auto& present = input.cluster.columns().present;
  for (Domains& domains : constraints_) {
    const PodQuery query = domains.constraint.query(input.pod.shape->name_space);
    const std::span<const std::uint32_t> pods =
        query.all.empty() ? std::span<const std::uint32_t>{} : input.cluster.pods_meant(query);
    const PodSpec& spec = input.pod.spec();
    const bool choosy = (domains.constraint.honor_node_affinity &&
                         (!spec.node_selector.all().empty() || spec.node_affinity.required)) ||
                        (domains.constraint.honor_node_taints && input.cluster.columns().tainted_nodes > 0);
    for (std::uint32_t slot = 0; slot < present.size(); ++slot) {
      if (!present[slot] || !has_all_keys(slot)) continue;
      if (choosy && !includes(domains.constraint, spec, input.cluster.node({slot}))) continue;
      const std::uint32_t value = domains.topology->of(slot);
      domains.exists[value] = 1;
      if (!pods.empty()) domains.pods[value] += static_cast<std::int32_t>(pods[slot]);
    }
    domains.existing = static_cast<std::int32_t>(std::count(domains.exists.begin(), domains.exists.end(), 1));
  }
}

bool SpreadState::has_all_keys(std::size_t slot) const {
  return std::all_of(constraints_.begin(), constraints_.end(),
                     [&](const Domains& domains) { return domains.topology->of(slot) != 0; });
}

std::int32_t SpreadState::Domains::fewest() const {
  if (existing < constraint.min_domains) return 0;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (std::size_t value = 0; value < pods.size(); ++value)
    if (exists[value]) least = std::min(least, pods[value]);
  return least;
}

void SpreadState::add(const FilterInput& input, const Pod& other, NodeId node, int times) {
  if (other.shape->name_space != input.pod.shape->name_space || !has_all_keys(node.slot)) return;
  for (Domains& domains : constraints_) {
    if (!domains.constraint.means(other.shape->labels)) continue;
    if (!includes(domains.constraint, input.pod.spec(), input.cluster.node(node))) continue;
    domains.pods[domains.topology->of(node.slot)] += times;
  }
}

Verdict SpreadState::judge(const FilterInput&, NodeId node) const {
  for (const Domains& domains : constraints_) {
    const std::uint32_t value = domains.topology->of(node.slot);
    if (value == 0) return {{kNoLabel}, true};
    const std::int64_t skew =
        std::int64_t{domains.pods[value]} + (domains.means_itself ? 1 : 0) - domains.fewest();
    if (skew > domains.constraint.max_skew) return {{kUneven}, false};
  }
  return {};
}

void SpreadState::clear_unfit(const FilterInput&, std::span<std::uint8_t> feasible) const {
  for (const Domains& domains : constraints_) {
    const std::int64_t most =
        std::int64_t{domains.constraint.max_skew} + domains.fewest() - (domains.means_itself ? 1 : 0);
    for (std::size_t slot = 0; slot < feasible.size(); ++slot) {
      const std::uint32_t value = domains.topology->of(slot);
      if (feasible[slot] && (value == 0 || domains.pods[value] > most)) feasible[slot] = 0;
    }
  }
}

namespace {

// A pod without constraints of its own may still be given hard ones by the profile.
bool matters(const FilterInput& input) {
  const auto hard = [](const TopologySpreadConstraint& constraint) { return constraint.do_not_schedule; };
  const auto& own = input.pod.spec().spread;
  if (!own.empty()) return std::any_of(own.begin(), own.end(), hard);
  const auto& defaults = input.options.profile.default_spread;
  return defaults && std::any_of(defaults->begin(), defaults->end(), hard);
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  prepared(input).spread(input).clear_unfit(input, feasible);
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  return prepared(input).spread(input).judge(input, node);
}

}  // namespace

const Filter kPodTopologySpread = {"PodTopologySpread", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
