#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulator/service_world.h"
#include "training/evaluation.h"

namespace evenkeel::training {

// Services of their own, each with its own day, on nodes they share: how many of them there are, and how much
// of the nodes they would need if their peaks fell together.
struct TogetherWorld {
  int nodes = 6, services = 8;
  double crowding = 2;
  Duration length{std::chrono::hours{4}};  // a day, that much faster
};
simulator::ServiceWorldPlan make_together_world(const TogetherWorld& world, const std::string& policy,
                                                std::uint64_t seed);

// What scaling knows of placement.
struct TogetherVariant {
  std::string name;
  bool room = false;     // scale-ups are held to what fits
  bool leavers = false;  // scale-downs say who goes
};
std::vector<TogetherVariant> together_variants();  // each alone, both, and neither first

// One variant in the world of one seed, through the very code that a live autoscaler asks:
//   pending_pod_s (an hour), pending_longest_s, node_imbalance (mean of the standard deviations over nodes of
//   CPU in use and of memory, in percent), sla_violation (share of time, mean over services), replicas_mean,
//   scalings (an hour)
RunResult run_together(const simulator::ServiceWorldPlan& plan, const TogetherVariant& variant,
                       std::uint64_t seed);

struct TogetherOptions {
  TogetherWorld world;
  std::vector<std::string> policies{"hpa"};
  std::vector<std::uint64_t> seeds;
  unsigned threads = 1;
};
// By "policy, variant"; the same worlds for each. A policy nobody knows is an error.
Result<Evaluation> evaluate_together(const TogetherOptions& options);

}  // namespace evenkeel::training
