#include "simulator/simulated_world.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/match.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;
constexpr double kDone = 1e-6;  // seconds of work too small to tell from none
constexpr Duration kPatience =
    20min;  // with nothing running and nothing coming, what waits will wait for ever
constexpr std::uint32_t kMostKills = 30;  // of one pod for memory, before its controller gives up
constexpr std::size_t kHistoryBatch = 4096;

constexpr auto kMemory = static_cast<std::size_t>(Dimension::memory);

}  // namespace

SimulatedWorld::SimulatedWorld(const WorldPlan& plan, Random random, bool keep_series)
    : plan_(plan), random_(random.fork("simulated world")), measures_(plan.nodes.size(), keep_series) {
  Time measure_to = plan.measure_to;
  if (plan.measure_to_last_arrival && !plan.pods.empty()) measure_to = plan.pods.back().arrival;
  measures_.set_window(plan.measure_from, std::min(measure_to, plan.end));
  for (const ClusterObject& object : plan.objects) gathered_.emplace_back(ObjectSet{object});
  nodes_.resize(plan.nodes.size());
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i)
    if (plan.nodes[i].joins <= now_) join(i);
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i)
    if (plan.nodes[i].joins > now_)
      schedule(plan.nodes[i].joins, Kind::fault, static_cast<std::uint32_t>(plan.faults.size()) + i, 0);
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) schedule(plan.faults[i].at, Kind::fault, i, 0);
  if (plan.metrics.every > 0us) next_metrics_ = now_;
  if (plan.trace_step > 0us) next_trace_ = now_ + plan.trace_step;
}

void SimulatedWorld::schedule(Time at, Kind kind, std::uint32_t subject, std::uint32_t version) {
  due_.push({at, sequence_++, kind, subject, version});
}

const PodPlan* SimulatedWorld::plan_of(PodId pod) const {
  if (pod.slot >= pods_.size() || pods_[pod.slot].id != pod) return nullptr;
  return pods_[pod.slot].plan;
}

std::vector<std::pair<const PodPlan*, NodeId>> SimulatedWorld::placed() const {
  std::vector<std::pair<const PodPlan*, NodeId>> all;
  for (const PodRun& run : pods_)
    if (run.stage == Stage::starting || run.stage == Stage::running)
      all.emplace_back(run.plan, NodeId{run.node});
  return all;
}

bool SimulatedWorld::only_waiting() const {
  return next_arrival_ >= plan_.pods.size() && running_ == 0 && in_flight_ == 0;
}

bool SimulatedWorld::over() const {
  if (now_ >= plan_.end) return true;
  return only_waiting() && (waiting_ == 0 || now_ - last_progress_ > kPatience);
}

Time SimulatedWorld::next_moment() const {
  Time at = std::min({next_metrics_, next_trace_, plan_.end});
  if (next_arrival_ < plan_.pods.size()) at = std::min(at, plan_.pods[next_arrival_].arrival);
  if (!due_.empty()) at = std::min(at, due_.top().at);
  return at;
}

std::optional<std::span<const ClusterEvent>> SimulatedWorld::wait_for_events(Time deadline) {
  if (next_history_ < plan_.history.size()) {
    // What was known beforehand comes first, in pieces.
    const std::size_t to = std::min(next_history_ + kHistoryBatch, plan_.history.size());
    for (; next_history_ < to; ++next_history_) gathered_.emplace_back(plan_.history[next_history_]);
  }
  while (gathered_.empty()) {
    if (over()) {
      measures_.advance(now_);
      return std::nullopt;
    }
    Time at = next_moment();
    // Nothing is left that could bring what waits any further: give up in good time.
    if (only_waiting()) at = std::min(at, last_progress_ + kPatience + 1us);
    if (at > deadline) {
      now_ = std::max(now_, deadline);
      break;
    }
    now_ = std::max(now_, at);
    turn();
  }
  std::swap(gathered_, lent_);
  gathered_.clear();
  return lent_;
}

