// The agents of the distributed scheduler, whoever leads them, in small clusters where everything goes wrong
// between them, the API server and time itself; each from one seed.
//   EVENKEEL_SEED=123 agent_faults_test     replays the one world that failed
//   EVENKEEL_TRACE=app3-1 with it           prints what becomes of everything whose name holds that
//   EVENKEEL_SEEDS=6000 agent_faults_test   more worlds than usual
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>

#include "agent_world.h"
#include "training/in_parallel.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 16;
#else
constexpr std::uint64_t kSeeds = 1000;
#endif
constexpr unsigned kThreads = 2;
constexpr std::size_t kMostTold = 5;    // of one world: what follows the first is often its echo
constexpr std::size_t kMostFailed = 3;  // worlds: then the others need not be tried

struct Sums {
  SchedulerJudge::Counts counts;
  AgentWorld::Troubles troubles;
  AgentWorld::Figures figures;
  AgentNetwork::Counts network;
  std::uint64_t plots[3] = {};

  void add(const AgentWorld& world);
  void print() const;
};

void Sums::add(const AgentWorld& world) {
  ++plots[static_cast<std::size_t>(world.plot())];
  const auto& c = world.counts();
  for (auto member : {&SchedulerJudge::Counts::decisions, &SchedulerJudge::Counts::bindings,
                      &SchedulerJudge::Counts::conflicts, &SchedulerJudge::Counts::preemptions,
                      &SchedulerJudge::Counts::excused, &SchedulerJudge::Counts::leaders,
                      &SchedulerJudge::Counts::fenced, &SchedulerJudge::Counts::done_late})
    counts.*member += c.*member;
  using Troubles = AgentWorld::Troubles;
  for (auto member :
       {&Troubles::kills, &Troubles::leader_kills, &Troubles::teams_killed, &Troubles::last_ones,
        &Troubles::power_cuts, &Troubles::pauses, &Troubles::leader_pauses, &Troubles::partitions,
        &Troubles::one_way, &Troubles::api_cuts, &Troubles::clocks_set, &Troubles::slow_agents,
        &Troubles::left_waiting})
    troubles.*member += world.troubles().*member;
  using Figures = AgentWorld::Figures;
  for (auto member :
       {&Figures::terms_led, &Figures::claims, &Figures::beats_heard, &Figures::bids, &Figures::questions,
        &Figures::reports, &Figures::by_all, &Figures::by_quorum, &Figures::by_deadline, &Figures::by_nobody,
        &Figures::foreign_term, &Figures::impostor_words, &Figures::failovers})
    figures.*member += world.figures().*member;
  figures.slowest_failover = std::max(figures.slowest_failover, world.figures().slowest_failover);
  figures.slowest_binding = std::max(figures.slowest_binding, world.figures().slowest_binding);
  using Network = AgentNetwork::Counts;
  for (auto member : {&Network::messages, &Network::refused, &Network::broken, &Network::timed_out,
                      &Network::wrong_node, &Network::cut_off, &Network::turned_away})
    network.*member += world.network_counts().*member;
}

