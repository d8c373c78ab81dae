#include "apps/live_agent.h"

#include <algorithm>
#include <utility>

#include "agents/agents_policy.h"
#include "apps/profile.h"
#include "apps/shadow_recorder.h"
#include "base/match.h"
#include "scheduling/policies/marl.h"
#include "scheduling/policies/marl_encoding.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kLongestWait = 1h;
constexpr std::size_t kPieces = 64;  // of work that is ready, taken along with the first
constexpr Duration kReleaseWithin = 3s;
constexpr Duration kSilentAtMost = 20s;
constexpr const char* kTermAnnotation = "evenkeel.io/term";
constexpr const char* kShared = "marl-shared";  // whose agents learn from each other

// Without a model there is something to say only for one that learns.
Result<std::unique_ptr<scheduling::MarlBrain>> make_brain(const LiveAgentOptions& options) {
  const auto settings = scheduling::marl_settings(options.policy);
  if (!settings)
    return invalid("agents do not decide by '" + options.policy + "': expected marl or marl-shared");
  if (options.model) {
    const bool apart = settings->sharing == scheduling::MarlSharing::none;
    auto brain =
        scheduling::MarlBrain::from_model(settings->brain, *options.model, apart ? "agent-1" : "agent");
    if (!brain) return brain.error();
    return std::make_unique<scheduling::MarlBrain>(*std::move(brain));
  }
  if (!options.agent.learns) return std::unique_ptr<scheduling::MarlBrain>();
  Random random = Random(options.seed).fork("brain");
  return std::make_unique<scheduling::MarlBrain>(settings->brain, random);
}

kubernetes::LeaderElector::Options election_options(const LiveAgentOptions& options,
                                                    const std::string& identity) {
  kubernetes::LeaderElector::Options election;
  election.lease = {identity, options.lease, options.renew_deadline, options.renew_every};
  election.name_space = options.name_space;
  election.name = options.name;
  election.seed = options.seed;
  return election;
}

kubernetes::NodeWorld::Options node_world_options(const LiveAgentOptions& options) {
  kubernetes::NodeWorld::Options world;
  world.node = options.node;
  for (const auto& profile : options.scheduler.configuration.profiles)
    world.scheduler_names.push_back(profile.scheduler_name);
  world.namespaces = options.scheduler.namespaces;
  world.seed = options.seed;
  return world;
}

}  // namespace

// The same line, with a clock that nobody sets: wall-clock time as it was at the start, and what has passed
// since.
class LiveAgent::SteadyConnection final : public kubernetes::ApiConnection {
 public:
  explicit SteadyConnection(kubernetes::ApiConnection& line)
      : line_(line), ahead_(line.now() - line.steady_now()) {}

  Time now() const override { return line_.steady_now() + ahead_; }
  Time steady_now() const override { return line_.steady_now(); }
  void call(kubernetes::ApiRequest request, Done done) override {
    line_.call(std::move(request), std::move(done));
  }
  StreamId stream(const kubernetes::ApiRequest& request, StreamHandlers handlers) override {
    return line_.stream(request, std::move(handlers));
  }
  void cancel(StreamId stream) override { line_.cancel(stream); }
  TimerId call_after(Duration delay, std::function<void()> work) override {
    return line_.call_after(delay, std::move(work));
  }
  void cancel_timer(TimerId timer) override { line_.cancel_timer(timer); }
  bool run_for(Duration time, const std::function<bool()>& done) override {
    return line_.run_for(time, done);
  }
  kubernetes::ApiConnection& line() { return line_; }

 private:
  kubernetes::ApiConnection& line_;
  Duration ahead_;
};

// Sees decisions and what becomes of them, and lets the desk know.
class LiveAgent::Watch final : public LiveObserver {
 public:
  explicit Watch(LiveAgent& agent) : agent_(agent) {}

