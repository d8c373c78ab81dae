#include "simulator/service_replicas.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::simulator {

ServiceRoom::ServiceRoom(const std::vector<NodeRoom>& nodes) {
  for (const NodeRoom& node : nodes)
    nodes_.push_back({node.cpu, static_cast<double>(node.memory.count), node.cpu});
}

std::optional<int> ServiceRoom::place(const ServicePlan& pod) {
  if (nodes_.empty()) return -1;
  const auto memory = static_cast<double>(pod.memory.count);
  std::optional<int> best;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].cpu + 1e-9 < pod.cpu_request || nodes_[i].memory < memory) continue;
    if (!best || free_cpu_share(static_cast<int>(i)) > free_cpu_share(*best)) best = static_cast<int>(i);
  }
  if (best) {
    nodes_[static_cast<std::size_t>(*best)].cpu -= pod.cpu_request;
    nodes_[static_cast<std::size_t>(*best)].memory -= memory;
  }
  return best;
}

void ServiceRoom::leave(int node, const ServicePlan& pod) {
  if (node < 0 || nodes_.empty()) return;
  nodes_[static_cast<std::size_t>(node)].cpu += pod.cpu_request;
  nodes_[static_cast<std::size_t>(node)].memory += static_cast<double>(pod.memory.count);
}

std::optional<std::int32_t> ServiceRoom::fits(const ServicePlan& pod) const {
  if (nodes_.empty()) return std::nullopt;
  double sum = 0;
  for (const Free& node : nodes_)
    sum += std::floor(std::min((node.cpu + 1e-9) / std::max(pod.cpu_request, 1e-3),
                               node.memory / std::max(1.0, static_cast<double>(pod.memory.count))));
  return static_cast<std::int32_t>(sum);
}

double ServiceRoom::free_cpu_share(int node) const {
  if (node < 0 || nodes_.empty()) return 0;
  const Free& free = nodes_[static_cast<std::size_t>(node)];
  return free.cpu / free.all_cpu;
}

ServiceReplicas::ServiceReplicas(const ServicePlan& plan, bool exact, const Random& random)
    : plan_(plan), exact_(exact), random_(random) {}

void ServiceReplicas::begin(Time now, ServiceRoom& room) {
  wanted_ = plan_.replicas;
  for (std::int32_t i = 0; i < plan_.replicas; ++i) {
    add(now, room);
    Replica& replica = replicas_.back();
    if (replica.state == Replica::State::pending) continue;
    replica.state = Replica::State::ready;
    replica.started = now - plan_.start_up - plan_.warm_up - std::chrono::minutes{10};
    replica.changed = now - plan_.warm_up - std::chrono::minutes{10};
  }
}

void ServiceReplicas::add(Time now, ServiceRoom& room) {
  Replica replica;
  replica.serial = ++serial_;
  replica.name = plan_.name + "-" + std::to_string(replica.serial);
  replica.changed = now;
  if (exact_) replica.exact.emplace(plan_.concurrency);
  replicas_.push_back(std::move(replica));
  start(replicas_.back(), now, room);
}

void ServiceReplicas::start(Replica& replica, Time now, ServiceRoom& room) {
  const std::optional<int> node = room.place(plan_);
  if (!node) return;
  replica.node = *node;
  replica.state = Replica::State::starting;
  replica.started = now;
  Random own = random_.fork(replica.serial);
  const double factor =
      plan_.start_up_spread > 0
          ? std::exp(own.normal(-plan_.start_up_spread * plan_.start_up_spread / 2, plan_.start_up_spread))
          : 1;
  replica.due = now + from_seconds(to_seconds(plan_.start_up) * factor);
}

void ServiceReplicas::leave(Replica& replica, Time now, ServiceRoom& room) {
  // What never took a request is gone at once.
  if (replica.state != Replica::State::ready) {
    room.leave(replica.node, plan_);
    replica.due = Time::min();
  } else {
    replica.due = now + plan_.grace;
  }
  replica.state = Replica::State::leaving;
  replica.changed = now;
}

// As a ReplicaSet ranks them: those without a node, then those not ready, then by pod-deletion-cost, then
// those with most siblings on their node, and the youngest.
bool ServiceReplicas::goes_before(const Replica& a, const Replica& b,
                                  const std::vector<std::string>& leave_first) const {
  if (a.state != b.state) return a.state < b.state;
  const auto rank = [&](const Replica& replica) {
    return std::find(leave_first.begin(), leave_first.end(), replica.name) - leave_first.begin();
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  const auto siblings = [&](const Replica& replica) {
    return std::count_if(replicas_.begin(), replicas_.end(), [&](const Replica& other) {
      return other.node == replica.node && other.state != Replica::State::leaving;
    });
  };
  if (a.node != b.node)
    if (const auto of_a = siblings(a), of_b = siblings(b); of_a != of_b) return of_a > of_b;
  return a.serial > b.serial;
}

void ServiceReplicas::scale(std::int32_t to, const std::vector<std::string>& leave_first, Time now,
                            ServiceRoom& room) {
  wanted_ = to;
  std::vector<Replica*> staying;
  for (Replica& replica : replicas_)
    if (replica.state != Replica::State::leaving) staying.push_back(&replica);
  const auto there = static_cast<std::int32_t>(staying.size());
  if (to < there) {
    std::sort(staying.begin(), staying.end(),
              [&](const Replica* a, const Replica* b) { return goes_before(*a, *b, leave_first); });
    for (std::int32_t i = 0; i < there - to; ++i) leave(*staying[static_cast<std::size_t>(i)], now, room);
  }
  for (std::int32_t i = there; i < to; ++i) add(now, room);
  advance(now, room);
}

void ServiceReplicas::advance(Time now, ServiceRoom& room) {
  for (Replica& replica : replicas_) {
    if (replica.state == Replica::State::starting && replica.due <= now) {
      replica.state = Replica::State::ready;
      replica.changed = now;
    }
    if (replica.state == Replica::State::pending) start(replica, now, room);
  }
  std::erase_if(replicas_, [&](const Replica& replica) {
    if (replica.state != Replica::State::leaving) return false;
    const double held = replica.exact
                            ? static_cast<double>(replica.exact->held(to_seconds(now.time_since_epoch())))
                            : replica.fluid.held();
    if (replica.due > now && held > 1e-6) return false;
    if (replica.due != Time::min()) room.leave(replica.node, plan_);
    lost_ += held;
    return true;
  });
}

std::int32_t ServiceReplicas::count(Replica::State state) const {
  return static_cast<std::int32_t>(std::count_if(
      replicas_.begin(), replicas_.end(), [&](const Replica& replica) { return replica.state == state; }));
}

double ServiceReplicas::speed(const Replica& replica, Time now) const {
  if (replica.state == Replica::State::leaving) return 1;
  if (replica.state != Replica::State::ready) return 0;
  const Duration since = now - replica.changed;
  if (since >= plan_.warm_up) return 1;
  const double part = to_seconds(since) / to_seconds(plan_.warm_up);
  return plan_.warm_up_speed + (1 - plan_.warm_up_speed) * part;
}

}  // namespace evenkeel::simulator