void SimulatedWorld::turn() {
  measures_.advance(now_);
  if (now_ >= plan_.end) return;
  while (!due_.empty() && due_.top().at <= now_) {
    const Due due = due_.top();
    due_.pop();
    happen(due);
  }
  if (next_trace_ <= now_) trace_step();
  for (; next_arrival_ < plan_.pods.size() && plan_.pods[next_arrival_].arrival <= now_; ++next_arrival_)
    arrive(plan_.pods[next_arrival_], 0);
  if (next_metrics_ <= now_) sample_metrics();
}

void SimulatedWorld::happen(const Due& due) {
  switch (due.kind) {
    case Kind::node_due:
      if (nodes_[due.subject].version == due.version) node_due(due.subject);
      return;
    case Kind::bind_done:
      if (pods_[due.subject].version == due.version) bound(due.subject);
      return;
    case Kind::pod_starts:
      if (pods_[due.subject].version == due.version) start(due.subject);
      return;
    case Kind::report:
      return deliver_reports();
    case Kind::fault:
      if (due.subject >= plan_.faults.size())
        return join(due.subject - static_cast<std::uint32_t>(plan_.faults.size()));
      return node_fault(plan_.faults[due.subject]);
  }
}

// --- pods -------------------------------------------------------------------------------

void SimulatedWorld::arrive(const PodPlan& plan, std::uint32_t incarnation) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(pods_.size()));
    pods_.emplace_back().id.slot = free_slots_.back();
  }
  PodRun& run = pods_[free_slots_.back()];
  free_slots_.pop_back();
  ++run.id.generation;
  run.plan = &plan;
  run.stage = Stage::waiting;
  run.incarnation = incarnation;
  run.kills = 0;
  ++run.version;
  ++waiting_;
  last_progress_ = now_;
  gathered_.emplace_back(PodAdded{{run.id, plan.name, plan.shape, now_, PodPhase::pending}});
}

void SimulatedWorld::execute(const Action& action) {
  std::visit(Match{
                 [&](const BindPod& bind) {
                   PodRun& run = pods_[bind.pod.slot];
                   if (run.id != bind.pod || run.stage != Stage::waiting) return;  // gone meanwhile
                   --waiting_;
                   ++in_flight_;
                   run.stage = Stage::binding;
                   run.node = bind.node.slot;
                   Duration delay = plan_.binding.delay;
                   if (plan_.binding.jitter > 0us)
                     delay += from_seconds(random_.uniform() * to_seconds(plan_.binding.jitter));
                   if (delay > 0us) {
                     schedule(now_ + delay, Kind::bind_done, bind.pod.slot, run.version);
                   } else {
                     bound(bind.pod.slot);
                   }
                 },
                 [&](const MarkUnschedulable&) { ++counts_.marked_unschedulable; },
                 [&](const EvictPod& evict) {
                   PodRun& run = pods_[evict.pod.slot];
                   if (evict.proposed || run.id != evict.pod || run.stage != Stage::running) return;
                   ++counts_.moves;
                   measures_.advance(now_);
                   come_again(evict.pod.slot, PodEnd::evicted);
                 },
                 [&](const PreemptPods& preemption) {
                   for (const PodId victim : preemption.victims) {
                     PodRun& run = pods_[victim.slot];
                     if (run.id != victim || run.stage != Stage::running) continue;
                     measures_.advance(now_);
                     come_again(victim.slot, PodEnd::evicted);
                   }
                 },
             },
             action);
}

void SimulatedWorld::bound(std::uint32_t slot) {
  PodRun& run = pods_[slot];
  NodeRun& node = nodes_[run.node];
  --in_flight_;
  const bool lost = !node.up;
  if (lost || (plan_.binding.fail > 0 && random_.chance(plan_.binding.fail))) {
    ++counts_.bind_failures;
    run.stage = Stage::waiting;
    ++waiting_;
    gathered_.emplace_back(BindFailed{run.id, lost ? "node is gone" : "conflict"});
    return;
  }
  ++counts_.placed;
  ++running_;
  last_progress_ = now_;
  run.stage = Stage::starting;
  run.bound = now_;
  run.position = static_cast<std::uint32_t>(node.pods.size());
  node.pods.push_back(slot);
  node.claims.emplace_back();
  node.progress.emplace_back();
  gathered_.emplace_back(PodBound{run.id, {run.node}});

  Duration delay = plan_.kubelet.start_delay;
  if (plan_.kubelet.pull_bytes_per_s > 0 && run.plan->image_size.count > 0) {
    const std::string& image = run.plan->shape->spec.containers.front().image;
    if (std::find(node.images.begin(), node.images.end(), image) == node.images.end()) {
      node.images.push_back(image);
      delay += from_seconds(static_cast<double>(run.plan->image_size.count) / plan_.kubelet.pull_bytes_per_s);
    }
  }
  if (delay > 0us) {
    // It holds its memory from now on, and nothing else.
    settle(run.node);
    node.claims[run.position].demand[Dimension::memory] =
        run.plan->behaviour->phases.empty() ? 0
                                            : run.plan->behaviour->phases.front().demand[Dimension::memory];
    rearrange(run.node);
    schedule(now_ + delay, Kind::pod_starts, slot, run.version);
  } else {
    start(slot);
  }
}

