// InterPodAffinity's filter, symmetric: what the pod demands of others, and what others demand of it.
#include <algorithm>

#include "scheduling/filters/prepared.h"
#include "scheduling/pod_terms.h"

namespace evenkeel::scheduling {
namespace {

constexpr const char* kAffinity = "node(s) didn't match pod affinity rules";
constexpr const char* kAntiAffinity = "node(s) didn't match pod anti-affinity rules";
constexpr const char* kOthers = "node(s) didn't satisfy existing pods anti-affinity rules";

bool means_all(const std::optional<PodMatch>& match, const Pod& pod) {
  return match && matches(*match, pod.shape->name_space, pod.shape->labels);
}

}  // namespace

PodAffinityState::Domains PodAffinityState::domains_of(const FilterInput& input,
                                                       const std::string& key) const {
  Domains domains;
  domains.topology = &input.cluster.topology(key);
  domains.pods.resize(domains.topology->values());
  return domains;
}

PodAffinityState::Domains& PodAffinityState::refusing(const FilterInput& input, const std::string& key) {
  const auto at = std::find(refused_keys_.begin(), refused_keys_.end(), key);
  if (at != refused_keys_.end()) return refused_by_[static_cast<std::size_t>(at - refused_keys_.begin())];
  refused_keys_.push_back(key);
  return refused_by_.emplace_back(domains_of(input, key));
}

PodAffinityState::PodAffinityState(const FilterInput& input) {
  const ClusterState& cluster = input.cluster;
  const PodSpec& spec = input.pod.spec();
  const std::string& home = input.pod.shape->name_space;
  const auto& present = cluster.columns().present;
  const auto add_counts = [&](Domains& domains, std::span<const std::uint32_t> pods) {
    std::int64_t total = 0;
    const auto& of_node = domains.topology->of_nodes();
    const std::size_t n = std::min({pods.size(), of_node.size(), present.size()});
    for (std::size_t slot = 0; slot < n; ++slot) {
      if (pods[slot] == 0 || !present[slot] || of_node[slot] == 0) continue;
      domains.pods[of_node[slot]] += pods[slot];
      total += pods[slot];
    }
    return total;
  };

  PodQuery wanted;
  bool impossible = false;  // a term that means no pod
  means_itself_ = !spec.pod_affinity.required.empty();
  for (const PodAffinityTerm& term : spec.pod_affinity.required) {
    Domains domains = domains_of(input, term.topology_key);
    domains.match = pods_meant_by(term, home, cluster.objects());
    means_itself_ = means_itself_ && means_all(domains.match, input.pod);
    if (domains.match) wanted.all.push_back(*domains.match);
    impossible = impossible || !domains.match;
    wanted_.push_back(std::move(domains));
  }
  if (!wanted_.empty() && !impossible)
    for (Domains& domains : wanted_) wanted_total_ += add_counts(domains, cluster.pods_meant(wanted));

  for (const PodAffinityTerm& term : spec.pod_anti_affinity.required) {
    Domains domains = domains_of(input, term.topology_key);
    domains.match = pods_meant_by(term, home, cluster.objects());
    if (domains.match) add_counts(domains, cluster.pods_meant({{*domains.match}, false}));
    unwanted_.push_back(std::move(domains));
  }

  std::int64_t refusals = 0;
  const Labels& namespace_labels = cluster.objects().namespace_labels(home);
  for (const RuleHolders& holders : cluster.rules().holders()) {
    if (holders.total == 0 || cluster.rules().with_required_anti() == 0) continue;
    for (const PodAffinityTerm& term : holders.example->spec.pod_anti_affinity.required)
      if (term_means(term, holders.example->name_space, input.pod, namespace_labels))
        refusals += add_counts(refusing(input, term.topology_key), holders.on_node);
  }
  skipped_ = wanted_.empty() && unwanted_.empty() && refusals == 0;
}

void PodAffinityState::add(const FilterInput& input, const Pod& other, NodeId node, int times) {
  if (skipped_) return;
  const auto add_to = [&](Domains& domains) {
    const std::uint32_t value = domains.topology->of(node.slot);
    if (value == 0) return false;
    domains.in(value) += times;
    return true;
  };
  if (!wanted_.empty() && std::all_of(wanted_.begin(), wanted_.end(),
                                      [&](const Domains& d) { return means_all(d.match, other); }))
    for (Domains& domains : wanted_)
      if (add_to(domains)) wanted_total_ += times;
  for (Domains& domains : unwanted_)
    if (means_all(domains.match, other)) add_to(domains);
  const auto& rules = other.spec().pod_anti_affinity.required;
  if (rules.empty()) return;
  const Labels& labels = input.cluster.objects().namespace_labels(input.pod.shape->name_space);
  for (const PodAffinityTerm& term : rules)
    if (term_means(term, other.shape->name_space, input.pod, labels))
      add_to(refusing(input, term.topology_key));
}

bool PodAffinityState::any_in(const std::vector<Domains>& all, std::uint32_t slot) {
  return std::any_of(all.begin(), all.end(), [&](const Domains& domains) {
    const std::uint32_t value = domains.topology->of(slot);
    return value != 0 && value < domains.pods.size() && domains.pods[value] > 0;
  });
}

bool PodAffinityState::satisfies_affinity(std::uint32_t slot) const {
  bool all_there = true;
  for (const Domains& domains : wanted_) {
    const std::uint32_t value = domains.topology->of(slot);
    if (value == 0) return false;  // every topology must exist, even for the first pod of its kind
    all_there = all_there && value < domains.pods.size() && domains.pods[value] > 0;
  }
  // The first of a series that wants to be with itself has to start somewhere.
  return all_there || (wanted_total_ == 0 && means_itself_);
}

Verdict PodAffinityState::judge(NodeId node) const {
  if (!wanted_.empty() && !satisfies_affinity(node.slot)) return {{kAffinity}, true};
  if (any_in(unwanted_, node.slot)) return {{kAntiAffinity}, false};
  if (any_in(refused_by_, node.slot)) return {{kOthers}, false};
  return {};
}

void PodAffinityState::clear_unfit(std::span<std::uint8_t> feasible) const {
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && ((!wanted_.empty() && !satisfies_affinity(slot)) || any_in(unwanted_, slot) ||
                           any_in(refused_by_, slot)))
      feasible[slot] = 0;
}

namespace {

bool matters(const FilterInput& input) {
  const PodSpec& spec = input.pod.spec();
  return input.cluster.rules().with_required_anti() > 0 ||
         (!input.pod.shape->plain &&
          (!spec.pod_affinity.required.empty() || !spec.pod_anti_affinity.required.empty()));
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  const PodAffinityState& state = prepared(input).affinity(input);
  if (!state.says_nothing()) state.clear_unfit(feasible);
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  return prepared(input).affinity(input).judge(node);
}

}  // namespace

const Filter kInterPodAffinity = {"InterPodAffinity", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