  void began(const scheduling::Scheduler& scheduler, Time) override { scheduler_ = &scheduler; }
  void ended() override { scheduler_ = nullptr; }
  void decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node, Duration) override {
    if (node) agent_.desk_.awarded(pod_key(request.pod.uid), request.cluster.node(*node).name);
  }
  void observed(const ClusterEvent& event, Time) override {
    if (const auto* failed = std::get_if<BindFailed>(&event)) {
      if (const auto key = key_of(failed->pod)) agent_.desk_.withdrawn(*key);
    } else if (const auto* bound = std::get_if<PodBound>(&event)) {
      if (const auto key = key_of(bound->pod)) agent_.desk_.forget(*key);
    } else if (const auto* gone = std::get_if<PodGone>(&event)) {
      if (const auto key = key_of(gone->pod)) agent_.desk_.forget(*key);
    }
  }

 private:
  std::optional<PodKey> key_of(PodId pod) const {
    const PodRecord* record = scheduler_ ? scheduler_->cluster().pod(pod) : nullptr;
    if (!record) return std::nullopt;
    return pod_key(record->pod.uid);
  }

  LiveAgent& agent_;
  const scheduling::Scheduler* scheduler_ = nullptr;
};

Result<std::unique_ptr<LiveAgent>> LiveAgent::open(kubernetes::ApiConnection& connection,
                                                   messaging::AgentTransport& transport,
                                                   LiveAgentOptions options) {
  if (options.node.empty()) return invalid("an agent needs the name of the node it stands for");
  options.agent.node = options.node;
  for (const kubernetes::SchedulerProfile& profile : options.scheduler.configuration.profiles) {
    auto setup = set_up_profile(options.scheduler.configuration, profile, options.scheduler.models);
    if (!setup) return Error{setup.error().kind, profile.scheduler_name + ": " + setup.error().message};
    options.agent.profiles.push_back({profile.scheduler_name, std::move(setup->options)});
  }
  auto brain = make_brain(options);
  if (!brain) return brain.error();
  return std::unique_ptr<LiveAgent>(
      new LiveAgent(connection, transport, std::move(options), *std::move(brain)));
}

LiveAgent::LiveAgent(kubernetes::ApiConnection& connection, messaging::AgentTransport& transport,
                     LiveAgentOptions options, std::unique_ptr<scheduling::MarlBrain> brain)
    : connection_(std::make_unique<SteadyConnection>(connection)),
      transport_(transport),
      options_(std::move(options)),
      identity_(to_text(HolderIdentity{options_.node, transport.address(), options_.incarnation})),
      node_world_(std::make_unique<kubernetes::NodeWorld>(*connection_, node_world_options(options_),
                                                          options_.scheduler.log)),
      agent_(std::make_unique<agents::NodeAgent>(options_.agent, std::move(brain),
                                                 Random(options_.seed).fork("agent"))),
      succession_(options_.node, options_.succession, Random(options_.seed).fork("succession")),
      deputies_(options_.succession.deputies),
      desk_(options_.desk, Random(options_.seed).fork("desk")),
      pool_(options_.pool),
      election_(std::make_unique<kubernetes::LeaderElector>(
          *connection_, election_options(options_, identity_), options_.scheduler.log)),
      watch_(std::make_unique<Watch>(*this)) {
  counsel_.leads = [this] { return election_->leads(); };
  counsel_.advise = [this](std::unique_ptr<scheduling::PlacementPolicy> rule) {
    return std::make_unique<agents::AgentsPolicy>(desk_, std::move(rule));
  };
  counsel_.is_full = [this] { return desk_.is_full(); };
  counsel_.annotation = [this] {
    return std::optional(kubernetes::Annotation{kTermAnnotation, std::to_string(own_term())});
  };
  if (options_.scheduler.observer)
    observers_ = std::make_unique<ObserverPair>(*watch_, *options_.scheduler.observer);
  options_.scheduler.observer = observers_ ? observers_.get() : watch_.get();
  options_.scheduler.counsel = &counsel_;
  start();
}

LiveAgent::~LiveAgent() = default;

Time LiveAgent::now() const { return connection_->now(); }

