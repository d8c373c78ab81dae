#include "apps/live_scheduler.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "apps/profile.h"
#include "base/numbers.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kTrafficEvery = 1s;
constexpr Duration kElectionFirst = 2s;  // so long lists wait for the first word about the lease
constexpr Duration kReleaseWithin = 3s;
constexpr std::size_t kNodesShown = 3;  // of those a decision was between, in its annotation
constexpr const char* kDecision = "evenkeel.io/decision";

kubernetes::KubernetesWorld::Options world_options(const LiveOptions& options) {
  kubernetes::KubernetesWorld::Options world;
  for (const kubernetes::SchedulerProfile& profile : options.configuration.profiles) {
    world.feed.scheduler_names.push_back(profile.scheduler_name);
    world.volumes_within = profile.volume_bind_timeout;
  }
  world.feed.namespaces = options.namespaces;
  world.feed.nodes = options.nodes;
  world.writes = !options.shadow;
  world.events.on = options.events;
  world.events.host = options.host;
  world.events.bodies = world.bodies = options.bodies;
  world.seed = options.seed;
  return world;
}

std::vector<scheduling::SchedulerProfile> profiles_of(const LiveOptions& options,
                                                      const std::vector<scheduling::PolicySetup>& setups) {
  std::vector<scheduling::SchedulerProfile> profiles;
  for (std::size_t i = 0; i < setups.size(); ++i)
    profiles.push_back({options.configuration.profiles[i].scheduler_name, setups[i].options});
  return profiles;
}

scheduling::QueueOptions queue_options(const kubernetes::SchedulerConfiguration& configuration) {
  scheduling::QueueOptions queue;
  queue.first_backoff = std::chrono::seconds(configuration.initial_backoff_s);
  queue.longest_backoff = std::chrono::seconds(configuration.max_backoff_s);
  return queue;
}

kubernetes::LeaderElector::Options election_options(const LiveOptions& options) {
  const kubernetes::LeaderElection& configured = options.configuration.leader_election;
  kubernetes::LeaderElector::Options election;
  election.lease = {options.identity, configured.lease, configured.renew_deadline, configured.retry_period};
  election.name_space = configured.name_space;
  election.name = configured.name;
  election.seed = options.seed;
  return election;
}

// "node-3 412 (NodeResourcesFit 92, …); node-1 400; 7 nodes": why, on one line.
std::string reasons(const scheduling::ScoreSheet& sheet, const scheduling::PlacementRequest& request) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kNodesShown, sheet.rows.size()); ++i) {
    const auto& row = sheet.rows[i];
    char buffer[32];
    text += (i == 0 ? "" : "; ") + request.cluster.node(row.node).name + " ";
    text += format_number(std::round(row.total * 1000) / 1000, buffer);
    for (std::size_t term = 0; i == 0 && term < std::min(row.parts.size(), sheet.terms.size()); ++term) {
      text += (term == 0 ? " (" : ", ") + sheet.terms[term] + " ";
      text += format_number(std::round(row.parts[term] * 1000) / 1000, buffer);
      if (term + 1 == sheet.terms.size()) text += ")";
    }
  }
  text += "; " + std::to_string(request.feasible_count) + " nodes would do";
  return sheet.note.empty() ? text : text + "; " + sheet.note;
}

}  // namespace

// The world as the loop sees it: whoever watches is told of everything on its way.
class LiveScheduler::Watched : public World {
 public:
  // `decides_first`: a pod that somebody else has bound by the time we hear of it is asked about all the
  // same, as it was before: what a shadow is there for.
  Watched(World& world, LiveObserver& observer, bool decides_first, const LiveCounsel* counsel)
      : world_(world), observer_(observer), decides_first_(decides_first), counsel_(counsel) {}

