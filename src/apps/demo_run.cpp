#include "apps/demo_run.h"

#include <algorithm>
#include <cstdio>

#include "base/match.h"

namespace evenkeel::apps {
namespace {

std::string in_short(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// The parts in which the chosen node differs most from the one that came second.
std::vector<std::string> strongest_reasons(const scheduling::ScoreSheet& sheet,
                                           const scheduling::ScoreSheet::Row& chosen,
                                           const scheduling::ScoreSheet::Row* second) {
  std::vector<std::pair<double, std::string>> reasons;
  for (std::size_t i = 0; i < sheet.terms.size() && i < chosen.parts.size(); ++i) {
    const double other = second && i < second->parts.size() ? second->parts[i] : 0;
    const double ahead = chosen.parts[i] - other;
    if (second && ahead == 0) continue;  // says nothing about the choice
    std::string text = sheet.terms[i] + " " + in_short(chosen.parts[i]);
    if (second) text += " against " + in_short(other);
    reasons.emplace_back(ahead, std::move(text));
  }
  std::sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> strongest;
  for (std::size_t i = 0; i < reasons.size() && i < 3; ++i) strongest.push_back(std::move(reasons[i].second));
  return strongest;
}

}  // namespace

DemoRun::DemoRun(simulator::WorldPlan plan, std::uint64_t seed) : plan_(std::move(plan)), seed_(seed) {
  state_.scenario = plan_.name;
  state_.seed = seed;
  state_.end_s = length_s();
}

Result<std::unique_ptr<DemoRun>> DemoRun::start(const training::Experiment& experiment,
                                                const std::vector<std::string>& policies, std::uint64_t seed,
                                                const scheduling::PolicyModels& models) {
  std::unique_ptr<DemoRun> run(new DemoRun(simulator::expand(experiment.scenario, seed), seed));
  for (const std::string& policy : policies) {
    const Status known = training::check_policy(policy, experiment.options, models);
    if (!known) return known.error();
    run->add_lane(training::prepare_policy(policy, experiment.options, run->plan_, seed, models));
  }
  return run;
}

double DemoRun::length_s() const {
  if (plan_.end != Time::max()) return to_seconds(plan_.end.time_since_epoch());
  double last = 0;
  for (const simulator::PodPlan& pod : plan_.pods)
    last = std::max(last, to_seconds(pod.arrival.time_since_epoch()) + pod.behaviour->ideal_seconds());
  return last;
}

void DemoRun::add_lane(training::PreparedPolicy policy) {
  Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>());
  const Random random(seed_);
  lane.policy = std::move(policy);
  lane.world = std::make_unique<simulator::SimulatedWorld>(plan_, random, false);
  lane.scheduler = std::make_unique<scheduling::Scheduler>(lane.policy.setup.options);
  lane.policy.attach(*lane.world, *lane.scheduler);
  lane.loop =
      std::make_unique<control::ControlLoop>(*lane.world, *lane.scheduler, *lane.policy.setup.policy, random);
  lane.loop->watch_decisions([this, &lane](const scheduling::PlacementRequest& request,
                                           std::optional<NodeId> chosen) { note(lane, request, chosen); });
  lane.loop->watch_actions([&lane](const Action& action, Time now) {
    const auto* stuck = std::get_if<MarkUnschedulable>(&action);
    if (!stuck) return;
    const PodRecord* record = lane.scheduler->cluster().pod(stuck->pod);
    lane.decisions.push_front({to_seconds(now.time_since_epoch()),
                               record ? record->pod.name : std::string(),
                               {},
                               lane.policy.setup.name,
                               {stuck->why},
                               {}});
    if (lane.decisions.size() > reporting::kLastDecisions) lane.decisions.pop_back();
  });
}

void DemoRun::note(Lane& lane, const scheduling::PlacementRequest& request, std::optional<NodeId> chosen) {
  reporting::DecisionView view;
  view.at_s = to_seconds(request.now.time_since_epoch());
  view.pod = request.pod.name;
  view.policy = lane.policy.setup.name;
  if (chosen) {
    const scheduling::ScoreSheet sheet = lane.policy.setup.policy->explain(request);
    const scheduling::ScoreSheet::Row *own = nullptr, *second = nullptr;
    for (const auto& row : sheet.rows) {
      if (row.node == *chosen) {
        own = &row;
      } else if (!second) {
        second = &row;
      }
    }
    view.node = request.cluster.node(*chosen).name;
    if (second) view.runner_up = request.cluster.node(second->node).name;
    if (own) view.reasons = strongest_reasons(sheet, *own, second);
  } else {
    view.reasons = {"held back: every node has as many tasks as free cores"};
  }
  lane.decisions.push_front(std::move(view));
  if (lane.decisions.size() > reporting::kLastDecisions) lane.decisions.pop_back();
}

void DemoRun::advance(double share) {
  now_ = Time{} + from_seconds(length_s() * share);
  for (const auto& lane : lanes_) {
    if (!lane->ended) lane->ended = !lane->loop->run_until(now_);
    lane->history.add({to_seconds(now_.time_since_epoch()), lane->world->measures().imbalance_now(),
                       lane->world->measures().utilization_now()});
    note_learning(*lane);
  }
}

// A show of any length in bounded memory: when full, every second point goes.
void DemoRun::note_learning(Lane& lane) {
  constexpr std::size_t kMostPoints = 600;
  const std::vector<scheduling::LearningFigure> figures = lane.policy.setup.policy->learning();
  const auto placed = static_cast<double>(lane.world->counts().placed);
  reporting::LearningView& view = lane.learning;
  if (figures.empty() || (!view.pods.empty() && view.pods.back() == placed)) return;
  if (view.figures.empty())
    for (const scheduling::LearningFigure& figure : figures)
      view.figures.push_back({std::string(figure.name), {}});
  if (figures.size() != view.figures.size()) return;
  view.pods.push_back(placed);
  for (std::size_t i = 0; i < view.figures.size(); ++i) view.figures[i].values.push_back(figures[i].value);
  if (view.pods.size() < kMostPoints) return;
  const auto thin = [](std::vector<double>& values) {
    for (std::size_t i = 0; 2 * i + 1 < values.size(); ++i) values[i] = values[2 * i + 1];
    values.resize(values.size() / 2);
  };
  thin(view.pods);
  for (reporting::LearningView::Line& line : view.figures) thin(line.values);
}

void DemoRun::finish(const reporting::TableView& table) {
  state_.finished = true;
  state_.table = table;
}

reporting::PanelView DemoRun::panel(const Lane& lane) const {
  reporting::PanelView panel;
  panel.policy = lane.policy.setup.name;
  panel.reference = training::is_reference(panel.policy);
  const ClusterState& cluster = lane.scheduler->cluster();
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
    if (!cluster.has_node({slot})) continue;
    reporting::NodeView node;
    node.name = cluster.node({slot}).name;
    node.utilization = lane.world->utilization_of({slot});
    node.pods = static_cast<int>(cluster.pods_on({slot}).size());
    panel.nodes.push_back(std::move(node));
  }
  const simulator::Counts& counts = lane.world->counts();
  panel.pending = static_cast<int>(lane.world->waiting());
  panel.running = static_cast<int>(lane.world->running());
  panel.finished = static_cast<int>(counts.finished);
  panel.unschedulable = static_cast<int>(lane.scheduler->parked());
  panel.moves = static_cast<int>(counts.moves);
  panel.imbalance = lane.world->measures().imbalance_now();
  panel.utilization = lane.world->measures().utilization_now();
  panel.history = lane.history.points();
  panel.learning = lane.learning;
  panel.last_decisions.assign(lane.decisions.begin(), lane.decisions.end());
  return panel;
}

const reporting::DashboardState& DemoRun::state() {
  state_.now_s = to_seconds(now_.time_since_epoch());
  state_.panels.clear();
  for (const auto& lane : lanes_) state_.panels.push_back(panel(*lane));
  return state_;
}

}  // namespace evenkeel::apps
