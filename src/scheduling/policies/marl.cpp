#include "scheduling/policies/marl.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "scheduling/pod_network.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

using learning::Experience;
using learning::Model;
using learning::Real;

std::string agent_name(std::size_t number) { return "agent-" + std::to_string(number); }

double running_weight(std::uint64_t count) { return static_cast<double>(std::min<std::uint64_t>(count, 50)); }

// Mean network cost from each node to whom the pod talks; empty: to nobody.
std::vector<float> mean_delays(const PlacementRequest& request) {
  if (request.pod.shape->app_group.empty()) return {};
  const NetworkArguments& arguments = request.options.profile.network;
  const PodNetwork network(request.pod, request.cluster, arguments);
  const std::size_t edges = edges_of(request.pod, request.cluster, arguments).size();
  if (!network.has_peers() || edges == 0) return {};
  std::vector<std::int64_t> costs(request.feasible.size());
  network.costs(costs);
  std::vector<float> delays(costs.size());
  for (std::size_t i = 0; i < costs.size(); ++i)
    delays[i] = static_cast<float>(static_cast<double>(costs[i]) / static_cast<double>(edges));
  return delays;
}

}  // namespace

std::optional<MarlSettings> marl_settings(std::string_view policy) {
  MarlSettings settings;
  if (policy == "marl") return settings;
  if (policy != "marl-shared") return std::nullopt;
  settings.name = policy;
  settings.brain = shared_brain();
  settings.sharing = MarlSharing::averaged;
  return settings;
}

Result<std::unique_ptr<Marl>> Marl::from_model(MarlSettings settings, const Model& model) {
  const bool apart = settings.sharing == MarlSharing::none;
  Result<MarlBrain> first = MarlBrain::from_model(settings.brain, model, apart ? agent_name(1) : "agent");
  if (!first) return first.error();
  settings.brain = first->options();  // as it was trained
  auto policy = std::make_unique<Marl>(std::move(settings));
  if (!apart) policy->common_ = std::make_unique<MarlBrain>(*std::move(first));
  policy->model_ = model;
  policy->check_.trained_on(model.inputs);
  return policy;
}

void Marl::begin_from_nothing(std::size_t agents, Random& random) {
  seed_ = random.bits();
  kept_.clear();
  agents_.clear();
  agents_made_ = 0;
  Random weights = Random(*seed_).fork("shared");
  if (settings_.sharing != MarlSharing::none) {
    common_ = std::make_unique<MarlBrain>(settings_.brain, weights);
    return;
  }
  for (std::size_t i = 0; i < agents; ++i) kept_.push_back(new_brain());
  agents_made_ = 0;
}

// The next agent's: kept from before, the shared one's copy, the model's of that number, or blank.
std::unique_ptr<MarlBrain> Marl::new_brain() {
  const std::size_t number = ++agents_made_;
  if (common_) {
    auto brain = std::make_unique<MarlBrain>(*common_);
    brain->begin_world();
    (void)brain->take(common_->parameters());  // its own experience begins
    return brain;
  }
  if (number <= kept_.size() && kept_[number - 1]) return std::move(kept_[number - 1]);
  if (model_ && model_->find(agent_name(number))) {
    Result<MarlBrain> trained = MarlBrain::from_model(settings_.brain, *model_, agent_name(number));
    if (trained) return std::make_unique<MarlBrain>(*std::move(trained));
  }
  Random weights = Random(seed_.value_or(1)).fork("agents").fork(number);
  return std::make_unique<MarlBrain>(settings_.brain, weights);
}

void Marl::know_nodes(const ClusterState& cluster) {
  if (nodes_version_ == cluster.nodes_version() && !agents_.empty()) return;
  nodes_version_ = cluster.nodes_version();
  if (agents_.size() < cluster.columns().size()) agents_.resize(cluster.columns().size());
  for (std::uint32_t slot = 0; slot < agents_.size(); ++slot) {
    if (!cluster.has_node({slot}) || agents_[slot].node == cluster.node({slot}).name) continue;
    Agent& agent = agents_[slot];
    agent.node = cluster.node({slot}).name;
    agent.diary.emplace(settings_.brain.inputs, settings_.brain.reward);
    agent.brain = is_one_network() ? nullptr : new_brain();
  }
}

void Marl::view_nodes(const PlacementRequest& request, Random* random) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot]) slots.push_back(slot);
  if (random && slots.size() > settings_.most_asked) {
    random->shuffle(slots);
    slots.resize(settings_.most_asked);
    std::sort(slots.begin(), slots.end());
  }
  const ClusterShares shares = cluster_shares(request.cluster);
  const PodQuestion question = pod_question(request);
  const std::vector<float> delays = mean_delays(request);
  const bool looks_ahead = settings_.brain.inputs.encoding == MarlEncoding::shared;
  if (looks_ahead) forecasts_.refresh(request);
  asked_.resize(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const NodeId node{slots[i]};
    asked_[i] = {node, {own_node_now(request.cluster, node), shares, question}, {}};
    AgentView& view = asked_[i].view;
    if (imagined_delays_) view.pod.delay = imagined_delays_(request, node);
    if (!delays.empty()) view.pod.delay = delays[node.slot];
    if (!looks_ahead) continue;
    view.node.ahead_s = forecasts_.ahead_s();
    for (std::size_t k = 0; k < OwnNode::kMoments; ++k) {
      const UtilizationField field = forecasts_.at(k);
      for (std::size_t d = 0; d < kDimensions; ++d)
        view.node.ahead[k].of[d] = static_cast<double>(field[d][node.slot]) * view.node.capacity.of[d];
    }
  }
}

