#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "simulator/request_queue.h"
#include "simulator/service_queue.h"

namespace evenkeel::simulator {

// The room nodes have for pods; without nodes there is room for all.
class ServiceRoom {
 public:
  explicit ServiceRoom(const std::vector<NodeRoom>& nodes);
  // On the node with the largest free share of CPU among those it fits on.
  std::optional<int> place(const ServicePlan& pod);
  void leave(int node, const ServicePlan& pod);
  std::optional<std::int32_t> fits(const ServicePlan& pod) const;  // so many more; none: no limit
  double free_cpu_share(int node) const;
  bool limited() const { return !nodes_.empty(); }

 private:
  struct Free {
    double cpu, memory, all_cpu;
  };
  std::vector<Free> nodes_;
};

struct Replica {
  enum class State { pending, starting, ready, leaving };
  std::string name;
  std::uint64_t serial = 0;
  State state = State::pending;
  int node = -1;
  Time started{}, changed{}, due{};  // changed: readiness; due: when the state ends by itself
  FluidQueue fluid;
  std::optional<RequestQueue> exact;
  double cpu_s = 0;       // used so far
  double seen_cpu_s = 0;  // the same as its counter shows it
  double requests = 0;    // served so far
};

// The pods of one service: started, ready, warm, drained and gone. Time moves by steps.
class ServiceReplicas {
 public:
  ServiceReplicas(const ServicePlan& plan, bool exact, const Random& random);

  void begin(Time now, ServiceRoom& room);  // the first ones are ready and warm
  void scale(std::int32_t to, const std::vector<std::string>& leave_first, Time now, ServiceRoom& room);
  void advance(Time now, ServiceRoom& room);  // whatever is due by now; returns what was lost with leavers

  std::int32_t wanted() const { return wanted_; }
  std::vector<Replica>& all() { return replicas_; }
  const std::vector<Replica>& all() const { return replicas_; }
  std::int32_t count(Replica::State state) const;
  double speed(const Replica& replica, Time now) const;  // share of the full one; 0 before it is ready
  double lost() const { return lost_; }                  // requests that left with their pods, so far

 private:
  void add(Time now, ServiceRoom& room);
  void start(Replica& replica, Time now, ServiceRoom& room);
  void leave(Replica& replica, Time now, ServiceRoom& room);
  bool goes_before(const Replica& a, const Replica& b, const std::vector<std::string>& leave_first) const;

  const ServicePlan& plan_;
  bool exact_;
  Random random_;
  std::int32_t wanted_ = 0;
  std::uint64_t serial_ = 0;
  double lost_ = 0;
  std::vector<Replica> replicas_;  // the oldest first
};

}  // namespace evenkeel::simulator
