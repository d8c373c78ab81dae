#include "agent_world.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/check.h"
#include "cluster_facts.h"
#include "scheduling/policies/marl_brain.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;
namespace types = kubernetes::types;

constexpr Time kStart{1'800'000'000s};
constexpr std::size_t kMostLog = 600;
constexpr Duration kTurn = 100us;  // from one turn of an agent to its next, where there is more to do

AgentWorld::Plot drawn_plot(Random& random) {
  const double dice = random.uniform();
  return dice < 0.8    ? AgentWorld::Plot::storm
         : dice < 0.92 ? AgentWorld::Plot::failover
                       : AgentWorld::Plot::fair;
}

ClusterLoad::Traits drawn_traits(Random& random) {
  ClusterLoad::Traits traits = ClusterLoad::Traits::drawn(random);
  traits.machines = 1 + random.below(7);
  return traits;
}

SchedulerJudge::Options judge_options(bool is_fenced) {
  SchedulerJudge::Options options;
  options.scheduler_name = AgentWorld::kSchedulerName;
  options.elects = options.has_terms = true;
  options.is_fenced = is_fenced;
  options.lease = apps::LiveAgentOptions{}.lease;
  return options;
}

}  // namespace

AgentWorld::AgentWorld(std::uint64_t seed)
    : seed_(seed),
      random_(Random(seed).fork("agents' world")),
      clock_(kStart),
      server_(clock_),
      cluster_(server_, Random(seed).fork("cluster")),
      network_(server_, Random(seed).fork("network")),
      agent_network_(clock_, Random(seed).fork("agents' network")),
      plot_(drawn_plot(random_)),
      is_fenced_(random_.chance(0.6)),
      traits_(drawn_traits(random_)),
      judge_(network_, judge_options(is_fenced_)),
      load_(cluster_, server_, Random(seed).fork("load"), traits_, kSchedulerName) {
  server_.admits_binding = [this](const json& binding) { return judge_.fence(binding); };
  judge_.lives = [this](const std::string& process) { return named(process) != nullptr; };
  judge_.bound = [this](const std::string& process, const Stored& pod) { bound(process, pod); };
  draw_options();
}

AgentWorld::~AgentWorld() {
  while (!processes_.empty()) kill(processes_.back()->name);
}

void AgentWorld::draw_options() {
  options_.scheduler.configuration.profiles = {kubernetes::default_profile()};
  options_.scheduler.configuration.profiles.front().scheduler_name = kSchedulerName;
  const std::size_t few = random_.below(4);
  options_.tells_beyond = few == 0 ? 0 : few == 1 ? 3 : 64;
  options_.asks_all_up_to = random_.chance(0.3) ? 1 : 100;
  options_.sample = 1 + random_.below(4);
  options_.desk.quorum = random_.between(0.3, 1);
  // These worlds have few nodes: what is a crowd elsewhere hardly comes together here.
  options_.desk.crowd = seed_ % 3 == 0 ? 16 : 1 + seed_ % 5;
  options_.desk.crowd_sample = 1 + seed_ % 4;
  options_.agent.learns = random_.chance(0.5);
  if (random_.chance(0.8)) {
    const scheduling::MarlBrain brain(scheduling::shared_brain(), random_);
    options_.model = std::make_shared<const learning::Model>(
        scheduling::marl_model(scheduling::shared_brain(), {brain.network("agent")}));
  }
  options_.succession.deputies = plot_ == Plot::failover ? 1 + random_.below(3) : random_.below(4);
  clocks_are_skewed_ = random_.chance(0.5);
  agent_network_.patience = from_seconds(random_.between(2, 40));
  agent_network_.dial_patience = from_seconds(random_.between(1, 6));
  // Agents that are timid, all of them; or not as they should be.
  const double dice = random_.uniform();
  if (dice < 0.15) {
    agent_network_.said = [reject = dice < 0.1](const std::string&, FromAgent& message) {
      if (auto* bids = std::get_if<AgentBids>(&message))
        for (Bid& bid : bids->bids) bid.verdict = reject ? BidVerdict::reject : BidVerdict::abstains;
    };
  } else if (dice < 0.25) {
    say_odd_things();
  }
}

