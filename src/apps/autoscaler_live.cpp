#include "apps/autoscaler_live.h"

#include <utility>

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kReleaseWithin = 3s;
constexpr Duration kSaveEvery = 5min;
// Of each workload; policies learn what they need of a longer past themselves.
constexpr Duration kPast = 5min;

std::unique_ptr<LiveRoom> make_room(kubernetes::ApiConnection& connection,
                                    const LiveAutoscalerOptions& options) {
  if (!options.asks_for_room && !options.names_leavers) return nullptr;
  return std::make_unique<LiveRoom>(
      connection, autoscaling::ClusterRoom::Options{options.asks_for_room, options.names_leavers},
      options.seed, options.log);
}

kubernetes::KubernetesScalingWorld::Options world_options(const LiveAutoscalerOptions& options,
                                                          LiveRoom* room) {
  kubernetes::KubernetesScalingWorld::Options world;
  world.writes = !options.preview;
  world.follows_hpas = options.preview;
  world.policy = options.policy;
  world.events.on = options.events;
  world.events.host = options.host;
  world.seed = options.seed;
  if (room) world.cluster = &room->follower();
  return world;
}

}  // namespace

// The world as the loop sees it: whoever records is told of everything on its way.
class LiveAutoscaler::Told : public ScalingWorld {
 public:
  Told(kubernetes::KubernetesScalingWorld& world, ScalingRecords& records, LiveRoom* room)
      : world_(world), records_(records), room_(room) {}

  Time now() const override { return world_.now(); }
  std::optional<std::span<const ScalingEvent>> wait_for_events(Time deadline) override {
    const auto events = world_.wait_for_events(deadline);
    if (!events) return events;
    if (room_) room_->catch_up();
    for (const ScalingEvent& event : *events) {
      records_.observed(event);
      const auto* reported = std::get_if<ServiceReported>(&event);
      const auto* scaler = reported && room_ ? world_.scaler(reported->scaler) : nullptr;
      if (scaler) room_->reported(reported->report, scaler->spec);
    }
    return events;
  }
  void execute(const ScalingAction& action) override { world_.execute(action); }

 private:
  kubernetes::KubernetesScalingWorld& world_;
  ScalingRecords& records_;
  LiveRoom* room_;
};

LiveAutoscaler::LiveAutoscaler(kubernetes::ApiConnection& connection, kubernetes::ServiceMeter& meter,
                               LiveAutoscalerOptions options, ScalingRecords& records)
    : connection_(connection),
      options_(std::move(options)),
      records_(records),
      room_(make_room(connection, options_)),
      world_(connection, meter, world_options(options_, room_.get()), options_.log),
      told_(std::make_unique<Told>(world_, records, room_.get())),
      autoscaler_({.past = {.kept = kPast, .fine = kPast}, .preview = options_.preview}),
      loop_(std::make_unique<control::ScalingLoop>(*told_, autoscaler_, policy_maker(),
                                                   Random(options_.seed))) {
  loop_->watch([this](const autoscaling::ScalingRequest& request, std::span<const ScalingAction> actions) {
    for (const ScalingAction& action : actions)
      if (const auto* told = std::get_if<TellDecision>(&action))
        records_.decided(request, *told, world_.scaled_by(request.scaler));
  });
  if (!options_.state.empty()) state_ = std::make_unique<ScalingStateFiles>(options_.state, options_.log);
  world_.act_while([this] { return !is_stopping_ && leading(); });
  if (options_.elect && !options_.preview) {
    election_ = std::make_unique<kubernetes::LeaderElector>(connection_, options_.election, options_.log);
    election_->on_change([this] { world_.interrupt(); });
    election_->start();
  }
  if (room_) {
    autoscaler_.ask_about_nodes(&room_->room());
    room_->start();
  }
  world_.start();
}

LiveAutoscaler::~LiveAutoscaler() = default;

control::PolicyMaker LiveAutoscaler::policy_maker() {
  return [this](const ScalerSpec& spec) {
    auto made = options_.make_policy(spec);
    if (made && state_) state_->restore(spec, **made);
    return made;
  };
}

void LiveAutoscaler::save(ScalerId id) {
  const kubernetes::WorkloadScaler* scaler = world_.scaler(id);
  const autoscaling::ScalingPolicy* policy = loop_->policy_of(id);
  if (scaler && policy) state_->save(scaler->spec, *policy);
}

void LiveAutoscaler::save_one() {
  if (!state_ || !leading()) return;
  if (to_save_.empty() && connection_.now() >= save_again_) {
    if (save_again_ != Time{}) to_save_ = world_.ids();
    save_again_ = connection_.now() + kSaveEvery;
  }
  if (to_save_.empty()) return;
  save(to_save_.back());
  to_save_.pop_back();
}

bool LiveAutoscaler::turn(Time deadline) {
  follow_leadership();
  const bool goes_on = loop_->turn(deadline);
  save_one();
  if (!was_synced_ && world_.synced()) {
    was_synced_ = true;
    options_.log("every kind is listed: " + std::to_string(world_.scalers()) + " workloads to scale, " +
                 std::to_string(world_.pods()) + " pods");
  }
  return goes_on;
}

// What is decided carries the time until which it may be done, which is before anybody else can lead.
void LiveAutoscaler::follow_leadership() {
  if (!election_) return;
  const bool leads = election_->leads();
  const Time now = connection_.now();
  if (leads) autoscaler_.hold_lease(now + election_->leads_for(), now);
  if (leads == was_leading_) return;
  was_leading_ = leads;
  if (!leads) autoscaler_.hold_lease(now, now);
  options_.log(leads ? "leading: looking and scaling from here on" : "not leading: following only");
}

void LiveAutoscaler::stop(Duration at_most) {
  const auto is_done = [&] { return world_.outstanding() == 0 && world_.events().waiting() == 0; };
  connection_.run_for(at_most, is_done);
  if (!is_done()) options_.log("stopped with writes under way; what they came to is in the cluster");
  if (state_ && leading())
    for (const ScalerId id : world_.ids()) save(id);
  is_stopping_ = true;
  bool released = !election_;
  if (election_) election_->release([&] { released = true; });
  connection_.run_for(kReleaseWithin, [&] { return released; });
  world_.stop();
}

}  // namespace evenkeel::apps
