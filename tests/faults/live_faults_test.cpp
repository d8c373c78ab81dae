// The scheduler as users run it, in small clusters where everything goes wrong, each from one seed.
//   EVENKEEL_SEED=123 live_faults_test     replays the one world that failed
//   EVENKEEL_TRACE=app3-1 with it          prints what becomes of everything whose name holds that
//   EVENKEEL_SEEDS=6000 live_faults_test   more worlds than usual
#include <gtest/gtest.h>

#include <cstdlib>

#include "live_world.h"

namespace evenkeel::faults {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 60;
#else
constexpr std::uint64_t kSeeds = 1000;
#endif

constexpr std::size_t kMostTold = 5;  // of one world: what follows the first is often its echo

TEST(LiveScheduler, HoldsWhateverGoesWrong) {
  const char* const only = std::getenv("EVENKEEL_SEED");
  const char* const many = std::getenv("EVENKEEL_SEEDS");
  const std::uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only ? first : many ? std::strtoull(many, nullptr, 10) : kSeeds;
  SchedulerJudge::Counts all;
  LiveWorld::Troubles troubles;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    LiveWorld world(seed);
    if (const char* subject = std::getenv("EVENKEEL_TRACE")) world.trace(subject);
    world.run();
    std::size_t told = 0;
    for (const std::string& violation : world.violations())
      if (++told <= kMostTold) ADD_FAILURE() << violation;
    if (HasFailure()) {
      if (only)
        for (const std::string& line : world.log()) std::printf("%s\n", line.c_str());
      FAIL() << "seed " << seed << "; replay it with EVENKEEL_SEED=" << seed << " live_faults_test";
    }
    all.decisions += world.counts().decisions;
    all.bindings += world.counts().bindings;
    all.conflicts += world.counts().conflicts;
    all.preemptions += world.counts().preemptions;
    all.excused += world.counts().excused;
    all.leaders += world.counts().leaders;
    troubles.kills += world.troubles().kills;
    troubles.pauses += world.troubles().pauses;
    troubles.left_waiting += world.troubles().left_waiting;
  }
  std::printf(
      "decisions %llu, bindings %llu, conflicts %llu, preemptions %llu, excused %llu, leaders %llu, kills "
      "%llu, "
      "pauses %llu, left waiting %llu\n",
      static_cast<unsigned long long>(all.decisions), static_cast<unsigned long long>(all.bindings),
      static_cast<unsigned long long>(all.conflicts), static_cast<unsigned long long>(all.preemptions),
      static_cast<unsigned long long>(all.excused), static_cast<unsigned long long>(all.leaders),
      static_cast<unsigned long long>(troubles.kills), static_cast<unsigned long long>(troubles.pauses),
      static_cast<unsigned long long>(troubles.left_waiting));
  if (only) return;
  // A test in which nothing went wrong would say nothing.
  EXPECT_GT(all.bindings, 10 * kSeeds);
  // Too rare to be asked for in the few worlds that sanitizers see.
  EXPECT_GE(all.conflicts, kSeeds / 200);
  EXPECT_GT(all.preemptions, kSeeds / 10);
  EXPECT_GT(troubles.kills, kSeeds);
  EXPECT_GT(troubles.pauses, kSeeds / 2);
}

}  // namespace
}  // namespace evenkeel::faults