void Marl::hear_all(Random* random) {
  const MarlInputs& inputs = settings_.brain.inputs;
  states_.resize(static_cast<Eigen::Index>(input_count(inputs.encoding)),
                 static_cast<Eigen::Index>(asked_.size()));
  for (std::size_t i = 0; i < asked_.size(); ++i)
    encode(asked_[i].view, inputs, learning::column(states_, static_cast<Eigen::Index>(i)));
  if (is_one_network()) {
    const learning::Matrix values = common_->dqn().network().forward(states_);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      asked_[i].word =
          common_->word_of(values(MarlBrain::kReject, column), values(MarlBrain::kAccept, column));
    }
    return;
  }
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    Agent& agent = agents_[asked_[i].node.slot];
    MarlBrain& brain = agent.brain ? *agent.brain : *common_;
    const std::span<const Real> state = learning::column(states_, static_cast<Eigen::Index>(i));
    asked_[i].word = random ? brain.decide(state, *random) : brain.consider(state);
  }
}

bool Marl::anybody_speaks() const {
  return std::any_of(asked_.begin(), asked_.end(),
                     [](const Asked& a) { return a.word.verdict != BidVerdict::abstains; });
}

// Whether the agents could be asked. Without a Random nothing is begun.
bool Marl::look(const PlacementRequest& request, Random* random) {
  check_.begin();
  asked_.clear();
  if (!load_is_known(request)) {
    if (model_) check_.found().silent = "no node has fresh metrics";
    return false;
  }
  if (!has_begun()) {
    if (!random) return false;
    begin_from_nothing(0, *random);
  }
  know_nodes(request.cluster);
  view_nodes(request, random);
  hear_all(random);
  if (anybody_speaks()) return true;
  check_.found().finite = false;
  check_.found().silent = "what its networks say is no number";
  return false;
}

// The highest score among those that accept, by lot among equals; nothing: nobody does.
std::optional<std::size_t> Marl::best_bid(Random* random) const {
  std::optional<std::size_t> best;
  std::uint64_t equals = 0;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i].word.verdict != BidVerdict::accept) continue;
    if (!best || asked_[i].word.score > asked_[*best].word.score) {
      best = i;
      equals = 1;
    } else if (asked_[i].word.score == asked_[*best].word.score && random && random->below(++equals) == 0) {
      best = i;
    }
  }
  return best;
}

std::optional<NodeId> Marl::choose(const PlacementRequest& request, Random& random) {
  // Asked about again: its last binding failed, and is not to be learnt from as if it had worked.
  const PodKey key = pod_key(request.pod.id);
  for (Agent& agent : agents_)
    if (agent.diary) agent.diary->forget(key);
  if (!look(request, &random)) return fallback_.choose(request, random);
  ++progress_.decisions;
  std::optional<std::size_t> best = best_bid(&random);
  const bool tries =
      settings_.sharing == MarlSharing::pooled && !settings_.brain.frozen && random.chance(epsilon_);
  if (tries) best = static_cast<std::size_t>(random.below(asked_.size()));
  const auto seen = static_cast<Eigen::Index>(best.value_or(0));
  check_.look(0, std::span<const Real>(learning::column(states_, seen)), kInputLimit);
  std::optional<NodeId> node;
  if (best) node = asked_[*best].node;
  if (!node) {
    ++progress_.unclaimed;
    node = fallback_.choose(request, random);
  }
  if (node && !settings_.brain.frozen) settle(*node, request.now);
  return node;
}

void Marl::settle(NodeId node, Time now) {
  for (const Asked& asked : asked_) {
    MarlDiary& diary = *agents_[asked.node.slot].diary;
    (void)diary.settle(asked.view, asked.node == node, now);
    next_review_ = std::min(next_review_, diary.review_at());
  }
  if (settings_.sharing != MarlSharing::averaged || ++since_average_ < settings_.average_every) return;
  since_average_ = 0;
  average_brains();
}

void Marl::average_brains() {
  std::vector<std::vector<float>> known;
  std::vector<BrainShare> shares;
  for (const Agent& agent : agents_) {
    if (!agent.brain || agent.brain->experience() == 0) continue;
    known.push_back(agent.brain->parameters());
    shares.push_back({known.back(), agent.brain->experience()});
  }
  const auto mean = average(shares);
  if (!mean || !common_->take(*mean)) return;
  for (Agent& agent : agents_)
    if (agent.brain) (void)agent.brain->take(*mean);
}

