#include "scheduling/policies/drs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

// A plain mean of the first fifty, then one in which the older fade.
double running_weight(std::uint64_t count) { return static_cast<double>(std::min<std::uint64_t>(count, 50)); }

using namespace std::chrono_literals;
using learning::Mask;
using learning::Model;

constexpr Duration kLookAgain = 1s;  // where a pod is still on its way, or no sample has come since
constexpr Duration kPatience = 60s;  // after which its reward is given up

using Vary = void (*)(DrsSettings&);
struct Variant {
  std::string_view name;
  Vary vary;
};

// PPO and SAC in DQN's place: DRS's network and discount, their own authors' values for the rest but for the
// rates, which must get somewhere within 300 pods.
void use_ppo(DrsSettings& s) {
  s.learner.algorithm = DrsAlgorithm::ppo;
  s.learner.ppo.hidden = s.learner.dqn.hidden;
  s.learner.ppo.discount = s.learner.dqn.discount;
  s.learner.ppo.actor.learning_rate = s.learner.ppo.critic.learning_rate = 0.01;
  s.learner.ppo.minibatch = 32;
  s.learner.reward_scale = 0.1;
}
void use_sac(DrsSettings& s) {
  s.learner.algorithm = DrsAlgorithm::sac;
  s.learner.sac.hidden = s.learner.dqn.hidden;
  s.learner.sac.discount = s.learner.dqn.discount;
  s.learner.sac.actor.learning_rate = s.learner.sac.critic.learning_rate = 0.01;
  s.learner.sac.temperature_rate = 0.01;
  s.learner.sac.batch = s.learner.sac.learn_from = s.learner.dqn.batch;
  s.learner.sac.replay = s.learner.dqn.replay;
  s.learner.sac.target_entropy_share = 0.5;
}

// To add a variant: add its line.
constexpr std::array kVariants = {
    Variant{"drs", [](DrsSettings&) {}},
    // Algorithm 2 to the letter: the pool must have overflowed, states are percent, samples alone count.
    Variant{"drs-literal",
            [](DrsSettings& s) {
              s.learner.learn_after = s.learner.dqn.replay.capacity + 1;
              s.input_scale = 100;
              s.count_fresh_pods = false;
            }},
    Variant{"drs-double", [](DrsSettings& s) { s.learner.dqn.double_q = true; }},
    Variant{"drs-dueling", [](DrsSettings& s) { s.learner.dqn.dueling = true; }},
    Variant{"drs-ppo", use_ppo},
    Variant{"drs-sac", use_sac},
    Variant{"rlsk", [](DrsSettings& s) { s.reward = DrsReward::rlsk; }},
    Variant{"deeprm", [](DrsSettings& s) { s.reward = DrsReward::deeprm; }},
    Variant{"multi-deeprm", [](DrsSettings& s) { s.reward = DrsReward::multi_deeprm; }},
};

// Values learnt under one discount or scale of rewards mean nothing under another, and a rate that suits a
// beginner ruins what is nearly right: a model says what it was last trained with.
void go_on_as_trained(LearnerSettings& learner, const Model& model) {
  const auto use = [&](const char* figure, std::initializer_list<learning::Real*> fields) {
    const auto found = model.figures.find(figure);
    if (found == model.figures.end() || !std::isfinite(found->second)) return;
    for (learning::Real* field : fields) *field = found->second;
  };
  use("discount", {&learner.dqn.discount, &learner.ppo.discount, &learner.sac.discount});
  use("reward_scale", {&learner.reward_scale});
  use("epsilon", {&learner.dqn.epsilon_start, &learner.dqn.epsilon_end});
  use("learning_rate", {&learner.dqn.optimizer.learning_rate, &learner.ppo.actor.learning_rate,
                        &learner.ppo.critic.learning_rate, &learner.sac.actor.learning_rate,
                        &learner.sac.critic.learning_rate});
}

}  // namespace

std::vector<std::string_view> drs_policies() {
  std::vector<std::string_view> names;
  for (const Variant& variant : kVariants) names.push_back(variant.name);
  return names;
}

std::optional<DrsSettings> drs_settings(std::string_view policy) {
  for (const Variant& variant : kVariants) {
    if (variant.name != policy) continue;
    DrsSettings settings;
    settings.name = policy;
    variant.vary(settings);
    return settings;
  }
  return std::nullopt;
}

Status check_drs_model(const DrsSettings& settings, const Model& model, std::size_t nodes) {
  const Result<std::size_t> own = nodes_of_drs_model(settings.learner, model);
  if (!own) return own.error();
  if (*own == nodes) return {};
  return invalid("model '" + model.encoding + "' is for " + std::to_string(*own) +
                 " nodes, this cluster has " + std::to_string(nodes) +
                 ": a flat network serves the number of nodes it was trained with");
}