void Sums::print() const {
  const auto say = [](const char* name, std::uint64_t value) {
    std::printf("%s %llu, ", name, static_cast<unsigned long long>(value));
  };
  say("storms", plots[0]);
  say("failover worlds", plots[1]);
  say("fair worlds", plots[2]);
  std::printf("\n  ");
  say("decisions", counts.decisions);
  say("bindings", counts.bindings);
  say("conflicts", counts.conflicts);
  say("preemptions", counts.preemptions);
  say("excused", counts.excused);
  say("changes of leader", counts.leaders);
  say("fenced", counts.fenced);
  say("done late", counts.done_late);
  say("left waiting", troubles.left_waiting);
  std::printf("\n  ");
  say("kills", troubles.kills);
  say("of leaders", troubles.leader_kills);
  say("with deputies", troubles.teams_killed);
  say("all but one", troubles.last_ones);
  say("power cuts", troubles.power_cuts);
  say("pauses", troubles.pauses);
  say("of leaders", troubles.leader_pauses);
  say("partitions", troubles.partitions);
  say("one way", troubles.one_way);
  say("cut from the server", troubles.api_cuts);
  say("clocks set", troubles.clocks_set);
  say("slow agents", troubles.slow_agents);
  std::printf("\n  ");
  say("terms led", figures.terms_led);
  say("claims", figures.claims);
  say("beats", figures.beats_heard);
  say("bids", figures.bids);
  say("questions", figures.questions);
  say("reports", figures.reports);
  say("by all", figures.by_all);
  say("by quorum", figures.by_quorum);
  say("by deadline", figures.by_deadline);
  say("by a rule", figures.by_nobody);
  say("of foreign terms", figures.foreign_term);
  say("impostor's words", figures.impostor_words);
  std::printf("\n  ");
  say("messages", network.messages);
  say("refused", network.refused);
  say("broken", network.broken);
  say("timed out", network.timed_out);
  say("wrong node", network.wrong_node);
  say("cut off", network.cut_off);
  say("turned away", network.turned_away);
  std::printf("\n  ");
  say("failovers", figures.failovers);
  std::printf("the slowest %.2f s; the slowest binding of fair worlds %.3f s\n",
              to_seconds(figures.slowest_failover), to_seconds(figures.slowest_binding));
}

TEST(Agents, HoldWhateverGoesWrong) {
  const char* const only = std::getenv("EVENKEEL_SEED");
  const char* const many = std::getenv("EVENKEEL_SEEDS");
  const std::uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only ? first : many ? std::strtoull(many, nullptr, 10) : kSeeds;
  Sums all;
  std::mutex mutex;
  std::size_t failed = 0;
  training::in_parallel(last - first + 1, kThreads, [&](std::size_t i) {
    {
      const std::lock_guard lock(mutex);
      if (failed >= kMostFailed) return;
    }
    const std::uint64_t seed = first + i;
    AgentWorld world(seed);
    if (const char* subject = std::getenv("EVENKEEL_TRACE")) world.trace(subject);
    world.run();
    const std::lock_guard lock(mutex);
    all.add(world);
    const auto violations = world.violations();
    if (violations.empty()) return;
    ++failed;
    for (std::size_t told = 0; told < std::min(kMostTold, violations.size()); ++told)
      ADD_FAILURE() << "seed " << seed << ": " << violations[told];
    if (only)
      for (const std::string& line : world.log()) std::printf("%s\n", line.c_str());
    ADD_FAILURE() << "replay it with EVENKEEL_SEED=" << seed << " agent_faults_test";
  });
  all.print();
  if (only || failed > 0) return;
  // A test in which nothing went wrong would say nothing.
  const std::uint64_t worlds = last - first + 1;
  EXPECT_GT(all.counts.bindings, 10 * worlds);
  EXPECT_GT(all.counts.leaders, 2 * worlds);
  EXPECT_GT(all.troubles.kills, worlds);
  EXPECT_GT(all.troubles.leader_kills, worlds);
  EXPECT_GT(all.troubles.partitions, worlds / 2);
  EXPECT_GT(all.figures.claims, worlds / 2);
  EXPECT_GT(all.figures.bids, 10 * worlds);
  EXPECT_GT(all.figures.by_nobody, worlds);
  EXPECT_GT(all.figures.failovers, worlds / 5);
  EXPECT_GE(all.counts.fenced, worlds / 200);
  EXPECT_GE(all.network.wrong_node, worlds / 10);
  if (worlds < 500) return;  // too rare to be asked for in the few worlds that sanitizers see
  EXPECT_GT(all.troubles.pauses, worlds / 2);
  EXPECT_GT(all.troubles.api_cuts, worlds / 4);
}

}  // namespace
}  // namespace evenkeel::faults