void Marl::learn(Agent& agent, Experience experience, Random& random) {
  MarlBrain& brain = agent.brain ? *agent.brain : *common_;
  const MarlBrain::Progress before = brain.progress();
  (void)brain.learn(std::move(experience), random);
  const MarlBrain::Progress& after = brain.progress();
  if (after.rewards > before.rewards) {
    const double reward = after.reward_sum - before.reward_sum;
    ++progress_.rewards;
    progress_.reward_sum += reward;
    progress_.recent_reward += (reward - progress_.recent_reward) / running_weight(progress_.rewards);
  }
  if (after.updates > before.updates) {
    const double loss = after.loss_sum - before.loss_sum;
    ++progress_.updates;
    progress_.loss_sum += loss;
    progress_.recent_loss += (loss - progress_.recent_loss) / running_weight(progress_.updates);
  }
}

std::vector<EvictPod> Marl::review(const Retrospect& seen, Random& random) {
  const ClusterShares shares = cluster_shares(seen.cluster);
  next_review_ = Time::max();
  for (std::uint32_t slot = 0; slot < agents_.size(); ++slot) {
    Agent& agent = agents_[slot];
    if (!agent.diary) continue;
    const NodeId node{slot};
    if (!seen.cluster.has_node(node)) agent.diary->clear();
    if (agent.diary->review_at() <= seen.now) {
      const auto use_of = [&](const PodKey& key) -> std::optional<Usage> {
        const PodRecord* record = seen.cluster.pod(pod_id(key));
        if (!record || record->place == PodPlace::pending || record->node != node) return std::nullopt;
        return record->expected.mean;
      };
      const AgentView view{own_node_now(seen.cluster, node), shares, {}};
      for (Experience& experience : agent.diary->review(seen.now, view, use_of))
        learn(agent, std::move(experience), random);
    }
    next_review_ = std::min(next_review_, agent.diary->review_at());
  }
  return {};
}

ScoreSheet Marl::explain(const PlacementRequest& request) {
  const bool asked = look(request, nullptr);
  if (!asked && (has_begun() || !load_is_known(request))) return fallback_.explain(request);
  ScoreSheet sheet;
  if (!asked) {  // nothing was decided yet, so there is no network and nothing to prefer
    sheet.terms.emplace_back("nothing learnt yet");
    for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
      if (request.feasible[slot]) sheet.rows.push_back({{slot}, {0}, 0});
    return sheet;
  }
  if (!best_bid(nullptr)) {
    sheet = fallback_.explain(request);
    sheet.note = "kube-default, since no agent accepts";
    return sheet;
  }
  double lowest = std::numeric_limits<double>::max();
  for (const Asked& a : asked_)
    if (a.word.verdict == BidVerdict::accept) lowest = std::min(lowest, static_cast<double>(a.word.score));
  sheet.terms = {"accepts", "score"};
  for (const Asked& a : asked_) {
    const bool accepts = a.word.verdict == BidVerdict::accept;
    const auto score = static_cast<double>(a.word.score);
    // Who rejects is behind all that accept, whatever it says.
    sheet.rows.push_back(
        {a.node, {accepts ? 1.0 : 0.0, score}, accepts ? score : std::min(score, lowest) - 1});
  }
  sheet.put_best_first();
  return sheet;
}

std::vector<LearningFigure> Marl::learning() const {
  if (settings_.brain.frozen || progress_.rewards == 0) return {};
  return {{"reward", progress_.recent_reward},
          {"loss", progress_.recent_loss},
          {"epsilon", settings_.brain.dqn.epsilon_end}};
}

void Marl::begin_world() {
  // Agents take up in the next world in the order of their nodes.
  if (settings_.sharing == MarlSharing::none) {
    std::vector<std::unique_ptr<MarlBrain>> brains;
    for (Agent& agent : agents_)
      if (agent.brain) brains.push_back(std::move(agent.brain));
    for (std::size_t i = 0; i < brains.size(); ++i) {
      brains[i]->begin_world();
      if (i < kept_.size())
        kept_[i] = std::move(brains[i]);
      else
        kept_.push_back(std::move(brains[i]));
    }
  } else {
    average_brains();
  }
  agents_.clear();
  agents_made_ = 0;
  forecasts_ = {};
  since_average_ = 0;
  next_review_ = Time::max();
  progress_ = {};
}

void Marl::set_frozen(bool frozen) {
  settings_.brain.frozen = frozen;
  for (MarlBrain* brain : brains()) brain->set_frozen(frozen);
}

void Marl::set_learning_rate(Real rate) {
  for (MarlBrain* brain : brains()) brain->set_learning_rate(rate);
}

std::vector<MarlBrain*> Marl::brains() {
  std::vector<MarlBrain*> all;
  if (common_) all.push_back(common_.get());
  for (const auto& brain : kept_)
    if (brain) all.push_back(brain.get());
  for (const Agent& agent : agents_)
    if (agent.brain) all.push_back(agent.brain.get());
  return all;
}

Model Marl::model() const {
  std::vector<learning::ModelNetwork> networks;
  if (common_) networks.push_back(common_->network("agent"));
  if (!common_)
    for (const auto& brain : kept_)
      if (brain) networks.push_back(brain->network(agent_name(networks.size() + 1)));
  return marl_model(settings_.brain, std::move(networks));
}

}  // namespace evenkeel::scheduling