  // How long the thinking took since events came or the last action went.
  Duration thought() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration_cast<Duration>(now - std::exchange(since_, now));
  }

  Time now() const override { return world_.now(); }
  std::optional<std::span<const ClusterEvent>> wait_for_events(Time deadline) override {
    std::optional<std::span<const ClusterEvent>> events = rest_;
    if (rest_.empty()) events = world_.wait_for_events(deadline);
    const Time now = world_.now();
    observer_.woke(now);
    if (events && decides_first_) {
      const std::size_t count = until_bound(*events);
      rest_ = events->subspan(count);
      events = events->first(count);
    }
    if (events)
      for (const ClusterEvent& event : *events) observer_.observed(event, now);
    thought();
    return events;
  }
  void execute(const Action& action) override {
    observer_.acted(action, world_.now());
    world_.execute(action);
    thought();
  }
  bool is_full() const override { return world_.is_full() || (counsel_ && counsel_->is_full()); }

 private:
  // How many of them come before somebody binds a pod that is new among them.
  static std::size_t until_bound(std::span<const ClusterEvent> events) {
    std::unordered_set<PodId> added;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (const auto* pod = std::get_if<PodAdded>(&events[i])) added.insert(pod->pod.id);
      const auto* bound = std::get_if<PodBound>(&events[i]);
      if (bound && added.contains(bound->pod)) return i;
    }
    return events.size();
  }

  World& world_;
  LiveObserver& observer_;
  bool decides_first_;
  const LiveCounsel* counsel_;
  std::span<const ClusterEvent> rest_;  // of what the world told last
  std::chrono::steady_clock::time_point since_;
};

Result<std::unique_ptr<LiveScheduler>> LiveScheduler::open(kubernetes::ApiConnection& connection,
                                                           LiveOptions options) {
  std::vector<scheduling::PolicySetup> profiles;
  if (options.shadow) options.learner.writes = false;  // whose folder it is goes on using it meanwhile
  auto learning = std::make_unique<LiveLearning>(
      LiveLearning::Options{options.state, options.seed, options.learner, options.log});
  for (const kubernetes::SchedulerProfile& profile : options.configuration.profiles) {
    auto setup = set_up_live_profile(options.configuration, profile, options.models, learning.get());
    if (!setup) return Error{setup.error().kind, profile.scheduler_name + ": " + setup.error().message};
    if (options.usage) options.usage->prepare(setup->options);
    if (options.counsel) setup->policy = options.counsel->advise(std::move(setup->policy));
    profiles.push_back(*std::move(setup));
  }
  return std::unique_ptr<LiveScheduler>(
      new LiveScheduler(connection, std::move(options), std::move(learning), std::move(profiles)));
}

LiveScheduler::LiveScheduler(kubernetes::ApiConnection& connection, LiveOptions options,
                             std::unique_ptr<LiveLearning> learning,
                             std::vector<scheduling::PolicySetup> profiles)
    : connection_(connection),
      options_(std::move(options)),
      learning_(std::move(learning)),
      profiles_(std::move(profiles)),
      observer_(options_.observer ? *options_.observer : silent_),
      world_(connection, world_options(options_), options_.log),
      watched_(std::make_unique<Watched>(world_, observer_, options_.shadow, options_.counsel)),
      scheduler_(profiles_of(options_, profiles_), queue_options(options_.configuration)),
      begun_(connection.now()) {
  std::vector<scheduling::PlacementPolicy*> policies;
  std::vector<LiveProfile> served;
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    policies.push_back(profiles_[i].policy.get());
    served.push_back(
        {options_.configuration.profiles[i].scheduler_name, profiles_[i].name, profiles_[i].policy.get()});
  }
  loop_ = std::make_unique<control::ControlLoop>(*watched_, scheduler_, policies, Random(options_.seed));
  loop_->watch_decisions([this](const scheduling::PlacementRequest& request, std::optional<NodeId> node) {
    note(request, node);
  });
  world_.write_while([this] { return leading(); });
  if (options_.counsel) world_.annotate_bindings(options_.counsel->annotation);
  make_stage();
  observer_.serves(served);
  observer_.began(scheduler_, begun_);
  if (options_.usage) options_.usage->begin(world_, scheduler_, begun_);
  const bool elects = options_.configuration.leader_election.elect && !options_.identity.empty();
  if (elects && !options_.shadow && !options_.counsel) {
    election_ =
        std::make_unique<kubernetes::LeaderElector>(connection_, election_options(options_), options_.log);
    election_->on_change([this] { world_.interrupt(); });
    election_->start();
  }
}

