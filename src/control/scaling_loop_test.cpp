#include "control/scaling_loop.h"

#include <gtest/gtest.h>

#include <deque>

namespace evenkeel::control {
namespace {

using namespace std::chrono_literals;
using autoscaling::Recommendation;
using autoscaling::ScalingPolicy;
using autoscaling::ScalingRequest;

constexpr ScalerId kWeb{0, 1};

// Does what it is told at once, and looks every five seconds.
class Cluster final : public ScalingWorld {
 public:
  Time now() const override { return now_; }
  std::optional<std::span<const ScalingEvent>> wait_for_events(Time deadline) override {
    told_.clear();
    if (!next_.empty()) {
      told_.swap(next_);
    } else if (deadline > now_ + 5s) {
      now_ += 5s;
      told_.emplace_back(ServiceReported{kWeb, {.measured = now_, .wanted = replicas, .there = replicas}});
    } else {
      now_ = std::max(now_, deadline);
    }
    return told_;
  }
  void execute(const ScalingAction& action) override {
    if (const auto* scale = std::get_if<ScaleWorkload>(&action)) {
      EXPECT_EQ(scale->from, replicas);
      replicas = scale->to;
      next_.emplace_back(Scaled{kWeb, replicas});
    } else {
      decisions.push_back(std::get<TellDecision>(action).decision);
    }
  }
  void tell(ScalingEvent event) { next_.push_back(std::move(event)); }

  std::int32_t replicas = 1;
  std::vector<ScalingDecision> decisions;

 private:
  Time now_{1h};
  std::vector<ScalingEvent> told_, next_;
};

class Steps final : public ScalingPolicy {
 public:
  Recommendation recommend(const ScalingRequest& request, Random&) override {
    return {.replicas = request.wanted + 1};
  }
};

ScalerSpec spec(std::string policy) {
  ScalerSpec made;
  made.name = "web";
  made.max_replicas = 3;
  made.mode = ScalerSpec::Mode::automatic;
  made.policy = std::move(policy);
  return made;
}

TEST(ScalingLoop, BringsQuestionsToPoliciesAndActionsToTheWorld) {
  Cluster cluster;
  autoscaling::Autoscaler autoscaler;
  ScalingLoop loop(
      cluster, autoscaler,
      [](const ScalerSpec&) { return Result<std::unique_ptr<ScalingPolicy>>(std::make_unique<Steps>()); },
      Random(1));
  cluster.tell(ScalerSet{kWeb, spec("steps")});
  ASSERT_TRUE(loop.run_until(Time{2h}));
  EXPECT_EQ(cluster.replicas, 3);
  EXPECT_NE(loop.policy_of(kWeb), nullptr);
  EXPECT_NEAR(static_cast<double>(cluster.decisions.size()), 240, 5);  // one every 15 s
}

TEST(ScalingLoop, MakesAPolicyForEachWorkloadOnceAndAnewForAnotherName) {
  Cluster cluster;
  autoscaling::Autoscaler autoscaler;
  std::vector<std::string> made;
  ScalingLoop loop(
      cluster, autoscaler,
      [&](const ScalerSpec& of) {
        made.push_back(of.policy);
        return Result<std::unique_ptr<ScalingPolicy>>(std::make_unique<Steps>());
      },
      Random(1));
  cluster.tell(ScalerSet{kWeb, spec("one")});
  loop.run_until(Time{1h + 2min});
  cluster.tell(ScalerSet{kWeb, spec("two")});
  loop.run_until(Time{1h + 4min});
  EXPECT_EQ(made, (std::vector<std::string>{"one", "two"}));
  cluster.tell(ScalerGone{kWeb});
  loop.turn(Time{1h + 5min});
  EXPECT_EQ(loop.policy_of(kWeb), nullptr);
}

TEST(ScalingLoop, LetsTheFallbackDecideWhereThereIsNoPolicy) {
  Cluster cluster;
  autoscaling::Autoscaler autoscaler;
  ScalingLoop loop(
      cluster, autoscaler,
      [](const ScalerSpec&) { return Result<std::unique_ptr<ScalingPolicy>>(invalid("no such policy")); },
      Random(1));
  cluster.tell(ScalerSet{kWeb, spec("none")});
  loop.run_until(Time{1h + 1min});
  ASSERT_FALSE(cluster.decisions.empty());
  EXPECT_EQ(cluster.decisions.back().fallback, "no such policy");
}

}  // namespace
}  // namespace evenkeel::control
