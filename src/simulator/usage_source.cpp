#include "simulator/usage_source.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "simulator/machine_generator.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMaxPods = 500;  // room for all that their requests allow
constexpr Duration kGeneratedStep = Duration{24h} / static_cast<std::int64_t>(kGeneratedSlotsPerDay);
constexpr std::size_t kGenerated = 428;
constexpr std::int64_t kMostGenerated = 100'000;

MachineColumns read_columns(YamlReader& usage) {
  MachineColumns names;
  const auto rename = [&](std::string_view key, std::string& name) {
    name = usage.text("columns." + std::string(key)).or_else(name);
  };
  rename("vm", names.machine);
  rename("slot", names.slot);
  for (std::size_t d = 0; d < kDimensions; ++d) rename(kDimensionNames[d], names.use[d]);
  rename("cpu_capacity", names.cpu_capacity);
  rename("memory_capacity", names.memory_capacity);
  return names;
}

}  // namespace

std::shared_ptr<const UsageSource> UsageSource::read(YamlReader& usage) {
  std::shared_ptr<UsageSource> source(new UsageSource);
  source->trace_ = usage.text("trace").or_else("");
  source->step_ = usage.duration("step").at_least(1s).or_else(kGeneratedStep);
  source->length_ = usage.duration("length").between(source->step_, 24h * 366).or_else(7 * 24h);
  source->history_ = usage.duration("history").at_least(0us).or_else(24h);
  source->arrivals_ = usage.duration("arrivals").at_least(0us).or_else(24h);
  source->requests_ = usage
                          .choice<MachineRequests>("requests", {{"equal", MachineRequests::equal},
                                                                {"scaled", MachineRequests::scaled}})
                          .or_else(MachineRequests::equal);
  if (source->history_ % source->step_ != 0us)
    usage.fail("history",
               "expected whole slots of " + to_text(source->step_) + ", found " + to_text(source->history_));
  source->fleet_ = source->read_fleet(usage);
  if (!source->trace_.empty()) {
    if (!source->fleet_) return nullptr;
    source->length_ = source->history_ + source->step_ * static_cast<std::int64_t>(source->fleet_->slots);
  } else if (source->step_ != kGeneratedStep) {
    usage.fail("step", "expected " + to_text(kGeneratedStep) + ", which is what the generator makes, found " +
                           to_text(source->step_));
  }
  if (source->history_ + source->arrivals_ >= source->length_)
    usage.fail("arrivals", "history and arrivals leave nothing to measure of the " +
                               to_text(source->length_) + " there are");
  return source;
}

// Reads the trace, where there is one, and in any case how many machines are wanted.
std::shared_ptr<const Fleet> UsageSource::read_fleet(YamlReader& usage) {
  std::optional<std::string> machines_path = usage.text("machines").optional();
  std::int64_t count = usage.integer("count").between(1, kMostGenerated).or_else(0);
  if (machines_path && parse_integer(*machines_path)) {
    count = usage.integer("machines").between(1, kMostGenerated).or_else(1);
    machines_path.reset();
  }
  const MachineColumns columns = read_columns(usage);
  if (trace_.empty()) {
    if (machines_path) usage.fail("machines", "expected a number, or a `trace` beside it");
    count_ = count > 0 ? static_cast<std::size_t>(count) : kGenerated;
    return nullptr;
  }
  auto machines = read_machine_trace(trace_, machines_path, columns);
  if (!machines) {
    usage.fail("trace", machines.error().message);
    return nullptr;
  }
  count_ = count > 0 ? static_cast<std::size_t>(count) : machines->size();
  if (count_ > machines->size()) {
    usage.fail(machines_path ? "count" : "machines",
               "expected at most " + std::to_string(machines->size()) + ", which is what the trace has");
    return nullptr;
  }
  machines->resize(count_);
  return std::make_shared<const Fleet>(
      make_fleet(*std::move(machines), static_cast<std::size_t>(history_ / step_)));
}