void LiveAgent::start() {
  messaging::AgentTransport::Handlers handlers;
  handlers.line = [this](messaging::AgentTransport::Line line, const std::string& why) {
    inbox_.push_back(LineChanged{line, why});
  };
  handlers.from_leader = [this](FromLeader message) { inbox_.push_back(std::move(message)); };
  handlers.joined = [this](const std::string& node, const AgentHello& hello) {
    inbox_.push_back(Joined{node, hello});
  };
  handlers.left = [this](const std::string& node) { inbox_.push_back(Left{node}); };
  handlers.from_agent = [this](const std::string& node, FromAgent message) {
    inbox_.push_back(Said{node, std::move(message)});
  };
  transport_.start(std::move(handlers));
  transport_.lead(false, {0, "", options_.incarnation});
  node_world_->watch_waiting(true);
  node_world_->start();
  election_->on_change([this] { election_changed_ = true; });
  election_->pace_with([this] { return succession_.look_after(now()); });
  election_->start();
}

bool LiveAgent::has_work() const {
  return !inbox_.empty() || election_changed_ || leads_ != leading() || node_world_->has_events() ||
         (scheduler_ && scheduler_->has_events());
}

Time LiveAgent::wake_at() const {
  Time at = agent_->wake_at();
  if (!leads_) at = std::min(at, succession_.wake_at());
  if (!leads_ && has_line_ && heard_term_ != 0) at = std::min(at, said_at_ + kSilentAtMost);
  if (scheduler_) at = std::min(at, scheduler_->wake_at());
  if (leads_) at = std::min({at, next_beat_, pool_.wake_at(), now() + election_->leads_for()});
  if (leads_ && scheduler_ && scheduler_->deciding()) at = std::min(at, desk_.wake_at());
  if (scheduler_ && unwanted_since_ != Time{}) at = std::min(at, unwanted_since_ + options_.keep_warm);
  return at;
}

void LiveAgent::turn(Time deadline) { turn(deadline - connection_->line().now()); }

Duration LiveAgent::rest() const {
  return has_work() ? 0s : std::clamp<Duration>(wake_at() - now(), 0s, kLongestWait);
}

void LiveAgent::turn(Duration at_most) {
  const Duration wait = std::clamp<Duration>(std::min(at_most, wake_at() - now()), 0s, kLongestWait);
  if (connection_->run_for(wait, [this] { return has_work(); })) {
    // What else is there already comes along, so that a burst is answered as a whole.
    std::size_t pieces = kPieces;
    connection_->run_for(Duration::zero(), [&] { return pieces-- == 0; });
  }
  const Time at = now();
  // First what was said on the lines as they are: whom they lead to changes after that.
  for (Incoming& incoming : std::exchange(inbox_, {})) handle(incoming, at);
  follow_election(at);
  for (const ClusterEvent& event : node_world_->take_events()) agent_->observe(event, at);
  follow_succession(at);
  keep_scheduler(at);
  lead(at);
  speak(at);
}

void LiveAgent::handle(Incoming& incoming, Time at) {
  std::visit(Match{
                 [&](LineChanged& changed) {
                   using Line = messaging::AgentTransport::Line;
                   const bool was_open = std::exchange(has_line_, changed.line == Line::open);
                   line_changed_ = true;
                   if (changed.line == Line::open) {
                     ++figures_.lines;
                     heard_term_ = 0;
                     succession_.line_open(at);
                     return agent_->greet(at);
                   }
                   if (was_open) log("the line to the leader is lost: " + changed.why);
                   succession_.line_lost(at);
                   if (changed.line == Line::refused && following_) succession_.leader_gone(*following_, at);
                 },
                 [&](FromLeader& message) { heard(message, at); },
                 [&](Joined& joined) {
                   if (!leads_) return;
                   desk_.joined(joined.node, joined.hello);
                   choose_ways();
                   transport_.tell(joined.node, make_beat());
                   if (const LeaderModel shared = pool_.current();
                       !shared.parameters.empty() && joined.hello.model < shared.version)
                     transport_.tell(joined.node, shared);
                 },
                 [&](Left& left) { desk_.left(left.node); },
                 [&](Said& said) {
                   if (!leads_) return;
                   if (const auto* bids = std::get_if<AgentBids>(&said.message)) {
                     if (bids->term == led_term_) (void)desk_.heard(said.node, *bids, at);
                   } else if (auto* report = std::get_if<AgentReport>(&said.message)) {
                     ++figures_.reports_heard;
                     report->report.measured = at - report->age;
                     if (scheduler_) scheduler_->report(report->report);
                   } else if (const auto* lessons = std::get_if<AgentLessons>(&said.message)) {
                     pool_.offer(said.node, *lessons);
                   }
                 },
             },
             incoming);
}

