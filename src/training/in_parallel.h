#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace evenkeel::training {

// job(i) once for every i below `count`, by so many threads at most, the caller's among them; returns when
// all are done. Who does which is chance: each job has a place of its own for what comes of it.
template <class Job>
void in_parallel(std::size_t count, unsigned threads, const Job& job) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) job(i);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace evenkeel::training