void AgentWorld::say_odd_things() {
  agent_network_.said = [random = random_.fork("oddities")](const std::string&, FromAgent& message) mutable {
    auto* bids = std::get_if<AgentBids>(&message);
    if (bids == nullptr) return;
    if (random.chance(0.05)) bids->term += 1 + static_cast<Term>(random.below(3));
    for (Bid& bid : bids->bids) {
      const std::uint64_t what = random.below(12);
      if (what == 0) bid.score = std::numeric_limits<float>::quiet_NaN();
      if (what == 1) bid.score = std::numeric_limits<float>::infinity();
      if (what == 2) bid.awards += 1000;
      if (what == 3) bid.verdict = static_cast<BidVerdict>(random.below(4));
      if (what == 4) bid.pod.bytes[0] ^= 1;  // nobody's
      if (what == 5) bid.awards = 0;
    }
  };
}

void AgentWorld::trace(const std::string& subject) {
  const auto say = [this](const std::string& line) {
    std::printf("%.6f %s\n", to_seconds(clock_.now() - kStart), line.c_str());
  };
  server_.storage().changed = [subject, say, before = server_.storage().changed](Kind& kind,
                                                                                 const Change& change) {
    before(kind, change);
    const StoredPtr& object = change.after ? change.after : change.before;
    if (object->key.find(subject) == std::string::npos) return;
    std::string what = kind.type.kind + " " + object->key + " " + object->uid;
    what += !change.after ? " is gone" : !change.before ? " is made" : " changes";
    if (change.after) what += ": " + change.after->object.dump();
    say(what);
  };
  network_.answered = [subject, say, before = network_.answered](SimulatedConnection& connection,
                                                                 const auto& request, const auto& answer) {
    before(connection, request, answer);
    if (request.path.find(subject) == std::string::npos) return;
    say(connection.process() + " hears of " + request.method + " " + request.path + " " + request.body +
        ": " + std::to_string(answer.code) + " " + answer.status.message);
  };
}

AgentWorld::Process* AgentWorld::named(const std::string& process) {
  for (const auto& one : processes_)
    if (one->name == process) return one.get();
  return nullptr;
}

AgentWorld::Process* AgentWorld::agent_of(const std::string& node) {
  for (const auto& one : processes_)
    if (one->node == node) return one.get();
  return nullptr;
}

AgentWorld::Process* AgentWorld::leader() { return named(judge_.leader()); }

std::vector<AgentWorld::Process*> AgentWorld::deputies() {
  std::vector<Process*> ready;
  for (const auto& one : processes_)
    if (one->agent->is_deputy() && one->name != judge_.leader() && one->agent->scheduler() != nullptr &&
        one->agent->scheduler()->synced())
      ready.push_back(one.get());
  return ready;
}

void AgentWorld::start_agent(const std::string& node, std::optional<int> wanted) {
  if (agent_of(node) != nullptr || without_.contains(node)) return;
  agent_network_.power_on(node);
  auto process = std::make_unique<Process>();
  const std::string name = "agent-" + std::to_string(++started_) + "@" + node;
  process->name = name;
  process->node = node;
  process->connection = std::make_unique<SimulatedConnection>(network_, name);
  if (clocks_are_skewed_) {
    process->connection->skew(random_.between(0.99, 1.01));
    process->connection->set_ahead(from_seconds(random_.between(-7200, 7200)));
  }
  const int drawn = 9473 + (random_.chance(0.5) ? 0 : started_);
  const int port = wanted.value_or(drawn);
  process->line = std::make_unique<SimulatedAgentLine>(agent_network_, *process->connection, node, port);
  apps::LiveAgentOptions options = options_;
  options.node = node;
  options.incarnation = random_.bits();
  options.seed = options.scheduler.seed = seed_ + static_cast<std::uint64_t>(started_);
  options.scheduler.observer = &judge_.observer(*process->connection);
  options.scheduler.log = [this, name](const std::string& line) {
    if (log_.size() < kMostLog)
      log_.push_back(std::to_string(to_seconds(clock_.now() - kStart)) + " " + name + ": " + line);
  };
  prepare_(options);
  auto opened = apps::LiveAgent::open(*process->connection, *process->line, std::move(options));
  EVENKEEL_CHECK(opened);
  process->agent = *std::move(opened);
  process->has_sensors = random_.chance(0.9);
  processes_.push_back(std::move(process));
  plan_report(name);
}

