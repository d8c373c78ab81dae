#include "scheduling/policies/drs_live.h"

#include <algorithm>
#include <cmath>

#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

using namespace std::chrono_literals;
using learning::Mask;
using learning::Real;

constexpr Duration kLookAgain = 1s;

Mask only(std::size_t place, std::size_t places) {
  Mask mask(places, 0);
  mask[place] = 1;
  return mask;
}

}  // namespace

LiveDrs::LiveDrs(DrsSettings settings, LiveLearningOptions options, LearnerLink& link)
    : settings_(std::move(settings)), options_(std::move(options)), link_(link) {}

bool LiveDrs::know_nodes(const ClusterState& cluster) {
  if (cluster.node_count() == 0 || cluster.node_count() > Drs::kMostNodes) return false;
  weights_ = link_.weights();
  if (places_.size() == 0 && weights_) places_.adopt(weights_->nodes);
  const NodePlaces::Change change = places_.follow(cluster);
  if (change.anew) {
    figures_.lost(Lost::nodes, due_.size());
    due_.clear();
  }
  if (change.any) link_.lay_out(places_.names());
  return true;
}

std::optional<LiveDrs::View> LiveDrs::look(const PlacementRequest& request) const {
  if (!load_is_known(request)) return std::nullopt;
  const auto nodes = node_metrics(request.cluster, places_.slots(), fresh_pods());
  const auto pod = pod_metrics(request.cluster, places_.slots(), request.demand.mean);
  if (!nodes || !pod) return std::nullopt;
  View view{*pod, drs_state(*nodes, *pod, settings_.input_scale), Mask(places_.size())};
  for (std::size_t i = 0; i < places_.size(); ++i)
    view.allowed[i] = places_.slots()[i] < request.feasible.size() && request.feasible[places_.slots()[i]];
  if (learning::allowed_count(view.allowed, places_.size()) == 0) return std::nullopt;
  return view;
}

const LearntWeights* LiveDrs::fitting_weights() const {
  return weights_ && weights_->nodes.size() == places_.size() ? weights_.get() : nullptr;
}

std::vector<Real> LiveDrs::opinions(const LearntWeights& weights, const View& view) const {
  const learning::Vector outputs = weights.network.forward(view.state);
  if (settings_.learner.algorithm == DrsAlgorithm::dqn) {
    const learning::Matrix values =
        settings_.learner.dqn.dueling ? learning::dueling_values(outputs) : learning::Matrix(outputs);
    return {values.data(), values.data() + values.size()};
  }
  const learning::Vector chances =
      learning::softmax({outputs.data(), static_cast<std::size_t>(outputs.size())}, view.allowed).probability;
  return {chances.data(), chances.data() + chances.size()};
}

// A trial, if it is time for one and somewhere else would do nearly as well.
std::optional<LiveDrs::Decision> LiveDrs::explore(const PlacementRequest& request, const View& view,
                                                  Random& random) {
  if (!may_explore(options_.explore, request.pod) || !random.chance(options_.explore.share))
    return std::nullopt;
  const LearntWeights* const weights = fitting_weights();
  if (on_policy() && !weights) return std::nullopt;
  const ScoreSheet sheet = rule_.explain(request);
  const std::vector<std::uint8_t> close =
      close_to_best(sheet, request.feasible.size(), options_.explore.margin);
  Decision decision{
      .decider = Decider::explored, .counted_as = Decider::explored, .drawn_from = Mask(places_.size())};
  for (std::size_t i = 0; i < places_.size(); ++i)
    decision.drawn_from[i] = view.allowed[i] && close[places_.slots()[i]];
  if (learning::allowed_count(decision.drawn_from, places_.size()) < 2) return std::nullopt;
  if (on_policy()) {
    const learning::Vector logits = weights->network.forward(view.state);
    const learning::ActionDistribution policy =
        learning::softmax({logits.data(), static_cast<std::size_t>(logits.size())}, decision.drawn_from);
    const int action = policy.sample(random);
    decision.place = static_cast<std::size_t>(action);
    decision.log_probability = policy.log_probability[action];
  } else {
    decision.place =
        static_cast<std::size_t>(learning::any_allowed(places_.size(), decision.drawn_from, random));
    if (places_.slots()[decision.place] == sheet.rows.front().node.slot) decision.counted_as = Decider::rule;
  }
  return decision;
}

std::optional<LiveDrs::Decision> LiveDrs::exploit(const View& view) const {
  const LearntWeights* const weights = fitting_weights();
  if (!weights || !weights->decides) return std::nullopt;
  const learning::Vector outputs = weights->network.forward(view.state);
  // The value of the state shifts all actions alike, so a dueling network's advantages rank them as well.
  const int action = learning::best_allowed({outputs.data(), places_.size()}, view.allowed);
  if (action < 0 || !std::isfinite(outputs[action])) return std::nullopt;
  const auto place = static_cast<std::size_t>(action);
  return Decision{.place = place,
                  .decider = Decider::learned,
                  .counted_as = Decider::learned,
                  .drawn_from = on_policy() ? only(place, places_.size()) : view.allowed};
}

std::optional<NodeId> LiveDrs::choose(const PlacementRequest& request, Random& random) {
  forget(request.pod.id);
  std::optional<View> view = know_nodes(request.cluster) ? look(request) : std::nullopt;
  if (!view) {
    figures_.decided();
    figures_.lost(Lost::unmeasured);
    return rule_.choose(request, random);
  }
  std::optional<Decision> decision = explore(request, *view, random);
  if (!decision) decision = exploit(*view);
  if (!decision) {
    const std::optional<NodeId> chosen = rule_.choose(request, random);
    const auto place = chosen ? places_.place_of(*chosen) : std::nullopt;
    if (!place) return chosen;
    decision = Decision{.place = *place, .drawn_from = view->allowed};
  }
  const NodeId node{places_.slots()[decision->place]};
  if (decision->decider == Decider::explored) {
    figures_.explored();
    explored_ = {request.pod.id, node};
  }
  remember(request, node, *std::move(decision), *std::move(view));
  return node;
}

