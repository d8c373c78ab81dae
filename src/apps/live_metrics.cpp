#include "apps/live_metrics.h"

#include <array>
#include <utility>

namespace evenkeel::apps {
namespace {

using reporting::exponential_bounds;

}  // namespace

// The help texts of what is kube-scheduler's are its own.
LiveMetrics::LiveMetrics(reporting::MetricsRegistry& registry, std::string api_server)
    : attempts(registry.counters(
          {"scheduler_schedule_attempts_total",
           "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
           "scheduled, while 'error' means an internal scheduler problem.",
           {"result", "profile"}})),
      attempt_seconds(
          registry.histograms({"scheduler_scheduling_attempt_duration_seconds",
                               "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
                               {"result", "profile"}},
                              exponential_bounds(0.001, 2, 15))),
      algorithm_seconds(registry
                            .histograms({"scheduler_scheduling_algorithm_duration_seconds",
                                         "Scheduling algorithm latency in seconds",
                                         {}},
                                        exponential_bounds(0.001, 2, 15))
                            .with({})),
      sli_seconds(registry.histograms(
          {"scheduler_pod_scheduling_sli_duration_seconds",
           "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and "
           "might involve multiple scheduling attempts.",
           {"attempts"}},
          exponential_bounds(0.01, 2, 20))),
      pod_attempts(registry
                       .histograms({"scheduler_pod_scheduling_attempts",
                                    "Number of attempts to successfully schedule a pod.",
                                    {}},
                                   exponential_bounds(1, 2, 5))
                       .with({})),
      pending(registry.gauges(
          {"scheduler_pending_pods",
           "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' "
           "means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that "
           "the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that "
           "the scheduler never attempted to schedule because they are gated.",
           {"queue"}})),
      incoming(registry.counters({"scheduler_queue_incoming_pods_total",
                                  "Number of pods added to scheduling queues by event and queue type.",
                                  {"queue", "event"}})),
      victims(registry
                  .histograms({"scheduler_preemption_victims", "Number of selected preemption victims", {}},
                              exponential_bounds(1, 2, 7))
                  .with({})),
      preemptions(registry
                      .counters({"scheduler_preemption_attempts_total",
                                 "Total preemption attempts in the cluster till now",
                                 {}})
                      .with({})),
      unschedulable(registry.gauges(
          {"scheduler_unschedulable_pods",
           "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for "
           "all plugins that caused it to not schedule and so this metric have meaning only when broken down "
           "by plugin.",
           {"plugin", "profile"}})),
      cache(registry.gauges({"scheduler_cache_size",
                             "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
                             {"type"}})),
      leading(
          registry.gauges({"leader_election_master_status",
                           "Gauge of if the reporting system is master of the relevant lease, 0 indicates "
                           "backup, 1 indicates master. 'name' is the string used to identify the lease. "
                           "Please make sure to group by name.",
                           {"name"}})),
      requests(registry.counters({"rest_client_requests_total",
                                  "Number of HTTP requests, partitioned by status code, method, and host.",
                                  {"code", "host", "method"}})),
      watch_events(registry.counters(
          {"evenkeel_watch_events_total", "Changes that watches told of, by resource.", {"resource"}})),
      watch_restarts(
          registry
              .counters({"evenkeel_watch_restarts_total", "Watches that ended and were taken up again.", {}})
              .with({})),
      objects_skipped(registry.counters({"evenkeel_objects_skipped_total",
                                         "Objects that could not be read and were passed over, by resource.",
                                         {"resource"}})),
      binds_in_flight(
          registry
              .gauges({"evenkeel_binds_in_flight", "Bindings sent and neither confirmed nor failed yet.", {}})
              .with({})),
      bind_failures(registry.counters(
          {"evenkeel_bind_failures_total", "Bindings that failed, by what was wrong.", {"reason"}})),
      events_dropped(
          registry
              .counters({"evenkeel_events_dropped_total",
                         "Events for people that were given up: the scheduler never waits for them.",
                         {}})
              .with({})),
      journal_entries(
          registry.gauges({"evenkeel_journal_entries", "Decisions that the journal holds.", {}}).with({})),
      decisions(
          registry.counters({"evenkeel_decisions_total",
                             "Decisions for a node, by whether the best candidates' scores were written "
                             "down, which is done for as many as a share of the time allows.",
                             {"explained"}})),
      explained(decisions.with({"yes"})),
      unexplained(decisions.with({"no"})),
      usage(registry),
      process(registry),
      host(std::move(api_server)) {
  for (const char* queue : {"active", "backoff", "gated", "unschedulable"}) pending.with({queue}).set(0);
  for (const char* type : {"assumed_pods", "nodes", "pods"}) cache.with({type}).set(0);
}

void LiveMetrics::carried(const LiveTraffic& traffic) {
  for (const auto& [request, count] : traffic.requests)
    requests.with({request.code == 0 ? "<error>" : std::to_string(request.code), host, request.method})
        .raise_to(count);
  for (const auto& [resource, count] : traffic.watch_events) watch_events.with({resource}).raise_to(count);
  for (const auto& [resource, count] : traffic.objects_skipped)
    objects_skipped.with({resource}).raise_to(count);
  watch_restarts.raise_to(traffic.watch_restarts);
  events_dropped.raise_to(traffic.events_dropped);
  binds_in_flight.set(static_cast<double>(traffic.binds_in_flight));
  usage.show(traffic.usage);
}

std::string_view bind_failure_reason(std::string_view why) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSigns{{
      {"HTTP 409", "conflict"},
      {"HTTP 404", "not_found"},
      {"HTTP 403", "forbidden"},
      {"HTTP 429", "too_many_requests"},
      {"HTTP 5", "server_error"},
      {"timed out", "timeout"},
      {"timeout", "timeout"},
      {"no answer", "timeout"},
  }};
  for (const auto& [sign, reason] : kSigns)
    if (why.find(sign) != std::string_view::npos) return reason;
  return "other";
}

}  // namespace evenkeel::apps
