#include "training/marl_trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scheduling/policies/marl.h"
#include "training/drs_trainer.h"
#include "training/node_agents_env.h"

namespace evenkeel::training {
namespace {

using learning::Model;
using learning::Real;
using learning::SavedState;
using scheduling::AgentWord;
using scheduling::MarlBrain;
using scheduling::MarlEncoding;
using scheduling::MarlSettings;
using namespace std::chrono_literals;

enum class Way { independent, pooled, decomposed };

struct Plan {
  MarlSettings settings;
  Way way = Way::pooled;
  std::size_t worlds = 600, agents = 1;
  std::uint64_t first_world = 300001;
  double scenario_share = 0.5, coming_and_going = 0, talkers = 0;
  RandomWorldOptions random;
  Real rate = 0, rate_end = 0;
  double epsilon = 0.3, epsilon_end = 0.05;
  std::size_t epsilon_worlds = 300;
  Real online_rate = 1e-4, online_epsilon = 0.01;
  Real smoothing = 1;
  learning::VdnOptions vdn;
  struct {
    std::size_t worlds = 3, every = 25;
    std::string metric = "imbalance";
    std::uint64_t first = 400001;
  } validation;
};

// Nodes leave, come back after a while, or are not there at first.
void let_nodes_come_and_go(Random random, simulator::WorldPlan& plan) {
  if (plan.nodes.size() < 3 || plan.pods.empty()) return;
  const Time until = plan.pods.back().arrival;
  const auto nodes = plan.nodes.size();
  plan.nodes.back().joins = Time{} + from_seconds(to_seconds(until - Time{}) * random.between(0.1, 0.5));
  for (Time at = Time{} + from_seconds(random.exponential(900)); at < until;
       at += from_seconds(random.exponential(900))) {
    const NodeId node{static_cast<std::uint32_t>(random.below(nodes - 1))};
    plan.faults.push_back({at, node, simulator::NodeFault::Kind::leaves});
    plan.faults.push_back({at + 5min, node, simulator::NodeFault::Kind::rejoins});
  }
}

class MarlTrainer final : public Trainer {
 public:
  MarlTrainer(Plan plan, TrainerInput input)
      : plan_(std::move(plan)), input_(std::move(input)), root_(input_.seed), vdn_(make_vdn(plan_, root_)) {
    Random weights = root_.fork("weights");
    const std::size_t brains = plan_.way == Way::independent ? plan_.agents : 1;
    for (std::size_t i = 0; i < brains; ++i) {
      Random own = weights.fork(i);
      brains_.emplace_back(plan_.settings.brain, own);
    }
    smooth_ = parameters();
  }

  std::size_t steps() const override { return plan_.worlds; }
  std::size_t done() const override { return done_; }
  std::string_view step_name() const override { return "world"; }

  CurvePoint advance() override {
    const Real part = plan_.worlds > 1 ? static_cast<Real>(done_) / static_cast<Real>(plan_.worlds - 1) : 0;
    set_rate(plan_.rate + (plan_.rate_end - plan_.rate) * part);
    const std::uint64_t seed = plan_.first_world + input_.seed * 1'000'000 + done_;
    const RandomWorld world = make_world(seed);
    NodeAgentsEnv env(world, {plan_.settings.brain.inputs, plan_.settings.brain.reward, plan_.talkers}, seed);
    Random random = root_.fork("worlds").fork(done_);
    Figures figures;
    while (env.next()) {
      learn(env, figures, random);
      decide(env, random);
    }
    learn(env, figures, random);
    ++done_;
    const std::vector<Real> now = parameters();
    const Real rate = std::max(plan_.smoothing, 1 / static_cast<Real>(done_));
    for (std::size_t i = 0; i < now.size(); ++i) smooth_[i] += rate * (now[i] - smooth_[i]);
    CurvePoint point = {
        {"reward", figures.rewards > 0 ? figures.reward / figures.rewards : 0},
        {"loss", figures.updates > 0 ? figures.loss / figures.updates : 0},
        {"imbalance", env.result()["imbalance"]},
        {"nobody_accepted",
         env.pods() > 0 ? static_cast<double>(env.unclaimed()) / static_cast<double>(env.pods()) : 0}};
    if (plan_.validation.worlds > 0 && (done_ % plan_.validation.every == 0 || done_ == plan_.worlds)) {
      const double figure = validate();
      point.push_back({"validation_" + plan_.validation.metric, figure});
      if (figure < best_figure_) {
        best_figure_ = figure;
        best_ = smooth_;
        best_accept_from_ = accept_from();
      }
    }
    return point;
  }

