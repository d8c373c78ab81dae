#include "scheduling/policies/marl.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

using learning::Experience;
using learning::Model;
using learning::Real;

std::string agent_name(std::size_t number) { return "agent-" + std::to_string(number); }

double running_weight(std::uint64_t count) { return static_cast<double>(std::min<std::uint64_t>(count, 50)); }

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

void Marl::begin_from_nothing(Random& random) {
  seed_ = random.bits();
  Random weights = Random(*seed_).fork("shared");
  if (settings_.sharing == MarlSharing::averaged)
    common_ = std::make_unique<MarlBrain>(settings_.brain, weights);
}

// The next agent's: the shared one's copy, the model's of that number, or blank.
std::unique_ptr<MarlBrain> Marl::new_brain(bool newcomer) {
  const std::size_t number = ++agents_made_;
  if (common_ && !(newcomer && settings_.blank_newcomers)) {
    auto brain = std::make_unique<MarlBrain>(*common_);
    (void)brain->take(common_->parameters());  // its own experience begins
    return brain;
  }
  if (model_ && model_->find(agent_name(number))) {
    Result<MarlBrain> trained = MarlBrain::from_model(settings_.brain, *model_, agent_name(number));
    if (trained) return std::make_unique<MarlBrain>(*std::move(trained));
  }
  Random weights = Random(seed_.value_or(1)).fork("agents").fork(number);
  return std::make_unique<MarlBrain>(settings_.brain, weights);
}

void Marl::know_nodes(const ClusterState& cluster) {
  if (nodes_version_ == cluster.nodes_version() && !agents_.empty()) return;
  const bool joins = !agents_.empty();
  nodes_version_ = cluster.nodes_version();
  if (agents_.size() < cluster.columns().size()) agents_.resize(cluster.columns().size());
  for (std::uint32_t slot = 0; slot < agents_.size(); ++slot) {
    if (!cluster.has_node({slot}) || agents_[slot].node == cluster.node({slot}).name) continue;
    Agent& agent = agents_[slot];
    agent.node = cluster.node({slot}).name;
    agent.brain = is_one_network() ? nullptr : new_brain(joins);
  }
}

void Marl::hear_all(Random* random) {
  const MarlInputs& inputs = settings_.brain.inputs;
  words_.resize(asked_.size());
  states_.resize(static_cast<Eigen::Index>(input_count(inputs.encoding)),
                 static_cast<Eigen::Index>(asked_.size()));
  for (std::size_t i = 0; i < asked_.size(); ++i)
    encode(asked_[i].seen, inputs, learning::column(states_, static_cast<Eigen::Index>(i)));
  if (is_one_network()) {
    const learning::Matrix values = common_->dqn().network().forward(states_);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      words_[i] = common_->word_of(values(MarlBrain::kReject, column), values(MarlBrain::kAccept, column));
    }
    return;
  }
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    Agent& agent = agents_[asked_[i].node.slot];
    MarlBrain& brain = agent.brain ? *agent.brain : *common_;
    const std::span<const Real> state = learning::column(states_, static_cast<Eigen::Index>(i));
    words_[i] = random ? brain.decide(state, *random) : brain.consider(state);
  }
}

bool Marl::anybody_speaks() const {
  return std::any_of(words_.begin(), words_.end(),
                     [](const AgentWord& word) { return word.verdict != BidVerdict::abstains; });
}

// Whether the agents could be asked. Without a Random nothing is begun.
bool Marl::look(const PlacementRequest& request, Random* random) {
  check_.begin();
  asked_ = {};
  if (!load_is_known(request)) {
    if (model_) check_.found().silent = "no node has fresh metrics";
    return false;
  }
  if (!has_begun()) {
    if (!random) return false;
    begin_from_nothing(*random);
  }
  know_nodes(request.cluster);
  asked_ = views_.look(request, settings_.brain.inputs.encoding, settings_.most_asked, random);
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
    if (words_[i].verdict != BidVerdict::accept) continue;
    if (!best || words_[i].score > words_[*best].score) {
      best = i;
      equals = 1;
    } else if (words_[i].score == words_[*best].score && random && random->below(++equals) == 0) {
      best = i;
    }
  }
  return best;
}

std::optional<NodeId> Marl::choose(const PlacementRequest& request, Random& random) {
  // Asked about again: its last binding failed, and is not to be learnt from as if it had worked.
  if (!settings_.brain.frozen) diaries_.forget(request.pod.id);
  if (!look(request, &random)) return fallback_.choose(request, random);
  ++progress_.decisions;
  const std::optional<std::size_t> best = best_bid(&random);
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
  diaries_.settle(asked_, node, now);
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
  for (AgentDiaries::Completed& completed : diaries_.review(seen.cluster, seen.now))
    if (completed.node.slot < agents_.size())
      learn(agents_[completed.node.slot], std::move(completed.experience), random);
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
  for (const AgentWord& word : words_)
    if (word.verdict == BidVerdict::accept) lowest = std::min(lowest, static_cast<double>(word.score));
  sheet.terms = {"accepts", "score"};
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const bool accepts = words_[i].verdict == BidVerdict::accept;
    const auto score = static_cast<double>(words_[i].score);
    // Who rejects is behind all that accept, whatever it says.
    sheet.rows.push_back(
        {asked_[i].node, {accepts ? 1.0 : 0.0, score}, accepts ? score : std::min(score, lowest) - 1});
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

}  // namespace evenkeel::scheduling
