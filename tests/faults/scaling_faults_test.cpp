// Autoscalers among lying metrics, lost answers, crashes and rivals: nothing is done outside the bounds,
// beyond the behaviour, twice, or by one who may not; and nothing that was asked for stays undone.
#include <gtest/gtest.h>

#include <cstdlib>

#include "scaling_world.h"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t kWorlds =
    150;  // forty times slower, and after wrong accesses rather than wrong actions
#else
constexpr std::uint64_t kWorlds = 1200;
#endif

TEST(ScalingFaults, NeverDoWhatTheyMayNotAndLoseNothing) {
  const char* const only = std::getenv("EVENKEEL_SEED");
  const std::uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only ? first : kWorlds;
  std::size_t issued = 0, done = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ScalingFaults world(seed);
    world.run(15min);
    world.settle();
    issued += world.issued();
    done += world.done();
    EXPECT_TRUE(world.wrongs().empty()) << "EVENKEEL_SEED=" << seed << ": " << world.wrongs().front();
  }
  RecordProperty("actions", static_cast<int>(issued));
  RecordProperty("done", static_cast<int>(done));
  if (!only) {
    EXPECT_GT(done, 8 * kWorlds);  // else the worlds were too quiet to show anything
    EXPECT_GT(issued - done, kWorlds / 2);
  }
}

}  // namespace
}  // namespace evenkeel
