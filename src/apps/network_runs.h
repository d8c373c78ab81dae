// Network scenarios under policies, for the paper's figures and the benchmark alike.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "apps/scenarios.h"
#include "training/evaluation.h"

namespace evenkeel::apps {

// Those of them that this program has.
std::vector<std::string> known_policies(std::initializer_list<const char*> names);

// HiGHS, where it is found; else nothing, and the best known is the reference.
training::ProvePlan network_prover();

struct NetworkRun {
  std::string scenario;
  std::vector<std::string> sets;
  std::vector<std::string> policies;
  std::uint64_t seeds = 50, first_seed = 1;
  unsigned threads = 1;
  bool timed = false;
};
Result<training::Evaluation> run_network(const NetworkRun& run);

const training::PolicyResult* find_policy(const training::Evaluation& evaluation, std::string_view policy);

// The mean and half the width of its 95 % interval (Student's t).
struct Interval {
  double mean = 0, half = 0;
};
Interval interval_of(const training::PolicyResult& result, std::string_view metric);
std::string text_of(const Interval& interval);

}  // namespace evenkeel::apps