void LiveDrs::placed(const PlacementRequest& request, NodeId node) {
  forget(request.pod.id);
  std::optional<View> view = know_nodes(request.cluster) ? look(request) : std::nullopt;
  const auto place = view ? places_.place_of(node) : std::nullopt;
  if (!place) {
    figures_.decided();
    return figures_.lost(Lost::unmeasured);
  }
  Decision decision{.place = *place, .drawn_from = view->allowed};
  remember(request, node, std::move(decision), *std::move(view));
}

void LiveDrs::remember(const PlacementRequest& request, NodeId node, Decision decision, View view) {
  ++decisions_;
  figures_.decided();
  if (due_.size() >= kMostPending) return figures_.lost(Lost::crowded);
  Pending pending{.at = request.now + kLookAgain,
                  .decided = request.now,
                  .pod = request.pod.id,
                  .node = node,
                  .expected = request.demand.mean,
                  .decision = std::move(decision),
                  .view = std::move(view)};
  pending.decision.sequence = decisions_;
  due_.add(std::move(pending));
}

// Asked about again: its last binding failed, and is not to be learnt from as if it had worked.
void LiveDrs::forget(PodId pod) {
  if (explored_ && explored_->first == pod) explored_.reset();
  figures_.lost(Lost::gone, due_.erase_if([&](const Pending& pending) { return pending.pod == pod; }));
}

std::vector<FreshPod> LiveDrs::fresh_pods() const {
  std::vector<FreshPod> fresh;
  if (settings_.count_fresh_pods)
    for (const Pending& pending : due_) fresh.push_back({pending.pod, pending.node, pending.expected});
  return fresh;
}

ScoreSheet LiveDrs::explain(const PlacementRequest& request) {
  const LearntWeights* const weights = fitting_weights();
  const bool by_network = weights && weights->decides && places_.is_current(request.cluster);
  const std::optional<View> view = by_network ? look(request) : std::nullopt;
  ScoreSheet sheet;
  if (view) {
    const std::vector<Real> opinion = opinions(*weights, *view);
    sheet.terms.emplace_back(settings_.learner.algorithm == DrsAlgorithm::dqn ? "Q" : "probability");
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (view->allowed[i]) sheet.rows.push_back({{places_.slots()[i]}, {opinion[i]}, opinion[i]});
    sheet.put_best_first();
  } else {
    sheet = rule_.explain(request);
  }
  if (explored_ && explored_->first == request.pod.id) mark_explored(sheet, explored_->second);
  return sheet;
}

// The newest weights age while nothing is asked, so that others see it.
std::vector<LearningFigure> LiveDrs::learning() const {
  const LearntWeights* const weights = fitting_weights();
  return figures_.figures(link_.progress(), options_.explore.share, weights && weights->decides, due_.size());
}

LiveDrs::Outcome LiveDrs::outcome_of(Pending& pending, const Retrospect& seen) const {
  const PodRecord* record = seen.cluster.pod(pending.pod);
  if (!record || record->place == PodPlace::pending || record->node != pending.node) return Outcome::gone;
  const bool is_late = seen.now - pending.decided >= options_.reward_within + options_.reward_after;
  if (record->place != PodPlace::bound) return is_late ? Outcome::stale : Outcome::wait;
  if (pending.bound == Time::max()) pending.bound = seen.now;
  if (seen.now - pending.bound < options_.reward_after) return is_late ? Outcome::stale : Outcome::wait;
  if (!samples_show(seen, pending.bound, {&pending.node, 1})) return is_late ? Outcome::stale : Outcome::wait;
  return Outcome::learn;
}

void LiveDrs::learn_from(Pending pending, const Retrospect& seen) {
  const auto nodes = node_metrics(seen.cluster, places_.slots(), fresh_pods());
  if (!nodes) return figures_.lost(Lost::not_finite);
  Mask present(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i)
    present[i] = places_.slots()[i] != NodePlaces::kNobody && seen.cluster.has_node({places_.slots()[i]});
  const double reward = reward_of(
      settings_.reward, {*nodes, present, places_.slots(), seen.cluster, seen.history, settings_.beta});
  if (!std::isfinite(reward)) return figures_.lost(Lost::not_finite);
  figures_.add(pending.decision.counted_as, reward);
  if (on_policy() && pending.decision.decider == Decider::rule) return;
  link_.teach({.state = std::move(pending.view.state),
               .allowed = std::move(pending.decision.drawn_from),
               .action = static_cast<int>(pending.decision.place),
               .log_probability = pending.decision.log_probability,
               .reward = reward,
               .next_state = drs_state(*nodes, pending.view.pod_part, settings_.input_scale),
               .next_allowed = std::move(present),
               .sequence = pending.decision.sequence});
}

std::vector<EvictPod> LiveDrs::review(const Retrospect& seen, Random&) {
  know_nodes(seen.cluster);
  due_.review(seen.now, kLookAgain, [&](Pending& pending) {
    const Outcome outcome = outcome_of(pending, seen);
    if (outcome == Outcome::learn) learn_from(std::move(pending), seen);
    if (outcome == Outcome::stale) figures_.lost(Lost::stale);
    if (outcome == Outcome::gone) figures_.lost(Lost::gone);
    return outcome == Outcome::wait;
  });
  return {};
}

}  // namespace evenkeel::scheduling