void SimulatedWorld::enter_phase(const PodRun& run) {
  NodeRun& node = nodes_[run.node];
  const Behaviour& behaviour = *run.plan->behaviour;
  if (!behaviour.series.empty()) {
    const auto step = static_cast<std::size_t>(now_.time_since_epoch() / plan_.trace_step);
    node.claims[run.position].demand = behaviour.series[std::min(step, behaviour.series.size() - 1)];
    return;
  }
  node.claims[run.position].demand = behaviour.phases[run.phase].demand;
  node.progress[run.position].left_s = behaviour.phases[run.phase].seconds;
}

void SimulatedWorld::start(std::uint32_t slot) {
  PodRun& run = pods_[slot];
  settle(run.node);
  run.stage = Stage::running;
  run.phase = 0;
  nodes_[run.node].progress[run.position] = {0, true, run.plan->behaviour->kind};
  enter_phase(run);
  gathered_.emplace_back(PodStarted{run.id});
  rearrange(run.node);
}

void SimulatedWorld::leave_node(PodRun& run) {
  NodeRun& node = nodes_[run.node];
  const std::uint32_t last = node.pods.back();
  node.pods[run.position] = last;
  node.claims[run.position] = node.claims.back();
  node.progress[run.position] = node.progress.back();
  pods_[last].position = run.position;
  node.pods.pop_back();
  node.claims.pop_back();
  node.progress.pop_back();
}

void SimulatedWorld::finish(std::uint32_t slot) {
  PodRun& run = pods_[slot];
  leave_node(run);
  --running_;
  ++counts_.finished;
  last_progress_ = now_;
  measures_.pod_finished({to_seconds(run.plan->arrival.time_since_epoch()),
                          to_seconds(now_.time_since_epoch()), run.plan->behaviour->ideal_seconds(),
                          to_seconds(run.bound.time_since_epoch()), run.plan->shape->workload});
  gathered_.emplace_back(PodGone{run.id, PodEnd::completed});
  run.stage = Stage::free;
  ++run.version;
  free_slots_.push_back(slot);
}

void SimulatedWorld::come_again(std::uint32_t slot, PodEnd how) {
  PodRun& run = pods_[slot];
  const PodPlan& plan = *run.plan;
  const std::uint32_t node = run.node, incarnation = run.incarnation + 1;
  settle(node);
  leave_node(run);
  --running_;
  gathered_.emplace_back(PodGone{run.id, how});
  run.stage = Stage::free;
  ++run.version;
  free_slots_.push_back(slot);
  rearrange(node);
  arrive(plan, incarnation);
}

