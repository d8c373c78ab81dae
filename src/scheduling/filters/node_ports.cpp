#include <algorithm>

#include "scheduling/filters/filter.h"

namespace evenkeel::scheduling {
namespace {

template <class Visit>
bool any_host_port(const PodSpec& spec, Visit visit) {
  // Init containers are gone when the others start, sidecars are not.
  for (const auto* containers : {&spec.init_containers, &spec.containers})
    for (const Container& container : *containers) {
      if (containers == &spec.init_containers && !container.restarts_always) continue;
      for (const ContainerPort& port : container.ports)
        if (port.host_port > 0 && visit(port)) return true;
    }
  return false;
}

bool clash(const ContainerPort& a, const ContainerPort& b) {
  const auto everywhere = [](const std::string& ip) { return ip.empty() || ip == "0.0.0.0"; };
  return a.host_port == b.host_port && a.protocol == b.protocol &&
         (everywhere(a.host_ip) || everywhere(b.host_ip) || a.host_ip == b.host_ip);
}

bool matters(const FilterInput& input) {
  return !input.pod.shape->plain &&
         any_host_port(input.pod.spec(), [](const ContainerPort&) { return true; });
}

bool taken(const FilterInput& input, NodeId node) {
  const auto pods = input.cluster.pods_on(node);
  return std::any_of(pods.begin(), pods.end(), [&](PodId id) {
    const PodRecord& record = *input.cluster.pod(id);
    return !record.hidden && any_host_port(record.pod.spec(), [&](const ContainerPort& theirs) {
      return any_host_port(input.pod.spec(), [&](const ContainerPort& ours) { return clash(ours, theirs); });
    });
  });
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  for (std::uint32_t slot = 0; slot < feasible.size(); ++slot)
    if (feasible[slot] && taken(input, {slot})) feasible[slot] = 0;
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  if (!taken(input, node)) return {};
  return {{"node(s) didn't have free ports for the requested pod ports"}, false};
}

}  // namespace

const Filter kNodePorts = {"NodePorts", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
