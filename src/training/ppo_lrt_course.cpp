#include "training/ppo_lrt_course.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "control/control_loop.h"
#include "scheduling/policies/registry.h"
#include "simulator/simulated_world.h"

namespace evenkeel::training {
namespace {

using namespace std::chrono_literals;
using scheduling::PpoLrt;
using scheduling::PpoLrtJudge;
using scheduling::PpoLrtVerdict;

// Another policy, its steps judged as PPO-LRT's are.
class Judged final : public scheduling::PlacementPolicy {
 public:
  // A step is so many pods in a row.
  Judged(scheduling::PlacementPolicy& inner, PpoLrtJudge judge, std::size_t pods_per_step)
      : inner_(inner), judge_(std::move(judge)), pods_per_step_(pods_per_step) {}
  std::optional<NodeId> choose(const scheduling::PlacementRequest& request, Random& random) override {
    const std::optional<NodeId> chosen = inner_.choose(request, random);
    if (!chosen) return chosen;
    if (placed_++ % pods_per_step_ == 0) judge_.begin_step(request.now);
    judge_.place(request.pod.id, *chosen, request.pod.created);
    return chosen;
  }
  scheduling::ScoreSheet explain(const scheduling::PlacementRequest& request) override {
    return inner_.explain(request);
  }
  Time review_at() const override { return std::min(judge_.next_look(), inner_.review_at()); }
  std::vector<EvictPod> review(const scheduling::Retrospect& seen, Random& random) override {
    judge_.review(seen);
    return inner_.review(seen, random);
  }
  std::vector<PpoLrtVerdict> finish() {
    judge_.finish();
    std::vector<PpoLrtVerdict> verdicts;
    while (const auto verdict = judge_.next_verdict())
      if (verdict->known) verdicts.push_back(*verdict);
    return verdicts;
  }

