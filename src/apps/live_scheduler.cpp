#include "apps/live_scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/profile.h"

namespace evenkeel::apps {
namespace {

kubernetes::KubernetesWorld::Options world_options(const LiveOptions& options) {
  kubernetes::KubernetesWorld::Options world;
  for (const kubernetes::SchedulerProfile& profile : options.configuration.profiles)
    world.feed.scheduler_names.push_back(profile.scheduler_name);
  world.feed.namespaces = options.namespaces;
  world.feed.nodes = options.nodes;
  world.writes = !options.shadow;
  world.seed = options.seed;
  return world;
}

}  // namespace

// The world as the loop sees it: no wait is longer than the turn's, and whoever watches is told of everything
// on its way.
class LiveScheduler::Watched : public World {
 public:
  Watched(World& world, LiveObserver& observer) : world_(world), observer_(observer) {}

  void end_turn_by(Time deadline) { deadline_ = deadline; }
  // How long the thinking took since events came or the last action went.
  Duration thought() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration_cast<Duration>(now - std::exchange(since_, now));
  }

  Time now() const override { return world_.now(); }
  std::optional<std::span<const ClusterEvent>> wait_for_events(Time deadline) override {
    const auto events = world_.wait_for_events(std::min(deadline, deadline_));
    if (events)
      for (const ClusterEvent& event : *events) observer_.observed(event, now());
    thought();
    return events;
  }
  void execute(const Action& action) override {
    observer_.acted(action, now());
    world_.execute(action);
    thought();
  }

 private:
  World& world_;
  LiveObserver& observer_;
  Time deadline_ = Time::max();
  std::chrono::steady_clock::time_point since_;
};

Result<std::unique_ptr<LiveScheduler>> LiveScheduler::open(kubernetes::ApiConnection& connection,
                                                           LiveOptions options) {
  std::vector<scheduling::PolicySetup> profiles;
  for (const kubernetes::SchedulerProfile& profile : options.configuration.profiles) {
    auto setup = set_up_profile(options.configuration, profile, options.models);
    if (!setup) return setup.error();
    profiles.push_back(*std::move(setup));
  }
  return std::unique_ptr<LiveScheduler>(
      new LiveScheduler(connection, std::move(options), std::move(profiles)));
}

LiveScheduler::LiveScheduler(kubernetes::ApiConnection& connection, LiveOptions options,
                             std::vector<scheduling::PolicySetup> profiles)
    : connection_(connection),
      options_(std::move(options)),
      profiles_(std::move(profiles)),
      observer_(options_.observer ? *options_.observer : silent_),
      world_(connection, world_options(options_), options_.log),
      watched_(std::make_unique<Watched>(world_, observer_)),
      scheduler_(profiles_.front().options),
      loop_(std::make_unique<control::ControlLoop>(*watched_, scheduler_, *profiles_.front().policy,
                                                   Random(options_.seed))) {
  loop_->watch_decisions([this](const scheduling::PlacementRequest& request, std::optional<NodeId> node) {
    observer_.decided(request, node, watched_->thought());
  });
  observer_.began(scheduler_, connection_.now());
}

LiveScheduler::~LiveScheduler() { observer_.ended(); }

bool LiveScheduler::turn(Time deadline) {
  watched_->end_turn_by(deadline);
  const bool goes_on = loop_->turn();
  if (!was_synced_ && world_.synced()) {
    was_synced_ = true;
    observer_.synced(true, connection_.now());
    options_.log("every kind is listed: deciding begins");
  }
  observer_.turned(scheduler_, connection_.now());
  return goes_on;
}

void LiveScheduler::stop(Duration at_most) {
  connection_.run_for(at_most, [&] { return world_.outstanding() == 0; });
  world_.stop();
}

}  // namespace evenkeel::apps
