#include "scheduling/policies/marl_brain.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace evenkeel::scheduling {
namespace {

using learning::Dqn;
using learning::Experience;
using learning::Model;
using learning::ModelNetwork;
using learning::Real;
using namespace std::chrono_literals;

// A plain mean of the first fifty, then one in which the older fade.
double running_weight(std::uint64_t count) { return static_cast<double>(std::min<std::uint64_t>(count, 50)); }

// Values learnt under one discount mean nothing under another, and a rate that suits a beginner ruins what is
// nearly right: a model says what it was last trained with.
void go_on_as_trained(learning::DqnOptions& dqn, const Model& model) {
  const auto use = [&](const char* figure, std::initializer_list<Real*> fields) {
    const auto found = model.figures.find(figure);
    if (found == model.figures.end() || !std::isfinite(found->second)) return;
    for (Real* field : fields) *field = found->second;
  };
  use("discount", {&dqn.discount});
  use("epsilon", {&dqn.epsilon_start, &dqn.epsilon_end});
  use("learning_rate", {&dqn.optimizer.learning_rate});
}

}  // namespace

MarlBrainOptions thesis_brain() {
  MarlBrainOptions options;
  options.dqn.hidden = {
      32};  // the thesis does not say; rates, pool and batch are DRS's, whose code it grew from
  options.dqn.target_every = 100;
  return options;
}

MarlBrainOptions shared_brain() {
  MarlBrainOptions options;
  options.inputs.encoding = MarlEncoding::shared;
  options.reward = {MarlReward::difference, {15s, 45s, 90s, 150s, 240s}};
  options.reward.delay_weight = 2;
  options.score = MarlBrainOptions::Score::value;
  options.dqn.hidden = {16};
  options.dqn.activation = learning::Activation::tanh;
  options.dqn.initial = learning::InitialWeights::xavier;
  options.dqn.optimizer.learning_rate = 1e-4;
  options.dqn.discount = 0;
  options.dqn.target_every = 100;
  options.dqn.epsilon_start = options.dqn.epsilon_end = 0.01;
  options.dqn.replay.capacity = 1000;
  return options;
}

MarlBrain::MarlBrain(MarlBrainOptions options, Random& random)
    : options_(std::move(options)),
      dqn_(static_cast<int>(input_count(options_.inputs.encoding)), 2, options_.dqn, random),
      diary_(options_.inputs, options_.reward) {}

Result<MarlBrain> MarlBrain::from_model(MarlBrainOptions options, const Model& model,
                                        std::string_view network) {
  const std::string_view own = encoding_name(options.inputs.encoding);
  if (model.encoding != own)
    return invalid("policy '" + std::string(own) + "' needs a model of encoding '" + std::string(own) +
                   "', this one is of encoding '" + model.encoding + "'");
  const ModelNetwork* found = model.find(network);
  if (!found) return invalid("the model has no network '" + std::string(network) + "'");
  options.dqn.hidden = found->shape.hidden;
  options.dqn.activation = found->shape.activation;
  go_on_as_trained(options.dqn, model);
  if (const auto from = model.figures.find("accept_from"); from != model.figures.end()) {
    options.score = MarlBrainOptions::Score::advantage;
    options.accept_from = from->second;
  }
  Random unused(0);  // every weight is the model's
  MarlBrain brain(std::move(options), unused);
  const learning::NetworkShape& shape = brain.dqn_.network().shape();
  if (found->shape != shape)
    return invalid("the model's network '" + std::string(network) + "' takes " +
                   std::to_string(found->shape.inputs) + " inputs and has " +
                   std::to_string(found->shape.outputs) + " outputs, " + std::string(own) + " has " +
                   std::to_string(shape.inputs) + " and 2");
  std::copy(found->parameters.begin(), found->parameters.end(), brain.dqn_.network().parameters().begin());
  brain.dqn_.copy_to_target();
  brain.check_.trained_on(model.inputs);
  return brain;
}

AgentWord MarlBrain::word_of(Real reject, Real accept) const {
  if (!std::isfinite(reject) || !std::isfinite(accept)) return {};
  const Real score = options_.score == MarlBrainOptions::Score::value ? accept : accept - reject;
  const bool accepts = options_.accept_from ? score >= *options_.accept_from : accept > reject;
  return {accepts ? BidVerdict::accept : BidVerdict::reject, static_cast<float>(score), false};
}

AgentWord MarlBrain::consider(std::span<const Real> state) const {
  const learning::Vector values = dqn_.network().forward(state);
  return word_of(values[kReject], values[kAccept]);
}

AgentWord MarlBrain::consider(const AgentView& view) const { return consider(encode(view, options_.inputs)); }

