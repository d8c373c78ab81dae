#include <algorithm>
#include <map>

#include "kubernetes/read_common.h"
#include "kubernetes/read_pod_parts.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::int32_t kHighestPort = 65535;

ContainerPort read_port(const JsonField& field, bool host_network) {
  ContainerPort port;
  port.host_port = static_cast<std::int32_t>(field.at("hostPort").integer(0, kHighestPort));
  const auto inside = static_cast<std::int32_t>(field.at("containerPort").integer(0, kHighestPort));
  if (port.host_port == 0 && host_network) port.host_port = inside;
  port.protocol = field.text_at("protocol");
  if (port.protocol.empty()) port.protocol = "TCP";
  port.host_ip = field.text_at("hostIP");
  return port;
}

// What the container's status says of its resources, while or after it is resized.
using Statuses = std::map<std::string, JsonField, std::less<>>;  // by the container's name
void read_container_status(const Statuses& statuses, Container& container) {
  const auto at = statuses.find(container.name);
  if (at == statuses.end() || !at->second.has("resources")) return;
  const JsonField actual = at->second.at("resources").at("requests"),
                  allocated = at->second.at("allocatedResources");
  container.actual = read_resources(actual);
  container.allocated = read_resources(allocated);
  container.status_names_cpu = actual.has("cpu") || allocated.has("cpu");
  container.status_names_memory = actual.has("memory") || allocated.has("memory");
}

Container read_container(const JsonField& field, bool host_network) {
  Container container;
  container.name = field.text_at("name");
  container.image = field.text_at("image");
  const JsonField requests = field.at("resources").at("requests"),
                  limits = field.at("resources").at("limits");
  container.limits = read_resources(limits);
  container.requests = read_resources(requests);
  for (const auto& [name, amount] : few_entries(limits))
    if (!requests.has(name)) add_resource(container.requests, name, amount);
  container.zero_cpu = (requests.has("cpu") || limits.has("cpu")) && container.requests.cpu.count == 0;
  container.zero_memory =
      (requests.has("memory") || limits.has("memory")) && container.requests.memory.count == 0;
  for (const JsonField& port : few_items(field.at("ports")))
    container.ports.push_back(read_port(port, host_network));
  container.restarts_always = field.text_at("restartPolicy") == "Always";
  for (const JsonField& rule : field.at("restartPolicyRules").items())
    container.restarts_all |= rule.text_at("action") == "RestartAllContainers";
  return container;
}

// Whether any container says something about the resource, be it 0.
bool any_names(const PodSpec& spec, bool Container::* zero, auto amount) {
  const auto names = [&](const Container& container) {
    return container.*zero || amount(container.requests) != 0;
  };
  return std::any_of(spec.containers.begin(), spec.containers.end(), names) ||
         std::any_of(spec.init_containers.begin(), spec.init_containers.end(), names);
}

// What the containers request together, without overhead and whatever the status says.
Resources summed_requests(const PodSpec& spec) {
  PodSpec containers_only;
  containers_only.containers = spec.containers;
  containers_only.init_containers = spec.init_containers;
  for (auto* list : {&containers_only.containers, &containers_only.init_containers})
    for (Container& container : *list) container.allocated = container.actual = std::nullopt;
  return effective_request(containers_only);
}

// While the pod as a whole is being resized it counts with the most of what it has, was granted and wants.
void count_resize(const JsonField& status, bool infeasible, PodLevelRequests& level) {
  const Resources held = max_of(read_resources(status.at("resources").at("requests")),
                                read_resources(status.at("allocatedResources")));
  const auto count = [&](auto& wanted, auto has) { wanted = infeasible ? has : std::max(wanted, has); };
  if (level.cpu) count(*level.cpu, held.cpu);
  if (level.memory) count(*level.memory, held.memory);
  for (ExtendedResource& pages : level.huge_pages) count(pages.count, held.extended_count(pages.name));
}

}  // namespace

void read_containers(const JsonField& spec, const JsonField& status, PodSpec& into) {
  Statuses statuses;
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses"})
    for (const JsonField& entry : status.at(list).items())
      statuses.insert_or_assign(entry.text_at("name"), entry);
  for (const JsonField& field : few_items(spec.at("initContainers"))) {
    Container& container = into.init_containers.emplace_back(read_container(field, into.host_network));
    if (container.restarts_always) read_container_status(statuses, container);  // others run too briefly
  }
  for (const JsonField& field : few_items(spec.at("containers"))) {
    Container& container = into.containers.emplace_back(read_container(field, into.host_network));
    container.restarts_always = false;  // a sidecar is an init container
    read_container_status(statuses, container);
  }
}

void read_pod_level_requests(const JsonField& resources, const JsonField& status, PodSpec& into) {
  const JsonField requests = resources.at("requests"), limits = resources.at("limits");
  PodLevelRequests level;
  const auto names = [](const JsonField& map, std::string_view name) { return map.has(name); };
  const Resources asked = read_resources(requests), most = read_resources(limits);
  if (names(requests, "cpu")) level.cpu = asked.cpu;
  if (names(requests, "memory")) level.memory = asked.memory;
  // Limits of huge pages at the containers are the pod's too, if it has anything of its own.
  const bool has_own = !requests.entries().empty() || !limits.entries().empty();
  const Resources of_containers = has_own ? effective_limit(into) : Resources{};
  for (const Resources* from : {&asked, &most, &of_containers})
    for (const auto& [name, count] : from->extended) {
      const bool known =
          std::any_of(level.huge_pages.begin(), level.huge_pages.end(),
                      [&wanted = name](const ExtendedResource& r) { return r.name == wanted; });
      if (name.starts_with("hugepages-") && !known) level.huge_pages.push_back({name, count});
    }
  const bool has_pages = std::any_of(
      of_containers.extended.begin(), of_containers.extended.end(),
      [&](const ExtendedResource& r) { return r.name.starts_with("hugepages-") && !requests.has(r.name); });
  if (!limits.entries().empty() || has_pages) {
    const Resources sum = summed_requests(into);
    const auto cpu = [](const Resources& r) { return r.cpu.count; };
    const auto memory = [](const Resources& r) { return r.memory.count; };
    if (!level.cpu && any_names(into, &Container::zero_cpu, cpu)) level.cpu = sum.cpu;
    if (!level.memory && any_names(into, &Container::zero_memory, memory)) level.memory = sum.memory;
    if (!level.cpu && names(limits, "cpu")) level.cpu = most.cpu;
    if (!level.memory && names(limits, "memory")) level.memory = most.memory;
  }
  if (status.has("resources")) count_resize(status, into.resize_infeasible, level);
  if (level.cpu || level.memory || !level.huge_pages.empty()) into.pod_level_requests = std::move(level);
}

}  // namespace evenkeel::kubernetes
