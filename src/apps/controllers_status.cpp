#include "apps/controllers_status.h"

#include <chrono>
#include <utility>

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kStuckAfter = 60s;

Duration steady_time() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

ControllersStatus::ControllersStatus()
    : groups_(registry_.gauges({"evenkeel_controllers_app_groups", "AppGroups that are looked after", {}})
                  .with({})),
      topologies_(
          registry_.gauges({"evenkeel_controllers_topologies", "NetworkTopologies likewise", {}}).with({})),
      pods_(registry_.gauges({"evenkeel_controllers_pods", "Pods of groups", {}}).with({})),
      leads_(registry_.gauges({"evenkeel_controllers_leader", "Whether this instance leads", {}}).with({})),
      constrained_(registry_
                       .gauges({"evenkeel_controllers_constrained_links",
                                "Links with more bandwidth promised than they carry",
                                {}})
                       .with({})),
      troubled_(
          registry_.gauges({"evenkeel_controllers_unreadable_objects", "Objects that nobody understands", {}})
              .with({})),
      looks_(registry_.counters({"evenkeel_controllers_looks_total", "Looks at an object", {}}).with({})),
      writes_(registry_.counters({"evenkeel_controllers_writes_total", "Patches by result", {"result"}})),
      evictions_(
          registry_.counters({"evenkeel_controllers_evictions_total", "Evictions by result", {"result"}})),
      requests_(registry_.counters(
          {"rest_client_requests_total", "Answers of the API server, 0: none", {"code", "method"}})) {
  last_turn_.store(steady_time().count());
}

void ControllersStatus::turned(const LiveControllers& controllers, const kubernetes::ApiClient& client) {
  last_turn_.store(steady_time().count(), std::memory_order_relaxed);
  synced_.store(controllers.synced(), std::memory_order_relaxed);
  leads_.set(controllers.leading() ? 1 : 0);
  groups_.set(static_cast<double>(controllers.book().groups().size()));
  topologies_.set(static_cast<double>(controllers.topologies()));
  pods_.set(static_cast<double>(controllers.book().pods().size()));
  constrained_.set(static_cast<double>(controllers.counts().constrained));
  troubled_.set(static_cast<double>(controllers.counts().troubled));
  looks_.raise_to(controllers.counts().looks);
  writes_.with({"written"}).raise_to(controllers.writes().written);
  writes_.with({"conflict"}).raise_to(controllers.writes().conflicts);
  writes_.with({"failed"}).raise_to(controllers.writes().failures);
  evictions_.with({"evicted"}).raise_to(controllers.writes().evicted);
  evictions_.with({"budget"}).raise_to(controllers.writes().forbidden);
  evictions_.with({"failed"}).raise_to(controllers.writes().not_evicted);
  for (const auto& [what, count] : client.answers())
    requests_.with({std::to_string(what.second), what.first}).raise_to(count);
}

Result<std::unique_ptr<reporting::StatusServer>> ControllersStatus::serve(const std::string& listen) {
  if (listen.empty()) return std::unique_ptr<reporting::StatusServer>();
  const auto address = reporting::parse_listen_address(listen);
  if (!address) return invalid("--listen: " + address.error().message);
  reporting::StatusServer::Options options;
  options.address = address->address;
  options.port = address->port;
  const reporting::HealthCheck loop{
      "controllers-loop", [this]() -> std::optional<std::string> {
        const Duration idle = steady_time() - Duration(last_turn_.load(std::memory_order_relaxed));
        if (idle <= kStuckAfter) return std::nullopt;
        return "no turn for " + std::to_string(idle.count() / 1'000'000) + " s";
      }};
  options.live = {{"ping", [] { return std::nullopt; }}, loop};
  options.ready = {loop,
                   {"informer-sync",
                    [this]() -> std::optional<std::string> {
                      if (synced_.load(std::memory_order_relaxed)) return std::nullopt;
                      return "not every kind is listed yet";
                    }},
                   {"shutdown", [this]() -> std::optional<std::string> {
                      if (!stopping_.load(std::memory_order_relaxed)) return std::nullopt;
                      return "process is shutting down";
                    }}};
  options.metrics = [this] {
    process_.refresh();
    return registry_.render();
  };
  return reporting::StatusServer::start(std::move(options));
}

}  // namespace evenkeel::apps
