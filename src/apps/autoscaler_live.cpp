#include "apps/autoscaler_live.h"

#include <utility>

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kReleaseWithin = 3s;
constexpr Duration kSaveEvery = 5min;
constexpr Duration kPast =
    5min;  // of each workload; policies learn what they need of a longer one themselves

kubernetes::KubernetesScalingWorld::Options world_options(const LiveAutoscalerOptions& options) {
  kubernetes::KubernetesScalingWorld::Options world;
  world.writes = !options.preview;
  world.follows_hpas = options.preview;
  world.policy = options.policy;
  world.events.on = options.events;
  world.events.host = options.host;
  world.seed = options.seed;
  return world;
}

}  // namespace

// The world as the loop sees it: whoever records is told of everything on its way.
class LiveAutoscaler::Told : public ScalingWorld {
 public:
  Told(ScalingWorld& world, ScalingRecords& records) : world_(world), records_(records) {}

  Time now() const override { return world_.now(); }
  std::optional<std::span<const ScalingEvent>> wait_for_events(Time deadline) override {
    const auto events = world_.wait_for_events(deadline);
    if (events)
      for (const ScalingEvent& event : *events) records_.observed(event);
    return events;
  }
  void execute(const ScalingAction& action) override { world_.execute(action); }

 private:
  ScalingWorld& world_;
  ScalingRecords& records_;
};

LiveAutoscaler::LiveAutoscaler(kubernetes::ApiConnection& connection, kubernetes::ServiceMeter& meter,
                               LiveAutoscalerOptions options, ScalingRecords& records)
    : connection_(connection),
      options_(std::move(options)),
      records_(records),
      world_(connection, meter, world_options(options_), options_.log),
      told_(std::make_unique<Told>(world_, records)),
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