std::string UsageSource::description() const {
  const std::string count = std::to_string(count_) + " machines";
  return trace_.empty() ? count + " made by the generator, others for each seed" : count + " of " + trace_;
}

void UsageSource::add_to(WorldPlan& plan, std::int64_t nodes, std::uint64_t seed) const {
  const Random root = Random(seed).fork("usage");
  std::shared_ptr<const Fleet> fleet = fleet_;
  if (!fleet)
    fleet = std::make_shared<const Fleet>(make_fleet(
        generate_machines(count_, static_cast<std::size_t>(length_ / step_), root.fork("machines")),
        static_cast<std::size_t>(history_ / step_)));
  const Usage capacity = node_capacity(*fleet, nodes);
  add_nodes(plan, capacity, nodes);
  add_pods(plan, *fleet, capacity, nodes, root.fork("arrivals"));
  plan.trace_step = step_;
  plan.end = std::min(plan.end, Time{} + step_ * static_cast<std::int64_t>(fleet->slots));
}

void UsageSource::add_nodes(WorldPlan& plan, const Usage& capacity, std::int64_t nodes) const {
  for (std::int64_t i = 1; i <= nodes; ++i) {
    Node& node = plan.nodes.emplace_back().node;
    node.name = "node-" + std::to_string(i);
    node.labels.set("kubernetes.io/hostname", node.name);
    node.capacity = capacity;
    node.allocatable.cpu = {std::llround(capacity[Dimension::cpu] * 1000)};
    node.allocatable.memory = {std::llround(capacity[Dimension::memory])};
    node.max_pods = kMaxPods;
  }
}

void UsageSource::add_pods(WorldPlan& plan, const Fleet& fleet, const Usage& capacity, std::int64_t nodes,
                           Random random) const {
  const std::vector<RequestShare> shares = request_shares(fleet, nodes, requests_);
  const auto first_workload = static_cast<std::uint32_t>(plan.workloads.size());
  for (std::size_t i = 0; i < fleet.members.size(); ++i) {
    const Fleet::Member& member = fleet.members[i];
    Container container;
    container.name = container.image = "machine";
    // Rounded down, so that as many fit as the shares say.
    container.requests.cpu = {static_cast<std::int64_t>(shares[i].cpu * capacity[Dimension::cpu] * 1000)};
    container.requests.memory = {static_cast<std::int64_t>(shares[i].memory * capacity[Dimension::memory])};
    // An equal request may be above a small machine's limit, which a real API server would refuse; it
    // stays, because a limit is how a policy learns the machine's size.
    container.limits.cpu = {std::llround(member.cpu * 1000)};
    container.limits.memory = {std::llround(member.memory)};
    PodSpec spec;
    spec.containers.push_back(std::move(container));
    const std::string name = "vm-" + member.id;
    const WorkloadId workload{first_workload + static_cast<std::uint32_t>(i)};
    const Time arrival = Time{} + from_seconds(random.uniform() * to_seconds(arrivals_));
    plan.workloads.push_back(name);
    plan.pods.push_back({arrival,
                         name,
                         std::make_shared<PodTemplate>("default", Labels{}, std::vector<OwnerReference>{},
                                                       workload, std::move(spec)),
                         member.behaviour,
                         {}});
  }
  std::sort(plan.pods.begin(), plan.pods.end(), [](const PodPlan& a, const PodPlan& b) {
    return a.arrival != b.arrival ? a.arrival < b.arrival : a.name < b.name;
  });

  const auto history_slots = static_cast<std::size_t>(history_ / step_);
  for (std::size_t slot = 0; slot < history_slots; ++slot)
    for (std::size_t i = 0; i < fleet.members.size(); ++i)
      plan.history.push_back({{first_workload + static_cast<std::uint32_t>(i)},
                              Time{} - step_ * static_cast<std::int64_t>(history_slots - slot),
                              fleet.members[i].history[slot]});
}

}  // namespace evenkeel::simulator