void LiveScheduler::make_stage() {
  const kubernetes::LeaderElection& lease = options_.configuration.leader_election;
  LiveStage::Options stage{lease.name_space, lease.name, {}};
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    const kubernetes::SchedulerProfile& profile = options_.configuration.profiles[i];
    const kubernetes::GuardArguments& asked = profile.evenkeel.guard;
    if (scheduling::Guarded* guard = guard_of(*profiles_[i].policy))
      stage.profiles.push_back({profile.scheduler_name,
                                guard,
                                {scheduling::stage_named(asked.stage).value_or(scheduling::Stage::full),
                                 asked.share, asked.namespaces}});
  }
  stage_ = std::make_unique<LiveStage>(connection_, std::move(stage), options_.log,
                                       [this] { world_.interrupt(); });
}

LiveScheduler::~LiveScheduler() {
  observer_.ended();
  if (options_.usage) options_.usage->end(leading(), connection_.now());
}

Time LiveScheduler::wake_at() const {
  if (!deciding()) return Time::max();
  if (!was_deciding_) return connection_.now();
  Time at = scheduler_.wake_at();
  for (const auto& profile : profiles_) at = std::min(at, profile.policy->review_at());
  return at;
}

bool LiveScheduler::turn(Time deadline) {
  follow_leadership();
  if (options_.usage) options_.usage->turn(connection_.now(), leading());
  // What was only followed so far is waiting to be decided about, without any further news.
  const bool begins = deciding() && !was_deciding_;
  was_deciding_ = deciding();
  const bool goes_on =
      was_deciding_ ? loop_->turn(begins ? connection_.now() : deadline) : only_follow(deadline);
  if (!was_synced_ && world_.synced()) {
    was_synced_ = true;
    observer_.synced(true, connection_.now());
    options_.log("every kind is listed");
  }
  stage_->tell(world_, connection_.now());
  observer_.turned(scheduler_, connection_.now());
  tell_traffic();
  learning_->turn();
  return goes_on;
}

void LiveScheduler::follow_leadership() {
  const bool leads = leading();
  if (leads != was_leading_) {
    was_leading_ = leads;
    observer_.led(leads, connection_.now());
    ++term_;
    // What is listed from here on is new enough; what is there already may not be.
    is_fresh_ = leads && !world_.started();
    if (leads && world_.started())
      world_.refresh_pods([this, term = term_] {
        is_fresh_ = is_fresh_ || term == term_;
        world_.interrupt();
      });
  }
  const bool may_list = !election_ || election_->knows() || connection_.now() - begun_ >= kElectionFirst;
  if (!world_.started() && may_list) {
    stage_->start();
    world_.start();
  }
}

bool LiveScheduler::only_follow(Time deadline) {
  const auto events = watched_->wait_for_events(deadline);
  if (!events) return false;
  const Time now = connection_.now();
  for (const ClusterEvent& event : *events) scheduler_.observe(event, now);
  return true;
}

void LiveScheduler::note(const scheduling::PlacementRequest& request, std::optional<NodeId> node) {
  observer_.decided(request, node, watched_->thought());
  if (!node || !options_.annotate) return;
  const scheduling::ScoreSheet sheet =
      profiles_[request.profile].policy->explain_best(request, kNodesShown, *node);
  world_.annotate(request.pod.id, {kDecision, reasons(sheet, request)});
}

void LiveScheduler::tell_traffic() {
  const Time now = connection_.now();
  if (now - told_traffic_ < kTrafficEvery) return;
  told_traffic_ = now;
  LiveTraffic traffic;
  for (const auto& kind : world_.follows()) {
    const auto& counts = kind->counts();
    traffic.watch_events[kind->type().plural] = counts.events;
    traffic.watch_restarts += counts.watches > 0 ? counts.watches - 1 : 0;
    traffic.objects_skipped[kind->type().plural] = counts.damaged;
  }
  traffic.events_dropped = world_.events().counts().dropped;
  traffic.binds_in_flight = world_.bindings();
  if (options_.usage) traffic.usage = options_.usage->figures(now);
  observer_.carried(traffic);
}

void LiveScheduler::stop(Duration at_most) {
  const auto is_done = [&] { return world_.outstanding() == 0 && world_.events().waiting() == 0; };
  connection_.run_for(at_most, is_done);
  if (options_.usage) options_.usage->end(leading(), connection_.now());  // while it is ours to write
  if (!is_done()) options_.log("stopped with writes under way; what they came to is in the cluster");
  bool released = !election_;
  if (election_) election_->release([&] { released = true; });
  connection_.run_for(kReleaseWithin, [&] { return released; });
  world_.stop();
  learning_->stop();
}

}  // namespace evenkeel::apps