  Model model() const override {
    Model model = model_of(best_.empty() ? smooth_ : best_);
    for (const Experiment& experiment : input_.experiments)
      model.training_worlds.push_back(experiment.scenario.name + " with seeds from " +
                                      std::to_string(plan_.first_world + input_.seed * 1'000'000));
    if (plan_.scenario_share < 1)
      model.training_worlds.emplace_back("random worlds with seeds from there on");
    model.figures["worlds"] = static_cast<double>(done_);
    if (plan_.way == Way::decomposed && !best_.empty()) model.figures["accept_from"] = best_accept_from_;
    if (std::isfinite(best_figure_)) model.figures["validation_" + plan_.validation.metric] = best_figure_;
    return model;
  }

  std::string state() const override {
    SavedState state;
    state.put("done", done_);
    state.put("best", best_);
    state.put("smooth", smooth_);
    const std::array<Real, 5> figures = {best_figure_, best_accept_from_, score_mean_, score_square_,
                                         static_cast<Real>(scores_)};
    state.put("figures", figures);
    for (std::size_t i = 0; i < brains_.size(); ++i)
      state.put("brain " + std::to_string(i), brains_[i].save());
    if (plan_.way == Way::decomposed) state.put("vdn", vdn_.save());
    return state.bytes();
  }

  Status restore(std::string_view bytes) override {
    Result<SavedState> state = SavedState::parse(bytes);
    if (!state) return state.error();
    done_ = state->count("done");
    best_ = state->reals("best");
    state->reals("smooth", smooth_);
    std::array<Real, 5> figures{};
    state->reals("figures", figures);
    best_figure_ = figures[0];
    best_accept_from_ = figures[1];
    score_mean_ = figures[2];
    score_square_ = figures[3];
    scores_ = static_cast<std::uint64_t>(std::clamp(figures[4], 0.0, 1e15));
    if (done_ > plan_.worlds)
      state->fail("done",
                  "at most " + std::to_string(plan_.worlds) + " worlds, found " + std::to_string(done_));
    if (!best_.empty() && best_.size() != smooth_.size())
      state->fail("best",
                  std::to_string(smooth_.size()) + " parameters, found " + std::to_string(best_.size()));
    for (std::size_t i = 0; i < brains_.size(); ++i)
      if (const Status brain = brains_[i].restore(state->part("brain " + std::to_string(i))); !brain)
        return brain;
    if (plan_.way == Way::decomposed)
      if (const Status vdn = vdn_.restore(state->part("vdn")); !vdn) return vdn;
    return state->status();
  }

 private:
  struct Figures {
    double reward = 0, rewards = 0, loss = 0, updates = 0;
  };

  static learning::Vdn make_vdn(const Plan& plan, const Random& root) {
    Random weights = root.fork("vdn");
    return {static_cast<int>(input_count(plan.settings.brain.inputs.encoding)), plan.vdn, weights};
  }

  // Worlds of the recipe's scenarios come evenly between the random ones, each scenario in turn.
  RandomWorld make_world(std::uint64_t seed) const {
    const auto before = static_cast<std::size_t>(plan_.scenario_share * static_cast<Real>(done_));
    const auto with = static_cast<std::size_t>(plan_.scenario_share * static_cast<Real>(done_ + 1));
    RandomWorld world = input_.experiments.empty() || before == with
                            ? make_random_world(plan_.random, seed)
                            : make_scenario_world(input_.experiments[with % input_.experiments.size()], seed);
    Random changes = Random(seed).fork("nodes");
    if (changes.chance(plan_.coming_and_going)) let_nodes_come_and_go(changes, world.plan);
    return world;
  }

