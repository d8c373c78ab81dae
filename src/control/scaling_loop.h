#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "autoscaling/autoscaler.h"
#include "autoscaling/policies/policy.h"
#include "base/random.h"
#include "base/result.h"
#include "cluster/scaling_world.h"

namespace evenkeel::control {

// The policy that a workload's spec asks for. An error makes the fallback decide, and is what the decision
// says.
using PolicyMaker = std::function<Result<std::unique_ptr<autoscaling::ScalingPolicy>>(const ScalerSpec&)>;

// Called after each decision, while the question is still open.
using ScalingWatch =
    std::function<void(const autoscaling::ScalingRequest&, std::span<const ScalingAction> actions)>;

// Where the autoscaler's question meets a policy and its action meets a ScalingWorld. A policy object for
// each workload, made when it is first asked about, and anew when its spec names another policy or other
// arguments.
class ScalingLoop {
 public:
  ScalingLoop(ScalingWorld& world, autoscaling::Autoscaler& autoscaler, PolicyMaker make, Random random);

  void watch(ScalingWatch watch) { watch_ = std::move(watch); }

  bool turn() { return turn(Time::max()); }  // one batch of events and all it leads to; false: the end
  bool turn(Time deadline);                  // the same, waiting for events no longer than that
  // Turns until the world has passed `until`; false: it has ended.
  bool run_until(Time until);

  // The policy that answers for a workload, to be put away or looked into; none: it was not asked about yet.
  autoscaling::ScalingPolicy* policy_of(ScalerId scaler);

 private:
  struct Adviser {
    std::string policy;
    std::map<std::string, std::string> arguments;
    Random random;
    std::unique_ptr<autoscaling::ScalingPolicy> made;
    std::string why_missing;
  };

  Adviser& adviser_of(const autoscaling::ScalingRequest& request);
  autoscaling::Recommendation ask(const autoscaling::ScalingRequest& request);
  void decide(Time now);

  ScalingWorld& world_;
  autoscaling::Autoscaler& autoscaler_;
  PolicyMaker make_;
  Random random_;
  ScalingWatch watch_;
  std::map<ScalerId, Adviser> advisers_;
};

}  // namespace evenkeel::control