// The kernel's choice, near enough: who asked for nothing goes first, then whoever is
// furthest above what it asked for, then the youngest.
void SimulatedWorld::kill_for_memory(std::uint32_t index) {
  NodeRun& node = nodes_[index];
  const double capacity = plan_.nodes[index].node.capacity[Dimension::memory];
  while (node.used[Dimension::memory] > capacity) {
    std::size_t victim = node.pods.size();
    double worst = 0;
    for (std::size_t i = 0; i < node.pods.size(); ++i) {
      const PodRun& run = pods_[node.pods[i]];
      const double uses = node.claims[i].demand[Dimension::memory];
      if (!node.progress[i].running || uses <= 0) continue;
      const PodTemplate& shape = *run.plan->shape;
      const double excess = shape.qos == QosClass::best_effort
                                ? 1e18 + uses
                                : uses - static_cast<double>(shape.request.memory.count) + 1;
      if (victim != node.pods.size() && excess < worst) continue;
      victim = i;
      worst = excess;
    }
    if (victim == node.pods.size()) return;  // the base load alone is too much: nobody to blame
    PodRun& run = pods_[node.pods[victim]];
    ++counts_.oom_kills;
    ++run.kills;
    ++run.version;
    run.stage = Stage::starting;
    node.used -= Usage{{0, node.claims[victim].demand[Dimension::memory]}};
    if (run.kills > kMostKills) {
      give_up(run);
      continue;
    }
    node.claims[victim] = {};
    node.progress[victim].running = false;
    Duration wait = plan_.kubelet.oom_back_off;
    for (std::uint32_t i = 1; i < run.kills && wait < plan_.kubelet.longest_oom_back_off; ++i) wait *= 2;
    schedule(now_ + std::min(wait, plan_.kubelet.longest_oom_back_off), Kind::pod_starts, run.id.slot,
             run.version);
  }
}

// It never fitted and never will: its controller stops trying, as a Job's back-off limit says.
void SimulatedWorld::give_up(PodRun& run) {
  leave_node(run);
  --running_;
  ++counts_.given_up;
  gathered_.emplace_back(PodGone{run.id, PodEnd::failed});
  run.stage = Stage::free;
  free_slots_.push_back(run.id.slot);
}

// --- nodes ------------------------------------------------------------------------------

void SimulatedWorld::settle(std::uint32_t index) {
  NodeRun& node = nodes_[index];
  const double dt = to_seconds(now_ - node.settled);
  node.settled = now_;
  if (dt <= 0) return;
  for (std::size_t i = 0; i < node.pods.size(); ++i) {
    Progress& progress = node.progress[i];
    if (!progress.running) continue;
    progress.left_s -= progress.kind == Behaviour::Kind::fixed_work ? dt * node.claims[i].speed : dt;
  }
}

void SimulatedWorld::rearrange(std::uint32_t index) {
  NodeRun& node = nodes_[index];
  ++node.version;
  const NodePlan& plan = plan_.nodes[index];
  node.used = divide(plan.node.capacity, plan.base, node.claims);
  if (!plan_.kubelet.swap && node.used[Dimension::memory] > plan.node.capacity[Dimension::memory]) {
    kill_for_memory(index);
    node.used = divide(plan.node.capacity, plan.base, node.claims);
  }

  std::array<double, kDimensions> utilization{};
  double wanted = 0, given = 0, soonest = 1e300;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double capacity = plan.node.capacity.of[d];
    utilization[d] = capacity > 0 ? std::min(1.0, node.used.of[d] / capacity) : 0;
  }
  for (std::size_t i = 0; i < node.pods.size(); ++i) {
    const Progress& progress = node.progress[i];
    if (!progress.running) continue;
    const double cpu = node.claims[i].demand[Dimension::cpu];
    wanted += cpu;
    given += cpu * node.claims[i].speed;
    if (progress.kind == Behaviour::Kind::endless) continue;
    const double speed = progress.kind == Behaviour::Kind::fixed_work ? node.claims[i].speed : 1.0;
    const double left = std::max(0.0, progress.left_s);
    if (speed > 0) soonest = std::min(soonest, speed == 1 ? left : left / speed);
  }
  measures_.set_node(index, utilization, wanted, given);
  // Rounded up: waking a microsecond late finds the work done, early would find it not.
  if (soonest < 1e15)
    schedule(now_ + Duration(static_cast<std::int64_t>(std::ceil(soonest * 1e6))), Kind::node_due, index,
             node.version);
}

void SimulatedWorld::node_due(std::uint32_t index) {
  settle(index);
  NodeRun& node = nodes_[index];
  for (std::size_t i = 0; i < node.pods.size();) {
    const Progress& progress = node.progress[i];
    if (!progress.running || progress.kind == Behaviour::Kind::endless || progress.left_s > kDone) {
      ++i;
      continue;
    }
    const std::uint32_t slot = node.pods[i];
    PodRun& run = pods_[slot];
    if (run.phase + 1 < run.plan->behaviour->phases.size()) {
      ++run.phase;
      enter_phase(run);
      ++i;
    } else {
      finish(slot);  // the last pod of the list takes its place
    }
  }
  rearrange(index);
}