void AgentWorld::plan_report(const std::string& process) {
  Process* const one = named(process);
  if (!one->has_sensors) return;
  // By its own timers: they stop with it.
  one->connection->call_after(from_seconds(random_.between(0.8, 1.2)), [this, process] {
    Process* const still = named(process);
    if (still == nullptr) return;
    still->agent->report(sample(*still));
    ++figures_.reports;
    plan_report(process);
  });
}

NodeReport AgentWorld::sample(const Process& process) {
  NodeReport report;
  report.node = process.node;
  report.measured = process.connection->now();
  report.over = 10s;
  for (const StoredPtr& pod : pods_on(server_.kind(types::pods()).objects, process.node)) {
    NodeReport::PodPart part;
    part.uid = pod->uid;
    part.usage[Dimension::cpu] = random_.between(0, 1);
    part.usage[Dimension::memory] = random_.between(0, 1e9);
    report.total += part.usage;
    report.pods.push_back(std::move(part));
  }
  report.total[Dimension::cpu] += random_.between(0, 0.3);
  return report;
}

void AgentWorld::count(const Process& process) {
  const auto& own = process.agent->figures();
  const auto desk = process.agent->desk().figures();
  figures_.terms_led += own.terms_led;
  figures_.claims += own.claims;
  figures_.beats_heard += own.beats_heard;
  figures_.bids += desk.bids;
  figures_.questions += desk.questions;
  figures_.by_all += desk.by_all;
  figures_.by_quorum += desk.by_quorum;
  figures_.by_deadline += desk.by_deadline;
  figures_.by_nobody += desk.by_nobody;
  figures_.foreign_term += desk.foreign_term;
}

void AgentWorld::kill(const std::string& process) {
  const auto found = std::ranges::find(processes_, process, [](const auto& one) { return one->name; });
  if (found == processes_.end()) return;
  std::unique_ptr<Process> dead = std::move(*found);
  processes_.erase(found);
  count(*dead);
  // Its lines first: nothing a destructor might still say is heard.
  dead->connection->pause();
  dead->line->die();
  dead->agent.reset();
}

void AgentWorld::restart_later(const std::string& node, double low, double high) {
  clock_.after(from_seconds(random_.between(low, high)), [this, node] {
    if (server_.kind(types::nodes()).objects.contains(node)) start_agent(node);
  });
}

void AgentWorld::run_until(Time end) {
  while (clock_.now() < end) {
    bool anybody_ran = false;
    // By index: a turn lets time go on, and with it others may start.
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      Process& process = *processes_[i];
      if (process.connection->is_paused()) continue;
      if (!process.connection->take_delivered() && clock_.now() < process.next_turn) continue;
      process.agent->turn(Duration::zero());
      const Duration rest = std::clamp<Duration>(process.agent->rest(), kTurn, 1h);
      process.next_turn = clock_.now() + process.connection->in_truth(rest);
      anybody_ran = true;
    }
    for (const std::string& process : std::exchange(doomed_, {})) kill(process);
    if (anybody_ran) continue;
    Time step = std::min(end, clock_.next().value_or(end));
    for (const auto& process : processes_)
      if (!process->connection->is_paused()) step = std::min(step, process->next_turn);
    clock_.run_next(std::max(step, clock_.now()));
  }
}

void AgentWorld::run() {
  if (plot_ == Plot::failover) run_failover();
  if (plot_ == Plot::fair) run_fair();
  if (plot_ == Plot::storm) run_storm();
  while (!processes_.empty()) kill(processes_.back()->name);
}

}  // namespace evenkeel::faults
