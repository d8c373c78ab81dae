// NodeResourcesFit: pod count, cpu, memory, storage, extended resources.
#include <algorithm>

#include "scheduling/filters/filter.h"
#include "scheduling/node_kernels.h"

namespace evenkeel::scheduling {
namespace {

bool matters(const FilterInput& input) { return !input.options.by_use.on; }

bool beyond_columns(const Resources& r) { return r.ephemeral_storage.count != 0 || !r.extended.empty(); }

bool is_ignored(const Profile& profile, const std::string& name) {
  if (profile.ignored_resources.empty() && profile.ignored_resource_groups.empty()) return false;
  const std::size_t slash = name.find('/');
  const bool native = slash == std::string::npos || name.find("kubernetes.io/") != std::string::npos ||
                      name.starts_with("requests.");
  if (native) return false;
  const auto lists = [](const std::vector<std::string>& names, std::string_view wanted) {
    return std::find(names.begin(), names.end(), wanted) != names.end();
  };
  return lists(profile.ignored_resources, name) ||
         lists(profile.ignored_resource_groups, std::string_view(name).substr(0, slash));
}

Verdict judge_node(const FilterInput& input, NodeId node) {
  const NodeColumns& c = input.cluster.columns();
  const Resources& asked = input.pod.shape->request;
  const std::size_t i = node.slot;
  Verdict verdict;
  // More than the node has in all: nobody's end would help.
  const auto object = [&](std::string reason, bool hopeless) {
    verdict.reasons.push_back(std::move(reason));
    verdict.unresolvable = verdict.unresolvable || hopeless;
  };
  if (c.free_pods[i] < 1) object("Too many pods", false);
  const auto cpu = static_cast<double>(asked.cpu.count), memory = static_cast<double>(asked.memory.count);
  if (asked.cpu.count > 0 && cpu > c.free_cpu[i]) object("Insufficient cpu", cpu > c.allocatable_cpu[i]);
  if (asked.memory.count > 0 && memory > c.free_memory[i])
    object("Insufficient memory", memory > c.allocatable_memory[i]);
  if (!beyond_columns(asked)) return verdict;
  const Resources& used = input.cluster.requested(node);
  const Resources& has = input.cluster.node(node).allocatable;
  if (asked.ephemeral_storage.count > 0 &&
      used.ephemeral_storage + asked.ephemeral_storage > has.ephemeral_storage)
    object("Insufficient ephemeral-storage", asked.ephemeral_storage > has.ephemeral_storage);
  for (const auto& [name, count] : asked.extended)
    if (used.extended_count(name) + count > has.extended_count(name) &&
        !is_ignored(input.options.profile, name))
      object("Insufficient " + name, count > has.extended_count(name));
  return verdict;
}

void apply(const FilterInput& input, std::span<std::uint8_t> feasible) {
  const NodeColumns& c = input.cluster.columns();
  const Resources& asked = input.pod.shape->request;
  const std::size_t n = feasible.size();
  // What is not asked for is not checked: a pod that wants nothing fits an over-full node.
  constexpr double kAnyway = -1e300;
  clear_unfit({c.free_cpu.data(), c.free_memory.data(), c.free_pods.data()},
              asked.cpu.count > 0 ? static_cast<double>(asked.cpu.count) : kAnyway,
              asked.memory.count > 0 ? static_cast<double>(asked.memory.count) : kAnyway, n, feasible.data());
  if (!beyond_columns(asked)) return;
  for (std::uint32_t slot = 0; slot < n; ++slot)
    if (feasible[slot] && !judge_node(input, {slot}).passes()) feasible[slot] = 0;
}

}  // namespace

const Filter kResourceFit = {"NodeResourcesFit", matters, apply, judge_node};

}  // namespace evenkeel::scheduling
