#include "live_world.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "base/check.h"
#include "cluster_facts.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;
namespace types = kubernetes::types;

constexpr Time kStart{1'800'000'000s};
constexpr Duration kCalm = 150s;
constexpr std::size_t kMostLog = 400;

SchedulerJudge::Options judge_options(bool elects, bool expects_truth) {
  SchedulerJudge::Options options;
  options.scheduler_name = LiveWorld::kSchedulerName;
  options.elects = elects;
  options.expects_truth = expects_truth;
  return options;
}

}  // namespace

void check_beliefs(const apps::LiveScheduler& live, SimulatedApiServer& server, SchedulerJudge& judge) {
  const ClusterState& cluster = live.scheduler().cluster();
  const auto& pods = server.kind(types::pods()).objects;
  std::size_t counted = 0;
  for (const auto& [name, node] : server.kind(types::nodes()).objects) {
    const auto id = cluster.node_named(name);
    if (!id) {
      judge.accuse("after the calm nobody knows " + name);
      continue;
    }
    std::set<std::string> believed, truth;
    for (const PodId pod : cluster.pods_on(*id)) {
      const PodRecord* record = cluster.pod(pod);
      if (record->place == PodPlace::assumed)
        judge.accuse("neither confirmed nor forgotten after the calm: " + record->pod.full_name());
      believed.insert(record->pod.full_name());
    }
    for (const StoredPtr& pod : pods_on(pods, name)) truth.insert(pod->key);
    if (believed != truth) judge.accuse("what runs on " + name + " after the calm is not what is believed");
    ++counted;
  }
  if (cluster.node_count() != counted) judge.accuse("nodes are believed in that are gone");
  if (live.world().outstanding() != 0) judge.accuse("writes without an end after the calm");
}

LiveWorld::LiveWorld(std::uint64_t seed)
    : seed_(seed),
      random_(Random(seed).fork("world")),
      clock_(kStart),
      server_(clock_),
      cluster_(server_, Random(seed).fork("cluster")),
      network_(server_, Random(seed).fork("network")),
      elects_(random_.chance(0.6)),
      instances_(elects_ ? 1 + random_.below(2) : 1),
      traits_(ClusterLoad::Traits::drawn(random_)),
      judge_(network_, judge_options(elects_, false)),
      load_(cluster_, server_, Random(seed).fork("load"), traits_, kSchedulerName) {}

LiveWorld::~LiveWorld() = default;

void LiveWorld::trace(const std::string& subject) {
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

void LiveWorld::start_process(bool elects) {
  auto process = std::make_unique<Process>();
  const std::string name = "process-" + std::to_string(++started_);
  process->connection = std::make_unique<SimulatedConnection>(network_, name);
  apps::LiveOptions options;
  options.configuration.profiles = {kubernetes::default_profile()};
  options.configuration.profiles.front().scheduler_name = kSchedulerName;
  if (elects) options.identity = name;
  options.seed = seed_ + static_cast<std::uint64_t>(started_);
  options.observer = &judge_.observer(*process->connection);
  options.log = [this, name](const std::string& line) {
    if (log_.size() < kMostLog)
      log_.push_back(std::to_string(to_seconds(clock_.now() - kStart)) + " " + name + ": " + line);
  };
  prepare_(options);
  auto opened = apps::LiveScheduler::open(*process->connection, std::move(options));
  EVENKEEL_CHECK(opened);
  process->scheduler = *std::move(opened);
  processes_.push_back(std::move(process));
}

void LiveWorld::kill(std::size_t process) {
  ++troubles_.kills;
  // The connection first: nothing a destructor might still say is heard.
  processes_[process]->connection->pause();
  processes_[process]->scheduler.reset();
  processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(process));
}

void LiveWorld::run_until(Time end) {
  while (clock_.now() < end) {
    const Time step = std::min(end, clock_.next().value_or(end));
    bool anybody_runs = false;
    // By index: a turn lets time go on, and with it others may start.
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (processes_[i]->connection->is_paused()) continue;
      anybody_runs = true;
      processes_[i]->scheduler->turn(step);
      turned_(*processes_[i]->scheduler);
    }
    if (!anybody_runs) clock_.run_next(step);
    for (const std::size_t process : std::exchange(doomed_, {}))
      if (process < processes_.size()) kill(process);
  }
}

void LiveWorld::plan_trouble(Time until) {
  const Time next = clock_.now() + from_seconds(random_.exponential(20));
  if (next >= until) return;
  clock_.at(next, [this, until] {
    trouble();
    plan_trouble(until);
  });
}

void LiveWorld::trouble() {
  const double dice = random_.uniform();
  if (dice < 0.15) {
    ++troubles_.compactions;
    return server_.compact();
  }
  if (dice < 0.3) return network_.restart(from_seconds(random_.between(0.1, 30)));
  if (dice < 0.5) {
    network_.weather = Weather::drawn(random_);
    return;
  }
  if (processes_.empty()) return;
  const auto chosen = static_cast<std::size_t>(random_.below(processes_.size()));
  if (dice < 0.75) {
    doomed_.push_back(chosen);
    clock_.after(from_seconds(random_.between(0, 20)), [this] { start_process(elects_); });
    return;
  }
  SimulatedConnection& connection = *processes_[chosen]->connection;
  if (connection.is_paused()) return;
  ++troubles_.pauses;
  connection.pause();
  clock_.after(from_seconds(random_.between(1, 60)), [this, name = connection.process()] {
    for (const auto& process : processes_)
      if (process->connection->process() == name) process->connection->resume();
  });
}

void LiveWorld::run() {
  load_.set_up();
  for (std::size_t i = 0; i < instances_; ++i) start_process(elects_);
  if (random_.chance(0.9)) network_.weather = Weather::drawn(random_);
  network_.max_tries = 1 + static_cast<int>(random_.below(8));
  const Time storm_ends = clock_.now() + from_seconds(random_.between(40, 180));
  load_.go_on_until(storm_ends);
  plan_trouble(storm_ends);
  run_until(storm_ends);
  end_well();
}

void LiveWorld::end_well() {
  is_calm_ = true;
  network_.weather = {};
  network_.max_tries = 8;
  load_.settle();
  cluster_.calm_down();
  for (const auto& process : processes_) process->connection->resume();
  // Restarts that are under way, and pauses, end within the calm.
  run_until(clock_.now() + kCalm);
  bool anybody_leads = false;
  for (const auto& process : processes_) {
    if (!process->scheduler->leading()) continue;
    anybody_leads = true;
    check_beliefs(*process->scheduler, server_, judge_);
  }
  if (!anybody_leads) judge_.accuse("nobody leads after the calm");
  check_with_a_fresh_one();
}

void LiveWorld::check_with_a_fresh_one() {
  cluster_.freeze();
  while (!processes_.empty()) kill(processes_.size() - 1);
  judge_.end_election();
  std::set<std::string> waited;
  for (const auto& [key, pod] : server_.kind(types::pods()).objects)
    if (node_of(*pod).empty()) waited.insert(key);
  troubles_.left_waiting = waited.size();
  start_process(false);
  run_until(clock_.now() + 20s);
  for (const std::string& key : waited) {
    const auto found = server_.kind(types::pods()).objects.find(key);
    if (found != server_.kind(types::pods()).objects.end() && !node_of(*found->second).empty())
      judge_.accuse("left waiting though " + node_of(*found->second) + " would take it: " + key);
  }
  processes_.clear();
}

}  // namespace evenkeel::faults