  double epsilon() const {
    if (done_ >= plan_.epsilon_worlds) return plan_.epsilon_end;
    const double part = static_cast<double>(done_) / static_cast<double>(plan_.epsilon_worlds);
    return plan_.epsilon + (plan_.epsilon_end - plan_.epsilon) * part;
  }

  // Of independent agents; the last network's is also whoever comes after it.
  MarlBrain& brain_of(NodeId node) { return brains_[std::min<std::size_t>(node.slot, brains_.size() - 1)]; }

  void decide(NodeAgentsEnv& env, Random& random) {
    if (plan_.way != Way::independent && random.chance(epsilon())) {
      env.give(random.below(env.askable().size()));
      return;
    }
    std::vector<AgentWord> words(env.askable().size());
    if (plan_.way == Way::independent) {
      for (std::size_t i = 0; i < words.size(); ++i) {
        const NodeAgentsEnv::Agent& agent = env.agents()[env.askable()[i]];
        words[i] = brain_of(agent.node).decide(agent.observation, random);
      }
      env.step(words);
      return;
    }
    const learning::Matrix values = network().forward(env.observations());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      const Real reject = values(MarlBrain::kReject, column), accept = values(MarlBrain::kAccept, column);
      words[i] = brains_.front().word_of(reject, accept);
      if (plan_.way == Way::decomposed)
        words[i] = {BidVerdict::accept, static_cast<float>(accept - reject), false};
    }
    if (plan_.way == Way::decomposed) note_best(words);
    env.step(words);
  }

  // What the best of them say: where to draw the line between accepting and rejecting, which value
  // decomposition leaves open.
  void note_best(std::span<const AgentWord> words) {
    const auto best = std::max_element(
        words.begin(), words.end(), [](const AgentWord& a, const AgentWord& b) { return a.score < b.score; });
    const auto score = static_cast<Real>(best->score);
    ++scores_;
    const Real rate = 1 / static_cast<Real>(std::min<std::uint64_t>(scores_, 5000));
    score_mean_ += rate * (score - score_mean_);
    score_square_ += rate * (score * score - score_square_);
  }
  Real accept_from() const {
    return score_mean_ - 3 * std::sqrt(std::max(0.0, score_square_ - score_mean_ * score_mean_));
  }

  const learning::Network& network() const {
    return plan_.way == Way::decomposed ? vdn_.network() : brains_.front().dqn().network();
  }

  void learn(NodeAgentsEnv& env, Figures& figures, Random& random) {
    if (plan_.way == Way::decomposed) {
      (void)env.experiences();
      for (learning::JointExperience& joint : env.joint_experiences()) {
        figures.reward += joint.reward;
        ++figures.rewards;
        if (!vdn_.remember(std::move(joint))) continue;
        if (const auto loss = vdn_.learn(random)) {
          figures.loss += *loss;
          ++figures.updates;
        }
      }
      return;
    }
    (void)env.joint_experiences();
    for (auto& [node, experience] : env.experiences()) {
      MarlBrain& brain = plan_.way == Way::independent ? brain_of(node) : brains_.front();
      const MarlBrain::Progress before = brain.progress();
      (void)brain.learn(std::move(experience), random);
      const MarlBrain::Progress& after = brain.progress();
      figures.reward += after.reward_sum - before.reward_sum;
      figures.rewards += static_cast<double>(after.rewards - before.rewards);
      figures.loss += after.loss_sum - before.loss_sum;
      figures.updates += static_cast<double>(after.updates - before.updates);
    }
  }

  void set_rate(Real rate) {
    vdn_.set_learning_rate(rate);
    for (MarlBrain& brain : brains_) brain.set_learning_rate(rate);
  }

