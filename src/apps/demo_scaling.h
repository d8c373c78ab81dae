#pragma once
#include <memory>
#include <string>
#include <vector>

#include "autoscaling/autoscaler.h"
#include "base/result.h"
#include "control/scaling_loop.h"
#include "reporting/dashboard_state.h"
#include "simulator/service_world.h"
#include "training/scaling_evaluation.h"

namespace evenkeel::apps {

// The autoscaler's part of the demo: one service through one day, that much faster, scaled by several
// policies side by side.
class DemoScaling {
 public:
  static Result<std::unique_ptr<DemoScaling>> start(const training::ScalingExperiment& experiment,
                                                    const std::vector<std::string>& policies,
                                                    std::uint64_t seed,
                                                    const training::ScalingModels& models = {});

  void advance(double share);  // to this share of the whole time, 0..1
  reporting::ScalingView view() const;

 private:
  struct Lane {
    std::string policy;
    simulator::ServiceWorldPlan plan;
    std::unique_ptr<simulator::ServiceWorld> world;
    autoscaling::Autoscaler autoscaler;
    std::unique_ptr<control::ScalingLoop> loop;
    reporting::ScalingLaneView view;
    bool ended = false;
  };
  void note(Lane& lane, const ScalingDecision& decision);

  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace evenkeel::apps
