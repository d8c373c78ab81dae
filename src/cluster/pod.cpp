#include "cluster/pod.h"

#include <algorithm>

namespace evenkeel {
namespace {

constexpr MilliCpu kDefaultCpu{100};
constexpr Bytes kDefaultMemory{200LL << 20};

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

}  // namespace

Resources effective_request(const PodSpec& spec) {
  Resources total = peak(spec, [](const Container& c) { return c.requests; });
  if (spec.pod_level_requests) {
    if (spec.pod_level_requests->cpu.count > 0) total.cpu = spec.pod_level_requests->cpu;
    if (spec.pod_level_requests->memory.count > 0) total.memory = spec.pod_level_requests->memory;
  }
  return total + spec.overhead;
}

Resources effective_limit(const PodSpec& spec) {
  return peak(spec, [](const Container& c) { return c.limits; });
}

NonZeroRequest non_zero_request(const PodSpec& spec) {
  Resources total = peak(spec, [](const Container& c) {
    Resources asked = c.requests;
    if (asked.cpu.count == 0) asked.cpu = kDefaultCpu;
    if (asked.memory.count == 0) asked.memory = kDefaultMemory;
    return asked;
  });
  if (spec.pod_level_requests) {
    if (spec.pod_level_requests->cpu.count > 0) total.cpu = spec.pod_level_requests->cpu;
    if (spec.pod_level_requests->memory.count > 0) total.memory = spec.pod_level_requests->memory;
  }
  total += spec.overhead;
  return {total.cpu, total.memory};
}

QosClass qos_class(const PodSpec& spec) {
  // Pod-level resources stand in for the containers' (limits at that level are not modelled).
  if (spec.pod_level_requests) {
    const bool any = spec.pod_level_requests->cpu.count > 0 || spec.pod_level_requests->memory.count > 0;
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
         spec.volume_claims.empty() && spec.resource_claims.empty() &&
         std::none_of(spec.containers.begin(), spec.containers.end(), has_ports) &&
         std::none_of(spec.init_containers.begin(), spec.init_containers.end(), has_ports);
}

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
      qos(qos_class(spec)),
      plain(is_plain(spec)) {}

}  // namespace evenkeel