AgentWord MarlBrain::decide(std::span<const Real> state, Random& random) {
  check_.begin();
  check_.look(0, state, kInputLimit);
  AgentWord word = consider(state);
  ++progress_.decisions;
  if (word.verdict == BidVerdict::abstains) {
    check_.found().finite = false;
    check_.found().silent = "what its network says is no number";
    return word;
  }
  if (!options_.frozen && random.chance(dqn_.epsilon())) {
    word.verdict = random.chance(0.5) ? BidVerdict::accept : BidVerdict::reject;
    word.explored = true;
  }
  progress_.accepted += word.verdict == BidVerdict::accept ? 1 : 0;
  return word;
}

AgentWord MarlBrain::decide(const AgentView& view, Random& random) {
  return decide(encode(view, options_.inputs), random);
}

void MarlBrain::settle(const AgentView& view, bool won, Time now) {
  if (!options_.frozen && !diary_.settle(view, won, now)) ++progress_.dropped;
}

void MarlBrain::forget(PodKey pod) { progress_.dropped += diary_.forget(pod) ? 1 : 0; }

bool MarlBrain::learn(Experience experience, Random& random) {
  const double reward = experience.reward;
  // What rejecting is worth is no news, where rewards are differences.
  const bool tells = experience.action == kAccept || options_.reward.kind == MarlReward::thesis;
  if (!dqn_.remember(std::move(experience))) {
    ++progress_.dropped;
    return false;
  }
  if (!tells) return true;
  ++experience_;
  ++progress_.rewards;
  progress_.reward_sum += reward;
  progress_.recent_reward += (reward - progress_.recent_reward) / running_weight(progress_.rewards);
  const auto figures = dqn_.learn(random);
  if (!figures) return true;
  ++progress_.updates;
  progress_.loss_sum += figures->loss;
  progress_.recent_loss += (figures->loss - progress_.recent_loss) / running_weight(progress_.updates);
  return true;
}

bool MarlBrain::review(Time now, const AgentView& now_seen, const MarlDiary::UseOf& use_of, Random& random) {
  bool learnt = false;
  for (Experience& experience : diary_.review(now, now_seen, use_of))
    learnt = learn(std::move(experience), random) || learnt;
  return learnt;
}

std::vector<float> MarlBrain::parameters() const {
  const std::span<const Real> own = dqn_.network().parameters();
  std::vector<float> all(own.size());
  std::transform(own.begin(), own.end(), all.begin(), [](Real p) { return static_cast<float>(p); });
  return all;
}

Status MarlBrain::take(std::span<const float> parameters) {
  const std::span<Real> own = dqn_.network().parameters();
  if (parameters.size() != own.size())
    return invalid("expected " + std::to_string(own.size()) + " parameters, found " +
                   std::to_string(parameters.size()));
  if (!std::all_of(parameters.begin(), parameters.end(), [](float p) { return std::isfinite(p); }))
    return invalid("a parameter is no number");
  std::copy(parameters.begin(), parameters.end(), own.begin());
  dqn_.copy_to_target();
  experience_ = 0;
  return {};
}

ModelNetwork MarlBrain::network(std::string name) const {
  const std::span<const Real> own = dqn_.network().parameters();
  return {std::move(name), dqn_.network().shape(), {own.begin(), own.end()}};
}

void MarlBrain::begin_world() {
  diary_.clear();
  progress_ = {};
}

Model marl_model(const MarlBrainOptions& options, std::vector<ModelNetwork> networks) {
  Model model;
  model.encoding = encoding_name(options.inputs.encoding);
  model.normalisation = marl_normalisation(options.inputs.encoding);
  model.networks = std::move(networks);
  return model;
}

std::optional<std::vector<float>> average(std::span<const BrainShare> shares) {
  std::vector<double> sum;
  double weight = 0;
  for (const BrainShare& share : shares) {
    const bool sound = std::all_of(share.parameters.begin(), share.parameters.end(),
                                   [](float p) { return std::isfinite(p); });
    if (share.experience == 0 || share.parameters.empty() || !sound) continue;
    if (sum.empty()) sum.resize(share.parameters.size());
    if (share.parameters.size() != sum.size()) continue;
    const auto counts = static_cast<double>(share.experience);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counts * static_cast<double>(share.parameters[i]);
    weight += counts;
  }
  if (weight <= 0) return std::nullopt;
  std::vector<float> mean(sum.size());
  std::transform(sum.begin(), sum.end(), mean.begin(),
                 [&](double s) { return static_cast<float>(s / weight); });
  return mean;
}

}  // namespace evenkeel::scheduling