 private:
  scheduling::PlacementPolicy& inner_;
  PpoLrtJudge judge_;
  std::size_t pods_per_step_, placed_ = 0;
};

double run_world(const simulator::WorldPlan& plan, const scheduling::SchedulingOptions& options,
                 scheduling::PlacementPolicy& policy, const Random& random) {
  simulator::SimulatedWorld world(plan, random, false);
  scheduling::Scheduler scheduler(options);
  control::ControlLoop loop(world, scheduler, policy, random);
  loop.run();
  return world.measures().summarise().response_mean_s;
}

scheduling::SchedulingOptions options_of(const Experiment& experiment, bool ordered) {
  scheduling::SchedulingOptions options = experiment.options;
  if (ordered) {
    options.order = scheduling::QueueOrder::shortest_first;
    options.hold_back.on = true;
  }
  return options;
}

}  // namespace

PpoLrtRecipe read_ppo_lrt_recipe(YamlReader& root) {
  PpoLrtRecipe recipe;
  recipe.policy.name = root.word("policy", {"ppo-lrt", "ppo-lrt-ordered"}).or_else("ppo-lrt");
  recipe.policy.ordered = recipe.policy.name == "ppo-lrt-ordered";
  recipe.episodes = root.integer<std::size_t>("episodes").between(1, 1000000).or_else(recipe.episodes);
  recipe.actions_per_episode =
      root.integer<std::size_t>("actions_per_episode").between(1, 10000).or_else(recipe.actions_per_episode);
  recipe.policy.pods_per_action =
      root.integer<std::size_t>("pods_per_action").between(1, 1000).or_else(recipe.policy.pods_per_action);
  recipe.update_every =
      root.integer<std::size_t>("update_every").between(1, 100000).or_else(recipe.update_every);
  recipe.action_every = root.duration("action_every").at_least(0us).or_else(recipe.action_every);
  recipe.policy.settle = root.duration("settle").more_than(0us).or_else(recipe.policy.settle);

  scheduling::PpoLrtReward& reward = recipe.policy.reward;
  reward.alpha = root.number("reward.alpha").between(0, 1000).or_else(reward.alpha);
  reward.beta = root.number("reward.beta").between(0, 1000).or_else(reward.beta);
  reward.gamma = root.number("reward.gamma").between(0, 1000).or_else(reward.gamma);
  reward.cpu_limit = root.number("reward.cpu_limit").between(0, 1).or_else(reward.cpu_limit);
  reward.memory_limit = root.number("reward.memory_limit").between(0, 1).or_else(reward.memory_limit);
  reward.least_sigma = root.number("reward.least_sigma").between(1e-3, 1).or_else(reward.least_sigma);
  recipe.policy.cleared_share =
      root.number("load_control.share").between(0, 1).or_else(recipe.policy.cleared_share);
  recipe.policy.clear_every =
      root.duration("load_control.every").more_than(0us).or_else(recipe.policy.clear_every);

  learning::PpoOptions& ppo = recipe.ppo;
  ppo.clip = root.number("ppo.clip").between(0.001, 10).or_else(ppo.clip);
  ppo.discount = root.number("ppo.discount").between(0, 1).or_else(ppo.discount);
  ppo.trace_decay = root.number("ppo.trace_decay").between(0, 1).or_else(ppo.trace_decay);
  ppo.actor.learning_rate = root.number("ppo.actor_rate").between(1e-9, 1).or_else(ppo.actor.learning_rate);
  ppo.critic.learning_rate =
      root.number("ppo.critic_rate").between(1e-9, 1).or_else(ppo.critic.learning_rate);
  ppo.epochs = root.integer<int>("ppo.epochs").between(1, 1000).or_else(ppo.epochs);
  ppo.minibatch = root.integer<std::size_t>("ppo.minibatch").between(1, 100000).or_else(ppo.minibatch);
  ppo.entropy_bonus = root.number("ppo.entropy_bonus").between(0, 10).or_else(ppo.entropy_bonus);
  if (root.has("ppo.hidden")) {
    ppo.hidden.clear();
    for (const double size : root.numbers("ppo.hidden").required()) {
      if (size < 1 || size > 4096 || size != std::floor(size))
        root.fail("ppo.hidden", "expected whole numbers between 1 and 4096");
      ppo.hidden.push_back(static_cast<int>(size));
    }
  }
  return recipe;
}

PpoLrtCourse::PpoLrtCourse(PpoLrtRecipe recipe, std::vector<Experiment> experiments, std::uint64_t seed)
    : recipe_(std::move(recipe)),
      experiments_(std::move(experiments)),
      random_(Random(seed).fork("ppo-lrt")) {
  EVENKEEL_CHECK(!experiments_.empty());
}

std::size_t PpoLrtCourse::nodes() const { return plan_of(0).nodes.size(); }

Random PpoLrtCourse::random_of(std::size_t episode) const { return random_.fork("episode").fork(episode); }

const Experiment& PpoLrtCourse::experiment_of(std::size_t episode) const {
  return experiments_[episode % experiments_.size()];
}

simulator::WorldPlan PpoLrtCourse::plan_of(std::size_t episode) const {
  simulator::Scenario scenario = experiment_of(episode).scenario;
  const std::size_t per_action = recipe_.policy.pods_per_action;
  scenario.arrivals.pods = static_cast<std::int64_t>(recipe_.actions_per_episode * per_action);
  simulator::WorldPlan plan = simulator::expand(scenario, random_of(episode).fork("world").bits());
  for (std::size_t i = 0; i < plan.pods.size(); ++i)
    plan.pods[i].arrival = Time{} + static_cast<Duration::rep>(i / per_action) * recipe_.action_every;
  return plan;
}

PpoLrtCourse::Episode PpoLrtCourse::play(std::size_t episode, const learning::Ppo& learner) const {
  const simulator::WorldPlan plan = plan_of(episode);
  PpoLrt policy(recipe_.policy, learner);
  Episode result;
  result.response_s =
      run_world(plan, options_of(experiment_of(episode), recipe_.policy.ordered), policy, random_of(episode));
  result.clearings = policy.clearings();
  result.played = policy.finish_episode();
  return result;
}

std::vector<PpoLrtVerdict> PpoLrtCourse::judge_other(std::size_t episode, std::string_view policy) const {
  const simulator::WorldPlan plan = plan_of(episode);
  Result<scheduling::PolicySetup> setup = scheduling::set_up_policy(policy, experiment_of(episode).options);
  EVENKEEL_CHECK(setup);
  Judged judged(*setup->policy, {recipe_.policy.reward, recipe_.policy.settle},
                recipe_.policy.pods_per_action);
  run_world(plan, setup->options, judged, random_of(episode));
  return judged.finish();
}

CurvePoint PpoLrtCourse::point_of(const std::vector<PpoLrtVerdict>& verdicts) {
  PpoLrtVerdict mean;
  const auto n = static_cast<double>(verdicts.size());
  for (const PpoLrtVerdict& verdict : verdicts) {
    mean.reward += verdict.reward / n;
    mean.response_s += verdict.response_s / n;
    mean.sigma_cpu += 100 * verdict.sigma_cpu / n;
    mean.sigma_memory += 100 * verdict.sigma_memory / n;
    mean.penalty += verdict.penalty / n;
  }
  return {{"reward", mean.reward},
          {"response_s", mean.response_s},
          {"sigma_cpu", mean.sigma_cpu},
          {"sigma_memory", mean.sigma_memory},
          {"penalty", mean.penalty}};
}

}  // namespace evenkeel::training
