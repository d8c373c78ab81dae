#pragma once
#include "base/random.h"
#include "simulator/scenario.h"
#include "training/experiment.h"

namespace evenkeel::training {

// Clusters nobody has seen, to learn in: 3 to 200 nodes of one to three kinds, two to six kinds of pods that
// each lean on something else and live from half a minute to ten, arriving regularly, in bunches or at
// random; requests that are wrong by up to three times either way, metrics that are late, noisy or missing.
// Nothing of a published testbed or of a trace is in them.
//
// A share of them are laboratories, of the kind people try schedulers on: a few small machines, one kind of
// pod that leans on each of CPU, network and disk.
struct RandomWorldOptions {
  int most_nodes = 200;
  double laboratory_share = 0.6;
};

struct RandomWorld {
  simulator::WorldPlan plan;
  scheduling::SchedulingOptions options;
  Duration look{};    // how long a placement's consequences are worth watching
  Time learn_from{};  // the cluster has filled up
};

// A world of a scenario, to learn in likewise.
RandomWorld make_scenario_world(const Experiment& experiment, std::uint64_t seed);

RandomWorld make_random_world(const RandomWorldOptions& options, std::uint64_t seed);

}  // namespace evenkeel::training
