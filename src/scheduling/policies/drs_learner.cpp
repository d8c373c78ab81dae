#include "scheduling/policies/drs_learner.h"

#include <algorithm>
#include <utility>

#include "cluster/usage.h"

namespace evenkeel::scheduling {
namespace {

using learning::Mask;
using learning::Model;
using learning::ModelNetwork;
using learning::Network;
using learning::Real;
using learning::SavedState;

int inputs_of(std::size_t nodes) { return static_cast<int>((nodes + 1) * kDimensions); }

ModelNetwork as_model(std::string name, const Network& network) {
  return {std::move(name), network.shape(), {network.parameters().begin(), network.parameters().end()}};
}

Status copy_into(Network& network, const Model& model, std::string_view name) {
  const ModelNetwork* found = model.find(name);
  if (!found || !(found->shape == network.shape()))
    return invalid("model: network '" + std::string(name) + "' is " +
                   (found ? "of another shape" : "missing"));
  std::copy(found->parameters.begin(), found->parameters.end(), network.parameters().begin());
  return {};
}

// Counts what was stored, which the pool alone forgets.
template <class Learner>
class OffPolicy : public DrsLearner {
 public:
  OffPolicy(const LearnerSettings& settings, Learner learner)
      : settings_(settings), learner_(std::move(learner)) {}

  void act(DrsChoice& choice, Random& random) override {
    choice.action = learner_.act(choice.state, choice.allowed, random);
  }
  int best(const DrsChoice& choice) const override { return learner_.best(choice.state, choice.allowed); }
  void end_world(Random&) override {}
  std::uint64_t stored() const override { return stored_; }
  std::vector<learning::Transition> kept() const override {
    std::vector<learning::Transition> all = learner_.memory().oldest_first();
    for (learning::Transition& transition : all) transition.reward /= settings_.reward_scale;
    return all;
  }

  std::optional<Real> reward(DrsChoice choice, Real reward, std::vector<Real> next_state, Mask next_allowed,
                             Random& random) override {
    if (!learner_.remember({std::move(choice.state), std::move(choice.allowed), choice.action,
                            settings_.reward_scale * reward, std::move(next_state), std::move(next_allowed),
                            learning::EpisodeEnd::none}))
      return std::nullopt;
    if (++stored_ < settings_.learn_after) return std::nullopt;
    return loss_of(learner_.learn(random));
  }

  SavedState save() const override {
    SavedState state = learner_.save();
    state.put("stored", stored_);
    return state;
  }
  Status restore(SavedState state) override {
    stored_ = state.count("stored");
    return state.status() ? learner_.restore(std::move(state)) : state.status();
  }

 protected:
  static std::optional<Real> loss_of(const std::optional<learning::Dqn::Figures>& figures) {
    return figures ? std::optional(figures->loss) : std::nullopt;
  }
  static std::optional<Real> loss_of(const std::optional<learning::Sac::Figures>& figures) {
    return figures ? std::optional(figures->critic_loss) : std::nullopt;
  }

  LearnerSettings settings_;
  Learner learner_;
  std::uint64_t stored_ = 0;
};

class DqnLearner final : public OffPolicy<learning::Dqn> {
 public:
  std::optional<Real> epsilon() const override { return learner_.epsilon(); }
  DqnLearner(const LearnerSettings& settings, std::size_t nodes, Random& random)
      : OffPolicy(settings, {inputs_of(nodes), static_cast<int>(nodes), settings.dqn, random}) {}

  std::vector<Real> opinions(std::span<const Real> state, std::span<const std::uint8_t>) const override {
    const learning::Matrix values = learner_.values(learner_.network(), learning::as_vector(state));
    return {values.data(), values.data() + values.size()};
  }
  std::string_view opinion_name() const override { return "Q"; }
  void set_learning_rate(Real rate) override { learner_.optimizer().set_learning_rate(rate); }
  std::vector<ModelNetwork> networks() const override { return {as_model("q", learner_.network())}; }
  Status begin_from(const Model& model) override {
    const Status copied = copy_into(learner_.network(), model, "q");
    if (copied) learner_.copy_to_target();
    return copied;
  }
};

std::vector<Real> probabilities(const Network& actor, std::span<const Real> state,
                                std::span<const std::uint8_t> allowed) {
  const learning::Vector logits = actor.forward(state);
  const learning::Vector chances =
      learning::softmax({logits.data(), static_cast<std::size_t>(logits.size())}, allowed).probability;
  return {chances.data(), chances.data() + chances.size()};
}

class SacLearner final : public OffPolicy<learning::Sac> {
 public:
  SacLearner(const LearnerSettings& settings, std::size_t nodes, Random& random)
      : OffPolicy(settings, {inputs_of(nodes), static_cast<int>(nodes), settings.sac, random}) {}

