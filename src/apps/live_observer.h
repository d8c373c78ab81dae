#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "apps/usage_metrics.h"
#include "cluster/world.h"
#include "scheduling/policies/policy.h"
#include "scheduling/scheduler.h"

namespace evenkeel::apps {

// What the line to the API server has carried since the start; every figure only grows, but for the gauge.
struct LiveTraffic {
  struct Request {
    std::string method;
    int code = 0;  // 0: no answer
    auto operator<=>(const Request&) const = default;
  };
  std::map<Request, std::uint64_t> requests;
  std::map<std::string, std::uint64_t> watch_events;     // by resource: "pods"
  std::map<std::string, std::uint64_t> objects_skipped;  // likewise: what could not be read
  std::uint64_t watch_restarts = 0;
  std::uint64_t events_dropped = 0;  // Events for people that were not written
  std::size_t binds_in_flight = 0;   // now
  UsageFigures usage;
};

// One profile that pods may ask for, in the order the scheduler numbers them.
struct LiveProfile {
  std::string scheduler_name, policy_name;
  scheduling::PlacementPolicy* policy = nullptr;  // may be asked to explain what it chose
};

// Whoever wants to know what a live scheduler does: metrics, the decision journal, a test. Called from the
// scheduler's own thread, between its steps, so it must not block and had better be quick. Nothing it is
// lent may be kept.
class LiveObserver {
 public:
  virtual ~LiveObserver() = default;

  // First of all. The policies stay where they are until `ended`.
  virtual void serves(std::span<const LiveProfile>) {}
  // Then. The scheduler stays where it is, and may be looked at within later calls, until `ended`.
  virtual void began(const scheduling::Scheduler&, Time /*now*/) {}
  // Whoever waits for events has waited: what comes now is work.
  virtual void woke(Time /*now*/) {}
  // The policy has answered and the question is still open; no node: the pod had better wait.
  virtual void decided(const scheduling::PlacementRequest&, std::optional<NodeId>, Duration /*took*/) {}
  // Before it is carried out. In shadow the same, and it never is.
  virtual void acted(const Action&, Time /*now*/) {}
  // Before the scheduler sees it, which may forget the pod.
  virtual void observed(const ClusterEvent&, Time /*now*/) {}
  virtual void turned(const scheduling::Scheduler&, Time /*now*/) {}  // the end of a turn
  virtual void led(bool /*leading*/, Time /*now*/) {}
  virtual void synced(bool /*whole*/, Time /*now*/) {}  // whether every first list has arrived
  virtual void carried(const LiveTraffic&) {}           // about once a second
  virtual void ended() {}
};

}  // namespace evenkeel::apps
