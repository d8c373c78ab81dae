#include "scheduling/policies/ppo_lrt.h"

#include <algorithm>

#include "base/check.h"
#include "learning/model_file.h"
#include "scheduling/policies/least_imbalance.h"
#include "scheduling/policies/tasks.h"

namespace evenkeel::scheduling {
namespace {

constexpr Duration kLook = std::chrono::seconds{5};
constexpr Duration kPatience = std::chrono::seconds{15};  // with pods no reading shows

learning::ActionDistribution distribution(const learning::Network& actor,
                                          std::span<const learning::Real> state,
                                          std::span<const std::uint8_t> allowed) {
  const learning::Vector logits = actor.forward(state);
  return learning::softmax({logits.data(), static_cast<std::size_t>(logits.size())}, allowed);
}

// The youngest first: they lose least work.
std::vector<PodId> running_youngest_first(const ClusterState& cluster, NodeId node) {
  std::vector<PodId> pods;
  for (const PodId id : cluster.pods_on(node))
    if (cluster.pod(id)->started) pods.push_back(id);
  std::sort(pods.begin(), pods.end(), [&](PodId a, PodId b) {
    const Time from_a = cluster.pod(a)->since, from_b = cluster.pod(b)->since;
    return from_a != from_b ? from_a > from_b : a < b;
  });
  return pods;
}

}  // namespace

PpoLrt::PpoLrt(PpoLrtOptions options, std::shared_ptr<const learning::Network> actor)
    : options_(std::move(options)), actor_(std::move(actor)), judge_(options_.reward, options_.settle) {}

PpoLrt::PpoLrt(PpoLrtOptions options, const learning::Ppo& learner) : PpoLrt(std::move(options), nullptr) {
  learner_ = &learner;
}

PpoLrt::PpoLrt(PpoLrtOptions options, LiveLearningOptions live, LearnerLink& link)
    : PpoLrt(std::move(options), nullptr) {
  judge_.look_live(live.reward_within);
  live_ = std::make_unique<PpoLrtLive>(std::move(live), link);
}

const learning::Network* PpoLrt::actor() const {
  if (live_) return live_->actor();
  return learner_ ? &learner_->actor() : actor_.get();
}

bool PpoLrt::find_open(const PlacementRequest& request) {
  if (options_.ordered) {
    if (!find_open_nodes(request, open_)) return false;
    open_count_ = static_cast<std::size_t>(std::count(open_.begin(), open_.end(), 1));
  } else {
    open_.assign(request.feasible.begin(), request.feasible.end());
    open_count_ = request.feasible_count;
  }
  return true;
}

bool PpoLrt::may_clear(const PlacementRequest& request, const NodeLoads& loads, std::size_t node) const {
  if (!options_.load_control) return false;
  const NodeId id = loads.nodes[node];
  // With hold-back every busy node's CPU is full, and by no more than it can run.
  const bool cpu_above = !options_.ordered && loads.cpu[node] > options_.reward.cpu_limit;
  if (!cpu_above && loads.memory[node] <= options_.reward.memory_limit) return false;
  if (to_clear_ || request.cluster.pods_on(id).size() < 2) return false;
  return id.slot >= last_cleared_.size() || last_cleared_[id.slot] == Time::min() ||
         request.now - last_cleared_[id.slot] >= options_.clear_every;
}

std::optional<PpoLrt::View> PpoLrt::look(const PlacementRequest& request) {
  // One that learns here has a rule to decide until it can.
  const auto silent = [&](std::string_view why) {
    if (!live_ && !learner_) check_.found().silent = why;
    return std::nullopt;
  };
  if (!actor()) return silent("it has no model");
  if (!load_is_known(request)) return silent("no node has a fresh reading");
  View view{loads_of(request.cluster, unseen_.pods()), {}, {}};
  if (live_ && !live_->arrange(view.loads, request.cluster)) return std::nullopt;
  const std::size_t nodes = view.loads.nodes.size();
  if (ppo_lrt_inputs(nodes) != actor()->shape().inputs)
    return silent("its network is for another number of nodes");
  if (!believable(view.loads)) return silent("a node's load is no number");
  view.state = ppo_lrt_state(view.loads, request.cluster, *request.pod.shape, last_response_s_);
  for (std::size_t node = 0; node < nodes; ++node) {
    view.allowed.push_back(open_[view.loads.nodes[node].slot]);
    view.allowed.push_back(may_clear(request, view.loads, node) ? 1 : 0);
  }
  check_.look(0, std::span<const double>(view.state), 0);
  return view;
}

int PpoLrt::act(const View& view, Random& random) {
  if (live_) return live_->act(view.state, view.allowed, random);
  if (!learner_) {
    const learning::Vector logits = actor_->forward(view.state);
    check_.found().finite = check_.found().finite && logits.allFinite();
    return learning::best_allowed({logits.data(), static_cast<std::size_t>(logits.size())}, view.allowed);
  }
  const learning::Ppo::Choice choice = learner_->act(view.state, view.allowed, random);
  made_.back().push_back(
      {view.state, view.allowed, choice.action, choice.log_probability, choice.value, 0, false, 0});
  return choice.action;
}

NodeId PpoLrt::draw(const PlacementRequest& request, View view, Random& random) {
  PpoLrtAction action = PpoLrtAction::of(act(view, random));
  if (action.clears) {
    to_clear_ = view.loads.nodes[action.node];
    clear_at_ = request.now;
    last_cleared(*to_clear_) = request.now;
    for (std::size_t node = 0; node < view.loads.nodes.size(); ++node) view.allowed[2 * node + 1] = 0;
    action = PpoLrtAction::of(act(view, random));
  }
  return view.loads.nodes[action.node];
}

bool PpoLrt::step_goes_on(Time now) const {
  // It is about to be judged, or was left by all of its pods.
  if (live_ && (now - step_at_ >= options_.settle || !judge_.last_is_open())) return false;
  return step_node_ && step_left_ > 0 && !unseen_.pods().empty() && open_[step_node_->slot] != 0;
}

// Whether the last action's pods are still to show.
bool PpoLrt::must_wait(Time now) const {
  return !live_ && !options_.ordered && step_node_ && step_left_ == 0 && !unseen_.pods().empty() &&
         now - step_at_ < kPatience;
}

std::optional<NodeId> PpoLrt::choose(const PlacementRequest& request, Random& random) {
  check_.begin();
  if (live_) live_->follow(request.cluster, request.now);
  if (!find_open(request)) return std::nullopt;
  unseen_.drop_seen(request.cluster);
  const bool begins = !step_goes_on(request.now);
  if (begins && must_wait(request.now)) {
    check_.found().waits = true;
    return std::nullopt;
  }
  if (begins) step_node_.reset();
  std::optional<NodeId> chosen = step_node_;
  if (!chosen) {
    begin_step(request, look(request), random);
    chosen = step_node_;
    if (!chosen) chosen = otherwise().choose(among_open(request), random);
  }
  if (step_node_) --step_left_;
  if (actor() || live_) {
    unseen_.placed(request.pod.id);
    next_look_ = std::min(next_look_, request.now + kLook);
  }
  if (judges() && chosen) judge_.place(request.pod.id, *chosen, request.pod.created);
  return chosen;
}

// An action of the network's, if it has one; else a step of somebody else's.
void PpoLrt::begin_step(const PlacementRequest& request, const std::optional<View>& view, Random& random) {
  const std::uint64_t number = judges() ? judge_.begin_step(request.now) : 0;
  if (learner_) made_.emplace_back();
  std::size_t pods = options_.pods_per_action;
  if (live_) {
    const auto close = [&] { return otherwise().explain(among_open(request)); };
    live_->begin_step(number, request, view ? &view->loads : nullptr, close, random);
    if (live_->step_is(Decider::rule)) return;
    if (live_->step_is(Decider::explored)) pods = 1;
  }
  if (!view) return;
  step_node_ = draw(request, *view, random);
  step_left_ = pods;
  step_at_ = request.now;
}

PlacementRequest PpoLrt::among_open(const PlacementRequest& request) const {
  PlacementRequest narrowed = request;
  narrowed.feasible = open_;
  narrowed.feasible_count = open_count_;
  return narrowed;
}

ScoreSheet PpoLrt::explain(const PlacementRequest& request) {
  check_.begin();
  if (!find_open(request)) return {{"open to it"}, {}};
  const bool by_network = !live_ || live_->decides();
  const std::optional<View> view = by_network ? look(request) : std::nullopt;
  if (!view) {
    ScoreSheet sheet = otherwise().explain(among_open(request));
    if (live_ && step_node_ && live_->explored(request.pod.id)) mark_explored(sheet, *step_node_);
    return sheet;
  }
  const learning::ActionDistribution policy = distribution(*actor(), view->state, view->allowed);
  check_.found().finite = policy.probability.allFinite();
  ScoreSheet sheet{{"probability, the rest being load control"}, {}};
  for (std::size_t node = 0; node < view->loads.nodes.size(); ++node) {
    const int action = PpoLrtAction{node, false}.index();
    if (!view->allowed[static_cast<std::size_t>(action)]) continue;
    const double probability = policy.probability[action];
    sheet.rows.push_back({view->loads.nodes[node], {probability}, probability});
  }
  sheet.put_best_first();
  if (live_ && step_node_ && live_->explored(request.pod.id)) mark_explored(sheet, *step_node_);
  return sheet;
}

void PpoLrt::placed(const PlacementRequest& request, NodeId node) {
  if (!live_) return;
  live_->follow(request.cluster, request.now);
  live_->note_rule_step(judge_.begin_step(request.now));
  step_node_.reset();
  judge_.place(request.pod.id, node, request.pod.created);
  unseen_.placed(request.pod.id);
}

std::vector<LearningFigure> PpoLrt::learning() const {
  return live_ ? live_->figures() : std::vector<LearningFigure>{};
}

Time PpoLrt::review_at() const { return std::min({next_look_, clear_at_, judge_.next_look()}); }

Time& PpoLrt::last_cleared(NodeId node) {
  if (node.slot >= last_cleared_.size()) last_cleared_.resize(node.slot + std::size_t{1}, Time::min());
  return last_cleared_[node.slot];
}

std::vector<EvictPod> PpoLrt::review(const Retrospect& seen, Random&) {
  if (!seen.ended.empty()) last_response_s_ = to_seconds(seen.ended.back().ended - seen.ended.back().created);
  if (judges()) judge_.review(seen);
  if (live_) {
    live_->follow(seen.cluster, seen.now);
    live_->teach(judge_);
    unseen_.drop_seen(seen.cluster);
  }
  next_look_ = seen.now + kLook;
  clear_at_ = Time::max();
  std::vector<EvictPod> evictions;
  if (!to_clear_) return evictions;
  const NodeId node = *to_clear_;
  to_clear_.reset();
  if (!seen.cluster.has_node(node)) return evictions;
  const std::vector<PodId> pods = running_youngest_first(seen.cluster, node);
  if (pods.size() < 2) return evictions;
  const auto share = static_cast<std::size_t>(options_.cleared_share * static_cast<double>(pods.size()));
  ++clearings_;
  for (std::size_t i = 0; i < std::clamp<std::size_t>(share, 1, pods.size() - 1); ++i)
    evictions.push_back(
        {pods[i], std::nullopt, options_.name + ": load control, the node is above its limit"});
  return evictions;
}

PpoLrt::Episode PpoLrt::finish_episode() {
  EVENKEEL_CHECK(learner_);
  judge_.finish();
  Episode episode;
  for (std::vector<learning::PpoStep>& step : made_) {
    const std::optional<PpoLrtVerdict> verdict = judge_.next_verdict();
    EVENKEEL_CHECK(verdict);
    if (!verdict->known) continue;
    episode.verdicts.push_back(*verdict);
    if (step.empty()) continue;
    step.back().reward = verdict->reward;  // a clearing is paid by what comes after it
    std::move(step.begin(), step.end(), std::back_inserter(episode.steps));
  }
  if (!episode.steps.empty()) episode.steps.back().last = true;
  made_.clear();
  return episode;
}

std::string ppo_lrt_encoding(const PpoLrtOptions& options, std::size_t nodes) {
  return options.name + "/" + std::to_string(nodes) + " nodes";
}

namespace {

Result<std::unique_ptr<PlacementPolicy>> from_model(PpoLrtOptions options, const learning::Model* model) {
  using Made = Result<std::unique_ptr<PlacementPolicy>>;
  if (!model) return Made(std::make_unique<PpoLrt>(std::move(options), nullptr));
  const learning::ModelNetwork* actor = model->find("actor");
  if (!actor) return invalid("model for " + options.name + ": expected a network 'actor', found none");
  const int outputs = actor->shape.outputs;
  const auto nodes = static_cast<std::size_t>(std::max(outputs, 0)) / 2;
  if (const std::string expected = ppo_lrt_encoding(options, nodes); model->encoding != expected)
    return invalid("model for " + options.name + ": expected the encoding '" + expected + "', found '" +
                   model->encoding + "'");
  if (nodes == 0 || outputs % 2 != 0 || actor->shape.inputs != ppo_lrt_inputs(nodes))
    return invalid("model for " + options.name + ": network 'actor' has " +
                   std::to_string(actor->shape.inputs) + " inputs and " + std::to_string(outputs) +
                   " outputs, expected 2n + 3 and 2n for n nodes");
  auto network = std::make_shared<learning::Network>(actor->shape);
  std::copy(actor->parameters.begin(), actor->parameters.end(), network->parameters().begin());
  auto made = std::make_unique<PpoLrt>(std::move(options), std::move(network));
  made->inputs().trained_on(model->inputs);
  return Made(std::move(made));
}

}  // namespace

Result<std::unique_ptr<PlacementPolicy>> make_ppo_lrt(const learning::Model* model) {
  return from_model({}, model);
}

Result<std::unique_ptr<PlacementPolicy>> make_ppo_lrt_ordered(const learning::Model* model) {
  PpoLrtOptions options;
  options.name = "ppo-lrt-ordered";
  options.ordered = true;
  options.pods_per_action = 1;
  return from_model(std::move(options), model);
}

}  // namespace evenkeel::scheduling