void LiveAgent::heard(FromLeader& message, Time at) {
  if (leads_ || !following_) return;
  if (const auto* answer = std::get_if<NotLeading>(&message)) {
    // A leader killed and started again: whoever has its address now is another process.
    if (answer->incarnation != 0 && answer->incarnation != following_->incarnation)
      succession_.leader_gone(*following_, at);
    return election_->hurry();
  }
  const Term term = std::visit([](const auto& said) { return said.term; }, message);
  if (term < heard_term_) {
    ++figures_.old_terms;
    return;
  }
  heard_term_ = term;
  if (const auto* beat = std::get_if<LeaderBeat>(&message)) {
    ++figures_.beats_heard;
    succession_.heard_beat(*beat, at);
    node_world_->watch_waiting(!beat->tells_pods);
  }
  agent_->heard(message, at);
}

void LiveAgent::follow_election(Time at) {
  election_changed_ = false;
  const bool leads = leading();
  if (leads && (!leads_ || led_term_ != own_term())) begin_term(at);
  if (!leads && leads_) end_term();
  if (!leads) follow_holder();
}

void LiveAgent::begin_term(Time at) {
  leads_ = true;
  led_term_ = own_term();
  ++figures_.terms_led;
  log("leading in term " + std::to_string(led_term_));
  transport_.unfollow();
  following_.reset();
  has_line_ = false;
  desk_.begin_term(led_term_);
  deputies_.begin_term(succession_.deputies(), at);
  const scheduling::MarlBrain* brain = agent_->brain();
  const bool shares = brain && options_.policy == kShared;
  pool_.begin_term(led_term_, agent_->model(), shares ? brain->parameters() : std::vector<float>(), at);
  ways_tell_ = false;
  // Its own node has an agent too: this one, to whom nothing needs to be sent.
  desk_.joined(options_.node, agent_->hello(options_.incarnation, true));
  agent_->greet(at);
  transport_.lead(true, {});
  next_beat_ = at;
}

void LiveAgent::end_term() {
  leads_ = false;
  next_beat_ = Time::max();
  desk_.end_term();
  transport_.lead(false, {led_term_, election_->holder(), options_.incarnation});
}

// Whoever holds the Lease is who is talked to, until somebody else does.
void LiveAgent::follow_holder() {
  succession_.saw_holder(election_->holder(), now());
  std::optional<HolderIdentity> holder;
  if (election_->holder() != identity_) holder = parse_holder(election_->holder());
  if (holder == following_) return;
  following_ = holder;
  has_line_ = false;
  heard_term_ = 0;
  transport_.lead(false, {0, election_->holder(), options_.incarnation});
  if (!holder) return transport_.unfollow();
  transport_.follow(*holder, agent_->hello(options_.incarnation, node_world_->watches_waiting()));
}

void LiveAgent::follow_succession(Time at) {
  if (leads_) return;
  if (std::exchange(line_changed_, false) || succession_.wake_at() <= at) election_->repace();
  if (const auto dead = succession_.may_claim_from(at)) {
    const std::string text = to_text(*dead);
    if (election_->holder() == text && claimed_ != text) {
      claimed_ = text;
      ++figures_.claims;
      log(text + " is gone, as its host says: claiming the lease");
      election_->claim_from(text);
    }
  }
}

// A leader needs it, and a deputy may at any moment. One that is none any more keeps it for a while: leaders
// come and go in quick succession when they do.
void LiveAgent::keep_scheduler(Time at) {
  const bool is_wanted = leads_ || succession_.is_deputy();
  if (is_wanted) {
    unwanted_since_ = {};
    if (scheduler_) return;
    auto opened = LiveScheduler::open(*connection_, options_.scheduler);
    if (opened) {
      scheduler_ = *std::move(opened);
    } else {
      log("cannot schedule: " + opened.error().message);  // open() of the agent tried the same options
    }
    return;
  }
  if (!scheduler_) return;
  if (unwanted_since_ == Time{}) unwanted_since_ = at;
  if (at - unwanted_since_ >= options_.keep_warm && scheduler_->world().outstanding() == 0)
    scheduler_.reset();
}