  std::vector<Real> opinions(std::span<const Real> state,
                             std::span<const std::uint8_t> allowed) const override {
    return probabilities(learner_.actor(), state, allowed);
  }
  std::string_view opinion_name() const override { return "probability"; }
  void set_learning_rate(Real rate) override { learner_.set_learning_rate(rate); }
  std::vector<ModelNetwork> networks() const override {
    return {as_model("actor", learner_.actor()), as_model("critic-0", learner_.critic(0)),
            as_model("critic-1", learner_.critic(1))};
  }
  Status begin_from(const Model& model) override {
    Status copied = copy_into(learner_.actor(), model, "actor");
    for (const std::size_t i : {0U, 1U})
      if (copied) copied = copy_into(learner_.critic(i), model, "critic-" + std::to_string(i));
    if (copied) learner_.begin_from_critics();
    return copied;
  }
};

class PpoLearner final : public DrsLearner {
 public:
  PpoLearner(const LearnerSettings& settings, std::size_t nodes, Random& random)
      : settings_(settings), ppo_(inputs_of(nodes), static_cast<int>(nodes), settings.ppo, random) {}

  void act(DrsChoice& choice, Random& random) override {
    const learning::Ppo::Choice chosen = ppo_.act(choice.state, choice.allowed, random);
    choice.action = chosen.action;
    choice.log_probability = chosen.log_probability;
    choice.value = chosen.value;
  }
  int best(const DrsChoice& choice) const override { return ppo_.best(choice.state, choice.allowed); }
  std::uint64_t stored() const override { return stored_; }

  std::optional<Real> reward(DrsChoice choice, Real reward, std::vector<Real> next_state, Mask,
                             Random& random) override {
    if (!learning::all_finite(next_state)) return std::nullopt;
    const bool last = ppo_.remembered() + 1 >= settings_.ppo_every;
    learning::PpoStep step{std::move(choice.state),
                           std::move(choice.allowed),
                           choice.action,
                           choice.log_probability,
                           choice.value,
                           settings_.reward_scale * reward,
                           last,
                           last ? ppo_.value(next_state) : 0};
    if (!ppo_.remember(std::move(step))) return std::nullopt;
    ++stored_;
    if (!last) return std::nullopt;
    return ppo_.learn(random).policy_loss;
  }
  // An unfinished run of steps is forgotten: too short to learn from, and nothing follows it.
  void end_world(Random&) override { ppo_.forget(); }

  std::vector<Real> opinions(std::span<const Real> state,
                             std::span<const std::uint8_t> allowed) const override {
    return probabilities(ppo_.actor(), state, allowed);
  }
  std::string_view opinion_name() const override { return "probability"; }
  void set_learning_rate(Real rate) override { ppo_.set_learning_rate(rate); }
  std::vector<ModelNetwork> networks() const override {
    return {as_model("actor", ppo_.actor()), as_model("critic", ppo_.critic())};
  }
  Status begin_from(const Model& model) override {
    const Status copied = copy_into(ppo_.actor(), model, "actor");
    return copied ? copy_into(ppo_.critic(), model, "critic") : copied;
  }
  SavedState save() const override {
    SavedState state = ppo_.save();
    state.put("stored", stored_);
    return state;
  }
  Status restore(SavedState state) override {
    stored_ = state.count("stored");
    return state.status() ? ppo_.restore(std::move(state)) : state.status();
  }

 private:
  LearnerSettings settings_;
  learning::Ppo ppo_;
  std::uint64_t stored_ = 0;
};

}  // namespace

std::unique_ptr<DrsLearner> make_drs_learner(const LearnerSettings& settings, std::size_t nodes,
                                             Random& random) {
  switch (settings.algorithm) {
    case DrsAlgorithm::dqn:
      return std::make_unique<DqnLearner>(settings, nodes, random);
    case DrsAlgorithm::ppo:
      return std::make_unique<PpoLearner>(settings, nodes, random);
    case DrsAlgorithm::sac:
      return std::make_unique<SacLearner>(settings, nodes, random);
  }
  return nullptr;
}

Result<std::size_t> nodes_of_drs_model(const LearnerSettings& settings, const Model& model) {
  const bool dqn = settings.algorithm == DrsAlgorithm::dqn;
  const std::string name = dqn ? "q" : "actor";
  const ModelNetwork* network = model.find(name);
  if (!network) return invalid("model: expected a network '" + name + "', found none");
  const int nodes = network->shape.outputs - (dqn && settings.dqn.dueling ? 1 : 0);
  if (nodes < 1 || network->shape.inputs != inputs_of(static_cast<std::size_t>(nodes)))
    return invalid("model: network '" + name + "' has " + std::to_string(network->shape.inputs) +
                   " inputs and " + std::to_string(network->shape.outputs) +
                   " outputs; expected 6 inputs per node and 6 for the pod, and an output per node" +
                   (dqn && settings.dqn.dueling ? " and one for the state" : ""));
  return static_cast<std::size_t>(nodes);
}

}  // namespace evenkeel::scheduling