Result<std::unique_ptr<Drs>> Drs::from_model(DrsSettings settings, const Model& model) {
  if (model.encoding != settings.name)
    return invalid("policy '" + settings.name + "' needs a model of encoding '" + settings.name +
                   "', this one is of encoding '" + model.encoding + "'");
  const Result<std::size_t> nodes = nodes_of_drs_model(settings.learner, model);
  if (!nodes) return nodes.error();
  const learning::NetworkShape& shape = model.networks.front().shape;
  settings.learner.dqn.hidden = settings.learner.ppo.hidden = settings.learner.sac.hidden = shape.hidden;
  settings.learner.dqn.activation = settings.learner.ppo.activation = settings.learner.sac.activation =
      shape.activation;
  go_on_as_trained(settings.learner, model);
  auto policy = std::make_unique<Drs>(std::move(settings));
  Random unused(0);  // every weight is the model's
  policy->make_learner(*nodes, unused);
  policy->trained_ = true;
  const Status begun = policy->learner_->begin_from(model);
  if (!begun) return begun.error();
  policy->check_.trained_on(model.inputs);
  return policy;
}

void Drs::make_learner(std::size_t nodes, Random& random) {
  nodes_ = nodes;
  learner_ = make_drs_learner(settings_.learner, nodes, random);
}

void Drs::begin_world(Random& random) {
  due_.clear();
  slots_.clear();
  progress_ = {};
  if (learner_) learner_->end_world(random);
  trained_ = learner_ != nullptr;  // what was learnt elsewhere is kept as a model would be
}

Model Drs::model() const {
  EVENKEEL_CHECK(learner_);
  Model model;
  model.encoding = settings_.name;
  model.networks = learner_->networks();
  for (std::size_t i = 0; i <= nodes_; ++i)
    for (const std::string_view dimension : kDimensionNames)
      model.normalisation.push_back(
          {(i < nodes_ ? "node " + std::to_string(i + 1) : "pod") + " " + std::string(dimension), 0,
           1 / settings_.input_scale});
  return model;
}

// Whether the network is one for these nodes. Without a Random nothing new is begun.
bool Drs::know_nodes(const ClusterState& cluster, Random* random) {
  if (cluster.node_count() > kMostNodes) return false;
  const auto known = [&](std::uint32_t slot) {
    return std::binary_search(slots_.begin(), slots_.end(), slot);
  };
  std::vector<std::uint32_t> present;
  bool all_known = true;
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
    if (!cluster.has_node({slot})) continue;
    present.push_back(slot);
    all_known = all_known && known(slot);
  }
  if (all_known && !slots_.empty()) return learner_ != nullptr;
  if (trained_) {
    if (present.size() != nodes_) return false;
    slots_ = std::move(present);
    due_.clear();
    return true;
  }
  if (!random) return false;
  slots_ = std::move(present);
  due_.clear();
  make_learner(slots_.size(), *random);
  return true;
}

Mask Drs::present_nodes(const ClusterState& cluster) const {
  Mask present(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) present[i] = cluster.has_node({slots_[i]});
  return present;
}

std::vector<FreshPod> Drs::fresh_pods() const {
  std::vector<FreshPod> fresh;
  if (settings_.count_fresh_pods)
    for (const Pending& pending : due_) fresh.push_back({pending.pod, pending.node, pending.expected});
  return fresh;
}

// The state and what may be done in it; nothing where the network cannot say.
std::optional<DrsChoice> Drs::look(const PlacementRequest& request, Random* random) {
  check_.begin();
  looked_at_.reset();
  // Who began from nothing has no model to fail it: it begins with the nodes there are, when it decides.
  const auto silent = [&](std::string_view why) {
    if (trained_) check_.found().silent = why;
    return std::nullopt;
  };
  if (!load_is_known(request)) return silent("no node has fresh metrics");
  if (!know_nodes(request.cluster, random)) return silent("its network is for another number of nodes");
  const auto nodes = node_metrics(request.cluster, slots_, fresh_pods());
  pod_part_ = pod_metrics(request.cluster, slots_, request.demand.mean);
  if (!nodes || !pod_part_) return silent("a metric is no number");
  DrsChoice choice{drs_state(*nodes, *pod_part_, settings_.input_scale), Mask(slots_.size())};
  for (std::size_t i = 0; i < slots_.size(); ++i)
    choice.allowed[i] = slots_[i] < request.feasible.size() && request.feasible[slots_[i]];
  if (learning::allowed_count(choice.allowed, slots_.size()) == 0)
    return silent("it knows none of the nodes");
  check_.look(0, std::span<const double>(choice.state), 0);
  looked_at_ = choice;
  return choice;
}

