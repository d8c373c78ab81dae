// Worlds of agents in fine weather: how soon pods are bound, and how soon after the leader is no more.
#include <algorithm>
#include <utility>

#include "agent_world.h"
#include "cluster_facts.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;
namespace types = kubernetes::types;

constexpr Duration kFirstLeader = 8s;       // from the start of all agents to their first binding
constexpr Duration kNextBinding = 2s;       // after the leader's process ended, with a deputy that lives
constexpr Duration kNextWithoutProof = 8s;  // the Lease has to run out first, and somebody to see all of it
constexpr Duration kSoon = 1s;              // from a pod's making to its binding, in a team at work

}  // namespace

void AgentWorld::be_calm_cluster(std::size_t nodes) {
  for (const char* name : {"default", "kube-system"})
    server_.storage().create(server_.kind(types::namespaces()), {{"metadata", {{"name", name}}}},
                             clock_.now());
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::string name = "node-" + std::to_string(i);
    cluster_.set_node({{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
                       {"spec", json::object()},
                       {"status",
                        {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}},
                         {"allocatable", {{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "500"}}}}}});
    start_agent(name);
  }
}

void AgentWorld::make_pod(const std::string& name) {
  server_.storage().create(
      server_.kind(types::pods()),
      {{"metadata", {{"namespace", "default"}, {"name", name}}},
       {"spec",
        {{"schedulerName", kSchedulerName},
         {"containers",
          {{{"name", "main"}, {"resources", {{"requests", {{"cpu", "10m"}, {"memory", "16Mi"}}}}}}}}}},
       {"status", {{"phase", "Pending"}}}},
      clock_.now());
  made_["default/" + name] = clock_.now();
}

void AgentWorld::stream_pods(Time until) {
  const Time next = clock_.now() + from_seconds(random_.exponential(0.08));
  if (next >= until) return;
  clock_.at(next, [this, until] {
    make_pod("pod-" + std::to_string(++pods_made_));
    stream_pods(until);
  });
}

void AgentWorld::bound(const std::string& process, const Stored& pod) {
  const auto made = made_.find(pod.key);
  if (made == made_.end()) return;
  const Duration took = clock_.now() - made->second;
  made_.erase(made);
  if (plot_ == Plot::fair && clock_.now().time_since_epoch() > 0s) {
    figures_.slowest_binding = std::max(figures_.slowest_binding, took);
    if (took > kSoon && !expected_)
      judge_.accuse(pod.key + " was bound " + std::to_string(to_seconds(took)) + " s after it was made");
  }
  // Few at a time is enough.
  clock_.after(3s, [this, key = pod.key] { cluster_.delete_pod(key, 0s); });
  if (!expected_ || process == expected_->not_from) return;
  const Duration waited = clock_.now() - expected_->since;
  if (expected_->has_deputy) {
    ++figures_.failovers;
    figures_.slowest_failover = std::max(figures_.slowest_failover, waited);
  }
  if (clock_.now() > expected_->by)
    judge_.accuse("the next binding came " + std::to_string(to_seconds(waited)) + " s after " +
                  expected_->after);
  expected_.reset();
}

void AgentWorld::expect_a_binding(Duration within, const std::string& after) {
  const Process* const first = leader();
  expected_ = Expectation{clock_.now(), clock_.now() + within, first != nullptr ? first->name : "", after,
                          within == kNextBinding};
}

// What befalls the leader, and how soon the next binding must come. Nothing: nobody leads.
std::optional<Duration> AgentWorld::trouble_leader() {
  Process* const first = leader();
  if (first == nullptr || expected_) return std::nullopt;
  std::vector<Process*> ready = deputies();
  std::erase_if(ready, [](const Process* one) { return one->connection->is_paused(); });
  const double dice = random_.uniform();
  const std::string node = first->node;
  if (dice < 0.15) {
    ++troubles_.leader_pauses;
    expect_a_binding(kNextWithoutProof, first->name + " was stopped");
    const std::string name = first->name;
    first->connection->pause();
    clock_.after(from_seconds(random_.between(5, 10)), [this, name] {
      if (Process* const still = named(name)) still->connection->resume();
    });
    return kNextWithoutProof;
  }
  if (dice < 0.25) {
    ++troubles_.power_cuts;
    expect_a_binding(kNextWithoutProof, first->name + " lost its power");
    agent_network_.power_off(node);
    doom(first->name);
    restart_later(node, 5, 9);
    return kNextWithoutProof;
  }
  ++troubles_.leader_kills;
  // Deputies with it: one of them, or all.
  const std::size_t with = dice < 0.7 || ready.empty() ? 0 : dice < 0.9 ? 1 : ready.size();
  const Duration within = ready.size() > with ? kNextBinding : kNextWithoutProof;
  troubles_.teams_killed += with > 0 ? 1 : 0;
  expect_a_binding(within, first->name + " was killed, with " + std::to_string(with) + " of " +
                               std::to_string(ready.size()) + " deputies");
  for (std::size_t i = 0; i < with; ++i) {
    doom(ready[i]->name);
    restart_later(ready[i]->node, 2.5, 6);
  }
  doom(first->name);
  restart_later(node, 2.5, 6);
  return within;
}

void AgentWorld::run_failover() {
  const Time end = clock_.now() + 50s;
  be_calm_cluster(3 + random_.below(5));
  expect_a_binding(kFirstLeader, "the start");
  stream_pods(end - 10s);
  run_for(kFirstLeader + 3s);
  while (clock_.now() < end - 16s) {
    trouble_leader();
    run_for(from_seconds(random_.between(4, 8)));
  }
  run_until(end);
  if (expected_) judge_.accuse("no binding came after " + expected_->after);
  for (const auto& [key, when] : made_) judge_.accuse("lost: " + key);
}

void AgentWorld::run_fair() {
  const Time end = clock_.now() + 40s;
  const std::size_t nodes = 1 + random_.below(7);
  be_calm_cluster(nodes);
  run_for(kFirstLeader);
  stream_pods(end - 3s);
  // Members come and go, which is nobody's trouble.
  for (int i = 0; i < 4; ++i) {
    run_for(from_seconds(random_.between(2, 6)));
    for (const auto& process : processes_) {
      if (process->name == judge_.leader() || random_.chance(0.6)) continue;
      ++troubles_.kills;
      doom(process->name);
      restart_later(process->node, 0, 2);
      break;
    }
  }
  run_until(end);
  for (const auto& [key, when] : made_) judge_.accuse("lost: " + key);
}

}  // namespace evenkeel::faults
