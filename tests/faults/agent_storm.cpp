// Worlds of agents in which everything goes wrong, and the calm after it.
#include <algorithm>
#include <utility>

#include "agent_world.h"
#include "base/check.h"
#include "cluster_facts.h"
#include "live_world.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;
namespace types = kubernetes::types;

constexpr Duration kCalm = 60s, kFreshOne = 15s;

}  // namespace

void AgentWorld::run_storm() {
  server_.storage().changed = [this, before = server_.storage().changed](Kind& kind, const Change& change) {
    before(kind, change);
    if (&kind == &server_.kind(types::nodes())) nodes_changed(change);
  };
  load_.set_up();
  if (random_.chance(0.9)) network_.weather = Weather::drawn(random_);
  if (random_.chance(0.8)) agent_network_.weather = AgentWeather::drawn(random_);
  network_.max_tries = 1 + static_cast<int>(random_.below(8));
  const Time storm_ends = clock_.now() + from_seconds(random_.between(20, 70));
  load_.go_on_until(storm_ends);
  plan_trouble(storm_ends);
  if (random_.chance(0.2)) be_impostor();
  run_until(storm_ends);
  end_well();
}

// Where a node comes an agent comes soon, and where one goes it may go too: or it stays, and stands for
// nothing.
void AgentWorld::nodes_changed(const Change& change) {
  if (is_calm_ && change.before) return;
  if (!change.before) restart_later(change.after->key, 0, 4);
  if (change.after || random_.chance(0.4)) return;
  clock_.after(from_seconds(random_.between(0, 5)), [this, node = change.before->key] {
    Process* const process = agent_of(node);
    if (process != nullptr && !server_.kind(types::nodes()).objects.contains(node)) doom(process->name);
  });
}

void AgentWorld::plan_trouble(Time until) {
  const Time next = clock_.now() + from_seconds(random_.exponential(5));
  if (next >= until) return;
  clock_.at(next, [this, until] {
    trouble();
    plan_trouble(until);
  });
}

void AgentWorld::trouble() {
  const double dice = random_.uniform();
  if (dice < 0.05) return server_.compact();
  if (dice < 0.12) return network_.restart(from_seconds(random_.between(0.1, 12)));
  if (dice < 0.2) {
    network_.weather = Weather::drawn(random_);
    agent_network_.weather = AgentWeather::drawn(random_);
    return;
  }
  if (dice < 0.4) return trouble_network();
  if (!processes_.empty()) trouble_processes(random_.uniform());
}

void AgentWorld::trouble_network() {
  std::set<std::string> some, others;
  for (const auto& process : processes_) (random_.chance(0.5) ? some : others).insert(process->node);
  const Process* const first = leader();
  switch (random_.below(5)) {
    case 0:  // the leader is alone
      if (first == nullptr) return;
      some = {first->node};
      others.clear();
      for (const auto& process : processes_) others.insert(process->node);
      break;
    case 1:  // everybody is
      others.insert(some.begin(), some.end());
      some = others;
      break;
    case 2:  // heard, but not hearing, or the other way round
      ++troubles_.one_way;
      for (const std::string& one : some)
        for (const std::string& other : others) agent_network_.cut(one, other);
      some.clear();
      break;
    default:
      break;
  }
  ++troubles_.partitions;
  agent_network_.cut_between(some, others);
  clock_.after(from_seconds(random_.between(0.5, 20)), [this] { agent_network_.heal(); });
}

void AgentWorld::pause(Process& process, double longest) {
  if (process.connection->is_paused()) return;
  ++troubles_.pauses;
  troubles_.leader_pauses += process.name == judge_.leader() ? 1 : 0;
  process.connection->pause();
  clock_.after(from_seconds(random_.between(0.2, longest)), [this, name = process.name] {
    if (Process* const still = named(name)) still->connection->resume();
  });
}