SelfCheck Drs::self_check() const {
  SelfCheck check = check_.found();
  if (!looked_at_ || !learner_) return check;
  for (const learning::Real opinion : learner_->opinions(looked_at_->state, looked_at_->allowed))
    check.finite = check.finite && std::isfinite(opinion);
  return check;
}

std::optional<NodeId> Drs::choose(const PlacementRequest& request, Random& random) {
  // Asked about again: its last binding failed, and is not to be learnt from as if it had worked.
  progress_.dropped += due_.erase_if([&](const Pending& pending) { return pending.pod == request.pod.id; });

  std::optional<DrsChoice> choice = look(request, &random);
  if (!choice) return fallback_.choose(request, random);
  if (settings_.frozen) return NodeId{slots_[static_cast<std::size_t>(learner_->best(*choice))]};
  learner_->act(*choice, random);
  const NodeId node{slots_[static_cast<std::size_t>(choice->action)]};
  due_.add({request.now + settings_.reward_after, request.now, request.pod.id, node, request.demand.mean,
            *pod_part_, *std::move(choice)});
  return node;
}

ScoreSheet Drs::explain(const PlacementRequest& request) {
  const bool begun = learner_ || request.cluster.node_count() > kMostNodes;
  const std::optional<DrsChoice> choice = look(request, nullptr);
  if (!choice && (begun || !load_is_known(request))) return fallback_.explain(request);
  ScoreSheet sheet;
  if (!choice) {  // nothing was decided yet, so there is no network and nothing to prefer
    sheet.terms.emplace_back("nothing learnt yet");
    for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
      if (request.feasible[slot]) sheet.rows.push_back({{slot}, {0}, 0});
    return sheet;
  }
  const std::vector<learning::Real> opinions = learner_->opinions(choice->state, choice->allowed);
  sheet.terms.emplace_back(learner_->opinion_name());
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (choice->allowed[i]) sheet.rows.push_back({{slots_[i]}, {opinions[i]}, opinions[i]});
  sheet.put_best_first();
  return sheet;
}

Drs::Outcome Drs::outcome_of(const Pending& pending, const Retrospect& seen) const {
  const PodRecord* record = seen.cluster.pod(pending.pod);
  if (!record || record->place == PodPlace::pending || record->node != pending.node) return Outcome::drop;
  const bool bound = record->place == PodPlace::bound;
  if (bound && seen.cluster.measured_at(pending.node) > pending.decided) return Outcome::learn;
  return seen.now - pending.decided < kPatience ? Outcome::wait : Outcome::drop;
}

void Drs::learn_from(Pending pending, const Retrospect& seen, Random& random) {
  const auto nodes = node_metrics(seen.cluster, slots_, fresh_pods());
  if (!nodes) {
    ++progress_.dropped;
    return;
  }
  const Mask present = present_nodes(seen.cluster);
  const double reward =
      reward_of(settings_.reward, {*nodes, present, slots_, seen.cluster, seen.history, settings_.beta});
  const auto loss =
      learner_->reward(std::move(pending.choice), reward,
                       drs_state(*nodes, pending.pod_part, settings_.input_scale), present, random);
  ++progress_.rewards;
  progress_.last_reward = reward;
  progress_.reward_sum += reward;
  progress_.recent_reward += (reward - progress_.recent_reward) / running_weight(progress_.rewards);
  if (reward_watch_) reward_watch_(reward);
  if (!loss) return;
  ++progress_.updates;
  progress_.last_loss = *loss;
  progress_.loss_sum += *loss;
  progress_.recent_loss += (*loss - progress_.recent_loss) / running_weight(progress_.updates);
}

std::vector<LearningFigure> Drs::learning() const {
  if (settings_.frozen || progress_.rewards == 0 || !learner_) return {};
  std::vector<LearningFigure> figures = {{"reward", progress_.recent_reward},
                                         {"loss", progress_.recent_loss}};
  if (const auto epsilon = learner_->epsilon()) figures.push_back({"epsilon", *epsilon});
  return figures;
}

std::vector<EvictPod> Drs::review(const Retrospect& seen, Random& random) {
  due_.review(seen.now, kLookAgain, [&](Pending& pending) {
    const Outcome outcome = outcome_of(pending, seen);
    if (outcome == Outcome::learn) learn_from(std::move(pending), seen, random);
    if (outcome == Outcome::drop) ++progress_.dropped;
    return outcome == Outcome::wait;
  });
  return {};
}

}  // namespace evenkeel::scheduling
