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
// One in `machines_in` worlds is of the other kind: rented machines that run for ever, of which only their
// first day is known (simulator/machine_generator.h).
struct RandomWorldOptions {
  int most_nodes = 200;
  double machine_share = 0.2;
};

struct RandomWorld {
  simulator::WorldPlan plan;
  scheduling::SchedulingOptions options;
  Duration look{};    // how long a placement's consequences are worth watching
  Time learn_from{};  // the cluster has filled up
  bool machines = false;
};

RandomWorld make_random_world(const RandomWorldOptions& options, std::uint64_t seed);

}  // namespace evenkeel::training
