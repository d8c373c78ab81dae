#include "training/in_parallel.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>

namespace evenkeel::training {
namespace {

TEST(InParallel, DoesEachJobOnceWhateverTheThreads) {
  for (const unsigned threads : {0U, 1U, 2U, 7U, 100U}) {
    std::vector<int> done(50);
    in_parallel(done.size(), threads, [&](std::size_t i) { ++done[i]; });
    EXPECT_EQ(done, std::vector<int>(50, 1)) << threads;
  }
}

TEST(InParallel, DoesNothingWhereThereIsNothingToDo) {
  in_parallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(InParallel, StaysOnTheCallersThreadAndInOrderWhereOneIsAskedFor) {
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::size_t> order;
  in_parallel(5, 1, [&](std::size_t i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  std::vector<std::size_t> expected(5);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(order, expected);
}

TEST(InParallel, HasAsManyAtWorkAtOnceAsAreAskedFor) {
  // Each job waits for the other two: fewer threads than three would never be done.
  std::mutex mutex;
  std::condition_variable met;
  std::set<std::thread::id> there;
  in_parallel(3, 3, [&](std::size_t) {
    std::unique_lock lock(mutex);
    there.insert(std::this_thread::get_id());
    met.notify_all();
    met.wait(lock, [&] { return there.size() == 3; });
  });
  EXPECT_TRUE(there.contains(std::this_thread::get_id()));
}

}  // namespace
}  // namespace evenkeel::training
