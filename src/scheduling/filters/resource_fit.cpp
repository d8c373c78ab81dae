// NodeResourcesFit: pod count, cpu, memory, storage, extended resources.
#include "scheduling/filters/filter.h"
#include "scheduling/node_kernels.h"

namespace evenkeel::scheduling {
namespace {

bool matters(const FilterInput& input) { return !input.options.by_use.on; }

bool beyond_columns(const Resources& r) { return r.ephemeral_storage.count != 0 || !r.extended.empty(); }

std::vector<std::string> objections_of(const FilterInput& input, NodeId node) {
  const NodeColumns& c = input.cluster.columns();
  const Resources& asked = input.pod.shape->request;
  const std::size_t i = node.slot;
  std::vector<std::string> found;
  if (c.free_pods[i] < 1) found.emplace_back("Too many pods");
  const auto cpu = static_cast<double>(asked.cpu.count), memory = static_cast<double>(asked.memory.count);
  if (asked.cpu.count > 0 && cpu > c.free_cpu[i]) found.emplace_back("Insufficient cpu");
  if (asked.memory.count > 0 && memory > c.free_memory[i]) found.emplace_back("Insufficient memory");
  if (!beyond_columns(asked)) return found;
  const Resources& used = input.cluster.requested(node);
  const Resources& has = input.cluster.node(node).allocatable;
  if (asked.ephemeral_storage.count > 0 &&
      used.ephemeral_storage + asked.ephemeral_storage > has.ephemeral_storage)
    found.emplace_back("Insufficient ephemeral-storage");
  for (const auto& [name, count] : asked.extended)
    if (used.extended_count(name) + count > has.extended_count(name)) found.push_back("Insufficient " + name);
  return found;
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
    if (feasible[slot] && !objections_of(input, {slot}).empty()) feasible[slot] = 0;
}

}  // namespace

const Filter kResourceFit = {"NodeResourcesFit", matters, apply, objections_of};

}  // namespace evenkeel::scheduling
