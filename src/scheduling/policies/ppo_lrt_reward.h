#pragma once
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "scheduling/policies/online_learning.h"
#include "scheduling/policies/policy.h"
#include "scheduling/policies/ppo_lrt_state.h"

namespace evenkeel::scheduling {

// PPO-LRT's reward (seed paper 001, eq. 12-14):
//   alpha (1 / sigma_c + 1 / sigma_m) - beta (p_c + p_m) - gamma R
// The paper gives neither weights nor limits; these are ours. Loads are shares (0..1), R is in seconds. As a
// sigma nears 0 its inverse has no bound, and one lucky moment would outweigh a training: sigma counts as at
// least `least_sigma`, so each term is at most alpha / least_sigma.
struct PpoLrtReward {
  double alpha = 0.02;        // 0.4 for two deviations of ten percentage points
  double beta = 0.2;          // 0.2 for five nodes twenty points above their limit
  double gamma = 0.002;       // per second: 0.2 for a response of 100 s
  double cpu_limit = 0.8;     // l_c
  double memory_limit = 0.8;  // l_m
  double least_sigma = 0.05;
};

double deviation(std::span<const double> loads);                   // eq. 13
double excess_above(double limit, std::span<const double> loads);  // eq. 14

struct PpoLrtVerdict {
  double reward = 0, sigma_cpu = 0, sigma_memory = 0, penalty = 0, response_s = 0;
  bool known = true;     // false: the world ended before the step could be looked at
  std::uint64_t step{};  // whose it is: what begin_step said
  Lost why{};            // where it is not known, on a live cluster
};
PpoLrtVerdict judge(const PpoLrtReward& weights, std::span<const double> cpu, std::span<const double> memory,
                    double response_s);

// Follows the steps of an episode and judges each: the cluster's state some time after the step's pods were
// placed, and the mean response of those very pods once all have ended.
class PpoLrtJudge {
 public:
  PpoLrtJudge(PpoLrtReward weights, Duration settle) : weights_(weights), settle_(settle) {}

  // On a live cluster: loads count once samples show the step's bindings (samples_show), which is given up
  // where that takes longer than `fresh_within`. Most pods there never end: one of a workload that is not
  // known to end within kLongRun counts with how long it took to start, which is what a service's users wait
  // for. One that should have ended by then and has not counts with the time it has taken so far. Those that
  // ended in any other way than by themselves are left out. Verdicts come as they are known, in any order:
  // a long job does not keep back what came of the pods after it.
  void look_live(Duration fresh_within) { fresh_within_ = fresh_within; }

  std::uint64_t begin_step(Time now);                // its number, from 1 on
  void place(PodId pod, NodeId node, Time created);  // a pod of the step begun last
  // Whether more pods may join it: live, a step whose pods have all gone is over before its time.
  bool last_is_open() const {
    return !steps_.empty() && steps_.back().number == begun_ && !steps_.back().closed;
  }
  Time next_look() const { return next_look_; }
  void review(const Retrospect& seen);
  // Nothing more will happen: what has not ended or was never looked at is left out of its step.
  void finish();
  std::optional<PpoLrtVerdict> next_verdict();  // each step once all is known; in order unless live
  bool idle() const { return steps_.empty(); }
  std::size_t open_steps() const { return steps_.size(); }
  // Open at once on a live cluster: the oldest end as they are.
  static constexpr std::size_t kMostSteps = 1024;
  static constexpr Duration kLongRun = std::chrono::minutes{10};
  double last_response_s() const { return last_response_s_; }

 private:
  struct Placed {
    PodId pod;
    NodeId node;
    Time created;
  };
  struct Step {
    std::uint64_t number = 0;
    Time at{};
    std::vector<Placed> out{};  // not ended yet
    double response_sum = 0;
    std::size_t responses = 0;
    std::optional<NodeLoads> loads{};  // after `settle`
    Time bound = Time::max();          // when all its pods were first seen to be; live only
    bool closed = false;
    Lost why = Lost::gone;  // where it is closed without a reward

    void respond(double seconds) {
      response_sum += seconds;
      ++responses;
    }
    bool is_settled() const { return closed || (loads && out.empty()); }
  };
  static constexpr Duration kLook = std::chrono::seconds{5};
  static constexpr Duration kLookAgain = std::chrono::seconds{1};

  void note_ends(Step& step, const Retrospect& seen) const;
  void note_those_that_run_on(Step& step, const Retrospect& seen) const;
  bool may_look(Step& step, const Retrospect& seen) const;
  void give_up_in_time(Step& step, Time now) const;

  PpoLrtReward weights_;
  Duration settle_;
  std::optional<Duration> fresh_within_;  // live only
  std::uint64_t begun_ = 0;
  std::deque<Step> steps_;
  Time next_look_ = Time::max();
  double last_response_s_ = 0;
};

}  // namespace evenkeel::scheduling