void SimulatedWorld::trace_step() {
  next_trace_ += plan_.trace_step;
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) {
    NodeRun& node = nodes_[index];
    if (!node.up) continue;
    settle(index);
    for (std::size_t i = 0; i < node.pods.size(); ++i) {
      const PodRun& run = pods_[node.pods[i]];
      if (node.progress[i].running && !run.plan->behaviour->series.empty()) enter_phase(run);
    }
    rearrange(index);
  }
}

void SimulatedWorld::join(std::uint32_t index) {
  NodeRun& node = nodes_[index];
  if (node.up) return;
  node.up = true;
  node.settled = now_;
  node.images.clear();
  measures_.advance(now_);
  measures_.set_present(index, true);
  Node shown = plan_.nodes[index].node;
  shown.id = {index};
  gathered_.emplace_back(NodeAdded{std::move(shown)});
  rearrange(index);
}

void SimulatedWorld::node_fault(const NodeFault& fault) {
  const std::uint32_t index = fault.node.slot;
  if (fault.kind == NodeFault::Kind::rejoins) return join(index);
  NodeRun& node = nodes_[index];
  if (!node.up) return;
  ++counts_.node_losses;
  gathered_.emplace_back(NodeRemoved{fault.node});
  while (!node.pods.empty())
    come_again(node.pods.back(), fault.kind == NodeFault::Kind::leaves ? PodEnd::evicted : PodEnd::failed);
  node.up = false;
  ++node.version;
  measures_.set_present(index, false);
}

// --- metrics ----------------------------------------------------------------------------

Usage SimulatedWorld::noisy(const Usage& usage) {
  if (plan_.metrics.noise <= 0) return usage;
  Usage result = usage;
  for (double& amount : result.of)
    amount = std::max(0.0, amount * (1 + plan_.metrics.noise * random_.normal()));
  return result;
}

void SimulatedWorld::sample_metrics() {
  next_metrics_ += plan_.metrics.every;
  std::size_t running = 0;
  for (const NodeRun& node : nodes_) running += node.pods.size();
  samples_.clear();
  samples_.reserve(running);  // spans into it are lent with the events
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) {
    const NodeRun& node = nodes_[index];
    if (!node.up || (plan_.metrics.missing > 0 && random_.chance(plan_.metrics.missing))) continue;
    const std::size_t first = samples_.size();
    Usage total = plan_.nodes[index].base;
    for (std::size_t i = 0; i < node.pods.size(); ++i) {
      if (!node.progress[i].running) continue;
      Usage given = node.claims[i].demand * node.claims[i].speed;
      given.of[kMemory] = node.claims[i].demand.of[kMemory];
      samples_.push_back({pods_[node.pods[i]].id, noisy(given)});
      total += samples_.back().usage;
    }
    const std::span<const PodUsage> pods(samples_.data() + first, samples_.size() - first);
    if (plan_.metrics.delay <= 0us) {
      gathered_.emplace_back(UsageReported{{index}, now_, total, pods});
      continue;
    }
    reports_.push_back({now_ + plan_.metrics.delay, {{index}, now_, total, {}}, {pods.begin(), pods.end()}});
  }
  if (plan_.metrics.delay > 0us) schedule(now_ + plan_.metrics.delay, Kind::report, 0, 0);
}

void SimulatedWorld::deliver_reports() {
  std::size_t count = 0, pods = 0;
  for (; count < reports_.size() && reports_[count].deliver <= now_; ++count)
    pods += reports_[count].pods.size();
  delivered_.clear();
  delivered_.reserve(pods);
  for (; count > 0; --count) {
    Report& report = reports_.front();
    const std::size_t first = delivered_.size();
    delivered_.insert(delivered_.end(), report.pods.begin(), report.pods.end());
    report.usage.pods = {delivered_.data() + first, report.pods.size()};
    gathered_.emplace_back(report.usage);
    reports_.pop_front();
  }
}

}  // namespace evenkeel::simulator