  std::vector<Real> parameters() const {
    std::vector<Real> all;
    const auto add = [&](std::span<const Real> some) { all.insert(all.end(), some.begin(), some.end()); };
    if (plan_.way == Way::decomposed) add(vdn_.network().parameters());
    if (plan_.way != Way::decomposed)
      for (const MarlBrain& brain : brains_) add(brain.dqn().network().parameters());
    return all;
  }

  Model model_of(std::span<const Real> all) const {
    std::vector<learning::ModelNetwork> networks;
    const std::size_t each = network().parameters().size();
    for (std::size_t i = 0; i * each < all.size(); ++i) {
      const std::span<const Real> own = all.subspan(i * each, each);
      networks.push_back({plan_.way == Way::independent ? "agent-" + std::to_string(i + 1) : "agent",
                          network().shape(),
                          {own.begin(), own.end()}});
    }
    Model model = scheduling::marl_model(plan_.settings.brain, std::move(networks));
    // What a policy that learns on must go on with (marl_brain.cpp).
    model.figures["discount"] = plan_.settings.brain.dqn.discount;
    model.figures["learning_rate"] = plan_.online_rate;
    model.figures["epsilon"] = plan_.online_epsilon;
    if (plan_.way == Way::decomposed) model.figures["accept_from"] = accept_from();
    return model;
  }

  double validate() const {
    const Model model = model_of(smooth_);
    double sum = 0;
    std::size_t runs = 0;
    for (const Experiment& experiment : input_.experiments)
      for (std::size_t i = 0; i < plan_.validation.worlds; ++i, ++runs) {
        MarlSettings settings = plan_.settings;
        settings.brain.frozen = true;
        const auto policy = scheduling::Marl::from_model(std::move(settings), model);
        if (!policy) return std::numeric_limits<double>::infinity();
        sum += run_world(experiment, plan_.validation.first + i, root_.fork("validation").fork(i),
                         **policy)[plan_.validation.metric];
      }
    return runs > 0 ? sum / static_cast<double>(runs) : std::numeric_limits<double>::infinity();
  }

