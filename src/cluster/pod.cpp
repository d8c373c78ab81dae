#include "cluster/pod.h"

#include <algorithm>
#include <functional>

namespace evenkeel {
namespace {

constexpr MilliCpu kDefaultCpu{100};
constexpr Bytes kDefaultMemory{200LL << 20};

// Beyond what any node has; thousands of such pods still add up without an overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 50;
template <class Unit>
Quantity<Unit> no_more_than_can_be(Quantity<Unit> amount) {
  return std::min(amount, {kMost});
}

// Init containers run one after the other, each beside the sidecars that were started
// before it; afterwards all containers run beside all sidecars.
template <class Of>
Resources peak(const PodSpec& spec, Of of) {
  Resources sidecars, during_init;
  for (const Container& container : spec.init_containers) {
    if (container.restarts_always) {
      sidecars += of(container);
      during_init = max_of(std::move(during_init), sidecars);
    } else {
      during_init = max_of(std::move(during_init), sidecars + of(container));
    }
  }
  Resources running = sidecars;
  for (const Container& container : spec.containers) running += of(container);
  return max_of(std::move(running), during_init);
}

// A container that is being resized counts with the most of what it has, was granted and wants;
// one whose wish cannot be granted counts without the wish.
Resources counted_requests(const PodSpec& spec, const Container& c) {
  if (!c.actual) return c.requests;
  Resources counted = c.allocated ? max_of(*c.actual, *c.allocated) : *c.actual;
  return spec.resize_infeasible ? counted : max_of(std::move(counted), c.requests);
}

void replace_by_pod_level(const PodSpec& spec, Resources& total) {
  if (!spec.pod_level_requests) return;
  if (spec.pod_level_requests->cpu) total.cpu = *spec.pod_level_requests->cpu;
  if (spec.pod_level_requests->memory) total.memory = *spec.pod_level_requests->memory;
  for (const auto& [name, count] : spec.pod_level_requests->huge_pages) total.set_extended(name, count);
}

// Whether what a container counts with names the resource, be it with 0.
bool names_cpu(const PodSpec& spec, const Container& c) {
  const bool asks = c.zero_cpu || c.requests.cpu.count != 0;
  return c.actual ? c.status_names_cpu || (asks && !spec.resize_infeasible) : asks;
}
bool names_memory(const PodSpec& spec, const Container& c) {
  const bool asks = c.zero_memory || c.requests.memory.count != 0;
  return c.actual ? c.status_names_memory || (asks && !spec.resize_infeasible) : asks;
}

bool anyone(const PodSpec& spec, bool (*names)(const PodSpec&, const Container&)) {
  const auto does = [&](const Container& c) { return names(spec, c); };
  return std::any_of(spec.containers.begin(), spec.containers.end(), does) ||
         std::any_of(spec.init_containers.begin(), spec.init_containers.end(), does);
}

std::size_t mix(std::size_t seed, std::string_view text) {
  const std::size_t value = std::hash<std::string_view>{}(text);
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

std::size_t hash_of_labels(const std::string& name_space, const Labels& labels) {
  std::size_t hash = mix(0, name_space);
  for (const Label& label : labels.all()) hash = mix(mix(hash, label.key), label.value);
  return hash;
}

std::size_t mix(std::size_t hash, const PodAffinityTerm& term) {
  hash = mix(hash, term.topology_key);
  if (!term.selector) return hash;
  for (const SelectorRequirement& r : term.selector->requirements) {
    hash = mix(hash, r.key);
    for (const std::string& value : r.values) hash = mix(hash, value);
  }
  return hash;
}

std::size_t hash_of_rules(const std::string& name_space, const PodSpec& spec) {
  if (spec.pod_affinity.empty() && spec.pod_anti_affinity.empty()) return 0;
  std::size_t hash = mix(1, name_space);
  for (const PodAffinity* rules : {&spec.pod_affinity, &spec.pod_anti_affinity}) {
    hash = mix(hash, "|");
    for (const PodAffinityTerm& term : rules->required) hash = mix(hash, term);
    for (const PreferredPodTerm& preferred : rules->preferred) hash = mix(hash, preferred.term);
  }
  return hash == 0 ? 1 : hash;
}

NonZeroRequest with_defaults(const PodSpec& spec, bool default_cpu, bool default_memory) {
  Resources total = peak(spec, [&](const Container& c) {
    Resources asked = counted_requests(spec, c);
    if (default_cpu && !names_cpu(spec, c)) asked.cpu = kDefaultCpu;
    if (default_memory && !names_memory(spec, c)) asked.memory = kDefaultMemory;
    return asked;
  });
  replace_by_pod_level(spec, total);
  total += spec.overhead;
  return {no_more_than_can_be(total.cpu), no_more_than_can_be(total.memory)};
}

}  // namespace

Resources effective_request(const PodSpec& spec) {
  Resources total = peak(spec, [&](const Container& c) { return counted_requests(spec, c); });
  replace_by_pod_level(spec, total);
  total += spec.overhead;
  total.cpu = no_more_than_can_be(total.cpu);
  total.memory = no_more_than_can_be(total.memory);
  total.ephemeral_storage = no_more_than_can_be(total.ephemeral_storage);
  for (ExtendedResource& resource : total.extended) resource.count = std::min(resource.count, kMost);
  return total;
}

Resources effective_limit(const PodSpec& spec) {
  return peak(spec, [](const Container& c) { return c.limits; });
}

NonZeroRequest non_zero_request(const PodSpec& spec) {
  // A pod that asks as a whole is given defaults only for what nobody in it mentions.
  const bool whole = spec.pod_level_requests.has_value();
  const bool default_cpu = !whole || (!anyone(spec, names_cpu) && spec.overhead.cpu.count == 0);
  const bool default_memory = !whole || (!anyone(spec, names_memory) && spec.overhead.memory.count == 0);
  return with_defaults(spec, default_cpu, default_memory);
}

// NodeResourcesFit's score looks neither at what the pod asks for as a whole nor at resizes under way.
NonZeroRequest scored_request(const PodSpec& spec) {
  PodSpec containers_only;
  containers_only.containers = spec.containers;
  containers_only.init_containers = spec.init_containers;
  containers_only.overhead = spec.overhead;
  for (auto* list : {&containers_only.containers, &containers_only.init_containers})
    for (Container& container : *list) container.allocated = container.actual = std::nullopt;
  return with_defaults(containers_only, true, true);
}

std::vector<std::string_view> required_features(const PodSpec& spec) {
  std::vector<std::string_view> features;
  const auto restarts_all = [](const Container& container) { return container.restarts_all; };
  if (std::any_of(spec.containers.begin(), spec.containers.end(), restarts_all) ||
      std::any_of(spec.init_containers.begin(), spec.init_containers.end(), restarts_all))
    features.emplace_back("RestartAllContainersOnContainerExits");
  if (spec.host_network && spec.user_namespace) features.emplace_back("UserNamespacesHostNetworkSupport");
  return features;
}

QosClass qos_class(const PodSpec& spec) {
  // Pod-level resources stand in for the containers' (limits at that level are not modelled).
  if (spec.pod_level_requests) {
    const bool any = spec.pod_level_requests->cpu.value_or(MilliCpu{}).count > 0 ||
                     spec.pod_level_requests->memory.value_or(Bytes{}).count > 0;
    return any ? QosClass::burstable : QosClass::best_effort;
  }
  bool anything = false, all_equal = true;
  const auto look = [&](const Container& c) {
    anything = anything || c.requests.cpu.count > 0 || c.requests.memory.count > 0 ||
               c.limits.cpu.count > 0 || c.limits.memory.count > 0;
    // A limit without a request implies the same request.
    const MilliCpu cpu = c.requests.cpu.count > 0 ? c.requests.cpu : c.limits.cpu;
    const Bytes memory = c.requests.memory.count > 0 ? c.requests.memory : c.limits.memory;
    all_equal = all_equal && c.limits.cpu.count > 0 && c.limits.memory.count > 0 && cpu == c.limits.cpu &&
                memory == c.limits.memory;
  };
  for (const Container& container : spec.init_containers) look(container);
  for (const Container& container : spec.containers) look(container);
  if (!anything) return QosClass::best_effort;
  return all_equal ? QosClass::guaranteed : QosClass::burstable;
}

bool is_plain(const PodSpec& spec) {
  const auto has_ports = [](const Container& container) { return !container.ports.empty(); };
  return spec.node_name.empty() && spec.node_selector.all().empty() && spec.node_affinity == NodeAffinity{} &&
         spec.pod_affinity.empty() && spec.pod_anti_affinity.empty() && spec.spread.empty() &&
         spec.volumes.empty() && spec.resource_claims.empty() && required_features(spec).empty() &&
         std::none_of(spec.containers.begin(), spec.containers.end(), has_ports) &&
         std::none_of(spec.init_containers.begin(), spec.init_containers.end(), has_ports);
}

namespace {

std::string value_of(const Labels& labels, std::string_view key) {
  const std::string* value = labels.find(key);
  return value ? *value : std::string{};
}

}  // namespace

PodTemplate::PodTemplate(std::string name_space_, Labels labels_, std::vector<OwnerReference> owners_,
                         WorkloadId workload_, PodSpec spec_)
    : name_space(std::move(name_space_)),
      labels(std::move(labels_)),
      owners(std::move(owners_)),
      workload(workload_),
      spec(std::move(spec_)),
      request(effective_request(spec)),
      limit(effective_limit(spec)),
      non_zero(non_zero_request(spec)),
      scored(scored_request(spec)),
      qos(qos_class(spec)),
      plain(is_plain(spec)),
      kind_hash(hash_of_labels(name_space, labels)),
      app_group(value_of(labels, kAppGroupLabel)),
      app_workload(value_of(labels, kAppWorkloadLabel)),
      rule_hash(hash_of_rules(name_space, spec)) {}

}  // namespace evenkeel