void LiveAgent::lead(Time at) {
  if (scheduler_) {
    if (leads_ && desk_.has_news(at)) {
      desk_.news_seen();
      scheduler_->look_at_held();
    }
    scheduler_->turn(connection_->now());
  }
  if (!leads_) return;
  if (const auto shared = pool_.average(at)) {
    transport_.tell_all(*shared);
    agent_->heard(*shared, at);
  }
  if (next_beat_ <= at) beat(at);
}

// More agents than make sense to be told by the API server, or to be asked about each pod.
void LiveAgent::choose_ways() {
  agents::BidDeskOptions wanted = options_.desk;
  const std::size_t agents = desk_.figures().agents;
  // Some slack, so that one agent that comes and goes does not turn it on and off.
  const std::size_t limit = options_.tells_beyond - (ways_tell_ ? options_.tells_beyond / 10 : 0);
  ways_tell_ = agents > limit;
  wanted.tells_pods = wanted.tells_pods || ways_tell_;
  if (wanted.sample == 0 && agents > options_.asks_all_up_to) wanted.sample = options_.sample;
  desk_.set_options(wanted);
}

LeaderBeat LiveAgent::make_beat() {
  LeaderBeat beat;
  beat.term = led_term_;
  beat.beat = beats_;
  beat.leader = options_.node;
  beat.tells_pods = desk_.options().tells_pods;
  beat.deputies = deputies_.choose(desk_.agents(), options_.node, now());
  if (scheduler_) beat.cluster = scheduling::cluster_shares(scheduler_->scheduler().cluster());
  return beat;
}

void LiveAgent::beat(Time at) {
  next_beat_ = at + options_.succession.beat_every;
  ++beats_;
  ++figures_.beats_sent;
  choose_ways();
  const LeaderBeat beat = make_beat();
  transport_.tell_all(beat);
  node_world_->watch_waiting(!beat.tells_pods);
  agent_->heard(beat, at);
}

void LiveAgent::send_letters(Time at) {
  for (agents::BidDesk::Letter& letter : desk_.take_letters()) {
    if (letter.node == options_.node) {
      agent_->heard(letter.message, at);
    } else {
      transport_.tell(letter.node, letter.message);
    }
  }
}

void LiveAgent::speak(Time at) {
  if (leads_) send_letters(at);
  for (FromAgent& word : agent_->take_words(at)) {
    if (const auto* bids = std::get_if<AgentBids>(&word)) figures_.bids_sent += bids->bids.size();
    if (!leads_) {
      if (has_line_) tell_leader(std::move(word), at);
    } else if (const auto* bids = std::get_if<AgentBids>(&word)) {
      AgentBids own = *bids;
      own.term = led_term_;
      (void)desk_.heard(options_.node, own, at);
    } else if (const auto* lessons = std::get_if<AgentLessons>(&word)) {
      pool_.offer(options_.node, *lessons);
    }
  }
  // Whoever has nothing to say says so, or is taken for gone.
  if (!leads_ && has_line_ && heard_term_ != 0 && at - said_at_ >= kSilentAtMost)
    tell_leader(AgentBids{heard_term_, {}}, at);
}

void LiveAgent::tell_leader(FromAgent message, Time at) {
  said_at_ = at;
  transport_.tell_leader(std::move(message));
}

void LiveAgent::report(NodeReport report, Duration age) {
  const Time at = now();
  report.measured = at - age;
  report.node = options_.node;
  node_world_->report(report, at);
  if (leads_) {
    if (scheduler_) scheduler_->report(report);
    return;
  }
  if (at < next_report_ || !has_line_) return;
  next_report_ = at + options_.report_every;
  tell_leader(AgentReport{std::move(report), age}, at);
}

void LiveAgent::stop(Duration at_most) {
  if (scheduler_) {
    scheduler_->stop(at_most);
    scheduler_.reset();
  }
  bool released = false;
  election_->release([&] { released = true; });
  connection_->run_for(kReleaseWithin, [&] { return released; });
  leads_ = false;
  transport_.lead(false, {0, "", options_.incarnation});
  transport_.unfollow();
}

}  // namespace evenkeel::apps