void AgentWorld::trouble_processes(double dice) {
  Process* const first = leader();
  Process& chosen = *processes_[random_.below(processes_.size())];
  const auto take_down = [this](const Process& process, double back_after) {
    ++troubles_.kills;
    if (random_.chance(0.2)) {
      ++troubles_.power_cuts;
      agent_network_.power_off(process.node);
    }
    doom(process.name);
    restart_later(process.node, 0, back_after);
  };
  if (dice < 0.2) return take_down(chosen, 10);
  if (dice < 0.4) {
    if (first == nullptr) return;
    ++troubles_.leader_kills;
    const bool with_deputies = random_.chance(0.3);
    troubles_.teams_killed += with_deputies ? 1 : 0;
    for (const auto& process : processes_)
      if (with_deputies && process->agent->is_deputy()) take_down(*process, 15);
    return take_down(*first, 15);
  }
  if (dice < 0.45) {
    ++troubles_.last_ones;
    for (const auto& process : processes_)
      if (process.get() != &chosen) take_down(*process, 20);
    return;
  }
  if (dice < 0.65) return pause(random_.chance(0.5) && first != nullptr ? *first : chosen, 20);
  const std::string name = chosen.name;
  if (dice < 0.75) {
    ++troubles_.slow_agents;
    chosen.line->be_slow(from_seconds(random_.between(0.002, 0.3)));
    clock_.after(from_seconds(random_.between(1, 20)), [this, name] {
      if (Process* const still = named(name)) still->line->be_slow({});
    });
  } else if (dice < 0.85) {
    ++troubles_.clocks_set;
    chosen.connection->set_ahead(from_seconds(random_.between(-10000, 10000)));
  } else if (dice < 0.95) {
    // Its way to the server is cut, the one to the others is not.
    Process& cut = random_.chance(0.5) && first != nullptr ? *first : chosen;
    ++troubles_.api_cuts;
    cut.connection->cut_off();
    clock_.after(from_seconds(random_.between(0.5, 15)), [this, of = cut.name] {
      if (Process* const still = named(of)) still->connection->reconnect();
    });
  } else {
    chosen.has_sensors = !chosen.has_sensors;
    if (chosen.has_sensors) plan_report(name);
  }
}

// Somebody with a certificate of a node's, but not of the one it speaks for, or of none that is there.
void AgentWorld::be_impostor() {
  impostor_process_ = std::make_unique<SimulatedConnection>(network_, "impostor");
  impostor_ = std::make_unique<SimulatedAgentLine>(agent_network_, *impostor_process_, "stranger", 1);
  impostor_->start({});
  const auto speak = [this](const auto& again) -> void {
    clock_.after(from_seconds(random_.between(0.05, 1)), [this, again] {
      if (is_calm_) return impostor_->unfollow();
      again(again);
      const Process* const first = leader();
      if (first == nullptr || !impostor_) return;
      AgentHello hello;
      hello.node = random_.chance(0.5) ? "node-0" : "stranger";
      hello.term = static_cast<Term>(judge_.term());
      impostor_->follow({first->node, first->line->address(), random_.bits()}, hello);
      AgentBids bids{static_cast<Term>(judge_.term()), {}};
      for (const auto& [key, pod] : server_.kind(types::pods()).objects)
        bids.bids.push_back({pod_key(pod->uid), BidVerdict::accept, 1e9F, 0});
      impostor_->tell_leader(bids);
      AgentReport report;
      report.report.node = "node-0";
      report.report.total[Dimension::cpu] = 1e6;
      impostor_->tell_leader(report);
      impostor_->tell_leader(AgentLessons{{static_cast<Term>(judge_.term()), 1}, 1000000, {1e30F, 2, 3}});
      ++figures_.impostor_words;
    });
  };
  speak(speak);
}