  Plan plan_;
  TrainerInput input_;
  Random root_;
  std::vector<MarlBrain> brains_;
  learning::Vdn vdn_;
  std::size_t done_ = 0;
  std::vector<Real> smooth_, best_;  // of the networks, one after the other
  Real best_figure_ = std::numeric_limits<Real>::infinity(), best_accept_from_ = 0;
  Real score_mean_ = 0, score_square_ = 0;
  std::uint64_t scores_ = 0;
};

Plan read_plan(YamlReader& recipe) {
  Plan plan;
  const std::string policy = recipe.word("policy", {"marl", "marl-shared"}).or_else("marl-shared");
  plan.settings = *scheduling::marl_settings(policy);
  const bool shared = policy == "marl-shared";
  const std::string way =
      recipe.word("way", {"independent", "pooled", "decomposed"}).or_else(shared ? "pooled" : "independent");
  plan.way = way == "independent" ? Way::independent : way == "pooled" ? Way::pooled : Way::decomposed;
  if (shared == (plan.way == Way::independent))
    recipe.fail("way", shared ? "agents that share a network do not learn independently"
                              : "independent agents share no network: expected independent");
  learning::DqnOptions& dqn = plan.settings.brain.dqn;
  dqn.hidden = plan.vdn.hidden = read_hidden_layers(recipe, dqn.hidden);
  dqn.discount = recipe.number("discount").between(0, 0.9999).or_else(dqn.discount);
  dqn.batch = plan.vdn.batch = recipe.integer<std::size_t>("batch").between(1, 4096).or_else(dqn.batch);
  dqn.learn_from = dqn.batch;
  const auto pool = recipe.integer<std::size_t>("pool").between(1, 10000000).or_else(dqn.replay.capacity);
  dqn.replay.capacity = plan.vdn.capacity = pool;
  plan.vdn.learn_from = std::min<std::size_t>(plan.vdn.learn_from, pool);
  dqn.target_every = recipe.integer<std::uint64_t>("target_every").at_least(1).or_else(dqn.target_every);
  dqn.error_limit = recipe.number("error_limit").at_least(0).or_else(dqn.error_limit);
  plan.rate = recipe.number("learning_rate").more_than(0).or_else(dqn.optimizer.learning_rate);
  plan.rate_end = recipe.number("learning_rate_end").more_than(0).or_else(plan.rate);
  plan.worlds = recipe.integer<std::size_t>("worlds").between(1, 10000000).or_else(plan.worlds);
  plan.first_world = recipe.integer<std::uint64_t>("first_world").at_least(1).or_else(plan.first_world);
  plan.scenario_share =
      recipe.number("scenario_share").between(0, 1).or_else(shared ? plan.scenario_share : 1);
  plan.coming_and_going = recipe.number("coming_and_going").between(0, 1).or_else(plan.coming_and_going);
  plan.talkers = recipe.number("talkers").between(0, 1).or_else(plan.talkers);
  plan.random.laboratory_share =
      recipe.number("laboratory_share").between(0, 1).or_else(plan.random.laboratory_share);
  plan.random.most_nodes = recipe.integer<int>("most_nodes").between(3, 5000).or_else(40);
  if (const auto moments = recipe.numbers("moments").optional()) {
    plan.settings.brain.reward.moments.clear();
    for (const double seconds : *moments) {
      if (!(seconds > 0 && seconds <= 3600))
        recipe.fail("moments", "expected seconds, more than 0, at most 3600");
      plan.settings.brain.reward.moments.push_back(from_seconds(seconds));
    }
    if (!std::is_sorted(plan.settings.brain.reward.moments.begin(),
                        plan.settings.brain.reward.moments.end()) ||
        moments->empty())
      recipe.fail("moments", "expected at least one, in order");
  }
  plan.settings.brain.reward.delay_weight =
      recipe.number("delay_weight").between(0, 100).or_else(plan.settings.brain.reward.delay_weight);
  plan.epsilon = recipe.number("epsilon.start").between(0, 1).or_else(shared ? 0.3 : dqn.epsilon_start);
  plan.epsilon_end = recipe.number("epsilon.end").between(0, 1).or_else(shared ? 0.05 : dqn.epsilon_end);
  plan.epsilon_worlds = recipe.integer<std::size_t>("epsilon.worlds").between(0, 10000000).or_else(0);
  // Independent agents explore by themselves, for as long as they are trained.
  if (!shared) dqn.epsilon_start = dqn.epsilon_end = plan.epsilon_end;
  plan.online_rate =
      recipe.number("online.learning_rate").more_than(0).or_else(shared ? plan.online_rate : plan.rate_end);
  plan.online_epsilon =
      recipe.number("online.epsilon").between(0, 1).or_else(shared ? plan.online_epsilon : plan.epsilon_end);
  plan.smoothing = recipe.number("smoothing").between(1e-6, 1).or_else(plan.smoothing);
  plan.validation.worlds = recipe.integer<std::size_t>("validation.worlds").between(0, 1000).or_else(3);
  plan.validation.every = recipe.integer<std::size_t>("validation.every").at_least(1).or_else(25);
  plan.validation.metric =
      recipe.word("validation.metric", {"imbalance", "imbalance_of_means"}).or_else("imbalance");
  return plan;
}

}  // namespace

Result<std::unique_ptr<Trainer>> make_marl_trainer(YamlReader& recipe, TrainerInput input) {
  Plan plan = read_plan(recipe);
  if (plan.way == Way::independent) {
    if (input.experiments.empty())
      return invalid("independent agents need a scenario: give --scenario, or `scenarios` in the recipe");
    plan.agents = simulator::expand(input.experiments.front().scenario, plan.first_world).nodes.size();
    plan.agents = std::clamp<std::size_t>(plan.agents, 1, 1000);
  }
  return std::unique_ptr<Trainer>(std::make_unique<MarlTrainer>(std::move(plan), std::move(input)));
}

}  // namespace evenkeel::training