void AgentWorld::end_well() {
  is_calm_ = true;
  network_.weather = {};
  network_.max_tries = 8;
  agent_network_.weather = {};
  agent_network_.heal();
  load_.settle();
  cluster_.calm_down();
  for (const auto& process : processes_) {
    process->connection->resume();
    process->connection->reconnect();
    process->line->be_slow({});
  }
  std::vector<std::string> nodes;
  for (const auto& [name, node] : server_.kind(types::nodes()).objects) nodes.push_back(name);
  const bool is_lonely = random_.chance(0.2), is_cut = !is_lonely && random_.chance(0.2);
  // One agent alone, wherever it is, or many that hear nothing of each other.
  const std::string last = nodes[random_.below(nodes.size())];
  for (const std::string& node : nodes)
    if (is_lonely && node != last) without_.insert(node);
  for (const auto& process : processes_)
    if (without_.contains(process->node)) doom(process->name);
  if (is_cut) agent_network_.cut_between({nodes.begin(), nodes.end()}, {nodes.begin(), nodes.end()});
  for (const std::string& node : nodes) restart_later(node, 0, 3);
  // What is under way still, from before, ends within the calm.
  run_for(kCalm);
  Process* const first = leader();
  if (first == nullptr || !first->agent->leading()) {
    judge_.accuse("nobody leads after the calm");
  } else {
    for (const auto& kind : first->agent->scheduler()->world().follows())
      if (!kind->synced())
        judge_.accuse(first->name + " has not listed " + kind->type().plural + " after the calm");
    check_beliefs(*first->agent->scheduler(), server_, judge_);
    if (!is_cut) check_team();
  }
  check_with_a_fresh_one();
}

// Everybody has found the leader, and it everybody.
void AgentWorld::check_team() {
  const Process* const first = leader();
  const std::vector<std::string> known = first->agent->desk().agents();
  std::set<std::string> expected, found(known.begin(), known.end());
  found.insert(first->node);
  for (const auto& process : processes_) {
    expected.insert(process->node);
    if (process->agent->term() != judge_.term())
      judge_.accuse(process->name + " believes in term " + std::to_string(process->agent->term()) + " of " +
                    std::to_string(judge_.term()) + " after the calm");
    if (process.get() != first && process->agent->leading()) judge_.accuse(process->name + " leads too");
  }
  for (const auto& process : processes_) check_member(*process);
  found.erase("stranger");
  if (found != expected) judge_.accuse("after the calm the leader knows other agents than there are");
  const std::size_t deputies = std::min(options_.succession.deputies, processes_.size() - 1);
  if (this->deputies().size() != deputies)
    judge_.accuse(std::to_string(this->deputies().size()) + " deputies of " + std::to_string(deputies) +
                  " stand ready after the calm");
}

// What an agent believes of its own node is what is true.
void AgentWorld::check_member(const Process& process) {
  const ClusterState& cluster = process.agent->agent().cluster();
  std::set<std::string> believed, truth;
  if (const auto own = cluster.node_named(process.node))
    for (const PodId pod : cluster.pods_on(*own)) believed.insert(cluster.pod(pod)->pod.full_name());
  for (const StoredPtr& pod : pods_on(server_.kind(types::pods()).objects, process.node))
    truth.insert(pod->key);
  if (believed == truth) return;
  std::string names;
  for (const std::string& name : believed)
    if (!truth.contains(name)) names += " believed: " + name;
  for (const std::string& name : truth)
    if (!believed.contains(name)) names += " unknown: " + name;
  judge_.accuse(process.name + " believes something else of its node after the calm:" + names);
}

void AgentWorld::check_with_a_fresh_one() {
  cluster_.freeze();
  while (!processes_.empty()) kill(processes_.back()->name);
  judge_.end_election();
  std::set<std::string> waited;
  for (const auto& [key, pod] : server_.kind(types::pods()).objects)
    if (node_of(*pod).empty()) waited.insert(key);
  troubles_.left_waiting = waited.size();
  SimulatedConnection connection(network_, "fresh");
  apps::LiveOptions options = options_.scheduler;
  options.observer = &judge_.observer(connection);
  auto fresh = apps::LiveScheduler::open(connection, std::move(options));
  EVENKEEL_CHECK(fresh);
  const Time end = clock_.now() + kFreshOne;
  while (clock_.now() < end) (*fresh)->turn(std::min(end, clock_.next().value_or(end)));
  for (const std::string& key : waited) {
    const auto found = server_.kind(types::pods()).objects.find(key);
    if (found != server_.kind(types::pods()).objects.end() && !node_of(*found->second).empty())
      judge_.accuse("left waiting though " + node_of(*found->second) + " would take it: " + key);
  }
}

}  // namespace evenkeel::faults
