// A dashboard over a made-up cluster that moves: what the browser test looks at.
//   dashboard_fixture [--nodes N] [--step-ms N]
// Prints the address and plays a run that goes on until a line comes in on standard input: a slow machine
// sees it live for as long as it needs. Then shows the table, and serves until standard input ends.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "reporting/dashboard_server.h"
#include "reporting/dashboard_state.h"
#include "reporting/web_assets.h"

namespace {

using namespace evenkeel;
using namespace evenkeel::reporting;

constexpr double kSecondsPerStep = 30.0;

struct Contender {
  std::string policy;
  double spread;  // how unevenly it loads the nodes
  std::string reason;
  SeriesHistory history;
};

struct Run {
  int nodes = 6;
  int step_ms = 50;
};

double wave(double phase) { return 0.5 + 0.5 * std::sin(phase); }

NodeView node_at(int index, double now_s, double spread) {
  NodeView node{.name = "worker-" + std::to_string(index), .pods = 4 + index % 5};
  for (std::size_t d = 0; d < node.utilization.size(); ++d) {
    const double phase = now_s / 400.0 + index * 1.7 + static_cast<double>(d) * 0.9;
    node.utilization[d] = 0.42 - 0.04 * static_cast<double>(d) + spread * 4.0 * (wave(phase) - 0.5);
    // Some nodes are in trouble, so that the page has something to warn of.
    if (index % 17 == 4 && d < 2) node.utilization[d] += 3.2 * spread;
    node.utilization[d] = std::clamp(node.utilization[d], 0.02, 1.05);
  }
  return node;
}

DecisionView decision_at(int number, const Contender& contender, int nodes) {
  const std::string pod = "shop/checkout-7d9f8b6c5-" + std::to_string(10000 + number);
  if (number % 9 == 8) {
    return {number * 45.0, pod, "", contender.policy, {"4 x insufficient cpu", "2 x untolerated taint"}, ""};
  }
  const std::string chosen = "worker-" + std::to_string(number * 7 % nodes);
  const std::string second = "worker-" + std::to_string((number * 7 + 1) % nodes);
  return {
      number * 45.0, pod, chosen, contender.policy, {contender.reason, "cpu 38 % → 51 %", "6 of 6 feasible"},
      second};
}

PanelView panel_at(Contender& contender, const Run& run, int step) {
  const double now_s = step * kSecondsPerStep;
  PanelView panel{.policy = contender.policy};
  for (int i = 0; i < run.nodes; ++i) panel.nodes.push_back(node_at(i, now_s, contender.spread));
  panel.pending = step % 7;
  panel.running = 6 * run.nodes - step % 5;
  panel.finished = step * 3;
  panel.unschedulable = contender.policy == "kube-default" ? step / 60 : 0;
  panel.moves = contender.policy == "horizon" ? step / 20 : 0;
  panel.imbalance = contender.spread * (0.9 + 0.25 * std::sin(step * 0.21 + contender.spread * 40));
  panel.utilization = 0.31 + 0.05 * std::sin(step * 0.05) + 0.2 * (0.14 - contender.spread);
  contender.history.add({now_s, panel.imbalance, panel.utilization});
  panel.history = contender.history.points();
  for (int n = step * 2 / 3; n > 0 && panel.last_decisions.size() < kLastDecisions; --n) {
    panel.last_decisions.push_back(decision_at(n, contender, run.nodes));
  }
  return panel;
}

// Waits, and says whether a line, or the end, came in meanwhile.
bool told_within(int milliseconds) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, milliseconds) <= 0) return false;
  char byte = 0;
  return read(STDIN_FILENO, &byte, 1) <= 0 || byte == '\n';
}

// One of them learns while it places: rewards rise, and it explores less and less.
LearningView learning_at(int step) {
  LearningView learning{.pods = {}, .figures = {{"reward", {}}, {"loss", {}}, {"epsilon", {}}}};
  for (int s = std::max(1, step - 300); s <= step; ++s) {
    learning.pods.push_back(3 * s);
    learning.figures[0].values.push_back(10 - 30 * std::exp(-s / 30.0) + wave(s));
    learning.figures[1].values.push_back(4 / (1 + s / 10.0));
    learning.figures[2].values.push_back(0.1);
  }
  return learning;
}

TableView comparison() {
  return {
      .columns = {{"imbalance", "Imbalance", Better::lower},
                  {"utilization", "Utilisation", Better::higher},
                  {"response_s_p95", "Response p95 (s)", Better::lower},
                  {"unschedulable", "Unschedulable", Better::lower},
                  {"moves", "Moves", Better::neither}},
      .rows = {
          {"kube-default", PolicyKind::rule, {{{.135, .006}}, {{.31, .01}}, {{412, 18}}, {{2, 1}}, {{0, 0}}}},
          {"greedy", PolicyKind::rule, {{{.082, .004}}, {{.33, .01}}, {{371, 15}}, {{0, 0}}, {{0, 0}}}},
          {"horizon", PolicyKind::rule, {{{.073, .003}}, {{.34, .01}}, {{355, 12}}, {{0, 0}}, {{6, 1}}}},
          {"clairvoyant", PolicyKind::reference, {{{.067, .003}}, {{.34, .01}}, {{348, 11}}, {{0, 0}}}}}};
}

// A service whose requests rise and fall, and two who follow it, one of them late.
ScalingView scaling_at(int step, bool finished) {
  ScalingView scaling{.service = "site", .bound_ms = 250, .percentile = 0.95};
  for (const auto& [policy, lag] : {std::pair{"hpa", 12}, std::pair{"evenkeel", 2}}) {
    ScalingLaneView lane{.policy = policy, .scalings = step / 8, .violation = lag * 0.001};
    for (int s = std::max(0, step - 300); s <= step; ++s) {
      lane.at_s.push_back(s * kSecondsPerStep);
      lane.requests_past.push_back(100 + 150 * wave(s * 0.04));
      lane.replicas_past.push_back(std::ceil(2 + 3 * wave((s - lag) * 0.04)));
    }
    lane.requests_per_s = lane.requests_past.back();
    lane.replicas = lane.ready = static_cast<int>(lane.replicas_past.back());
    lane.replicas_mean = 3.5;
    lane.last_decisions = {{.at_s = step * kSecondsPerStep,
                            .from = lane.replicas,
                            .to = lane.replicas,
                            .decided_by = policy,
                            .reasons = {"policy: 176 requests a second need 4"}},
                           {.at_s = step * kSecondsPerStep - 60,
                            .from = lane.replicas - 1,
                            .to = lane.replicas,
                            .decided_by = policy,
                            .reasons = {"policy: more is coming", "room: room for 1 more on worker-2 (1)"}}};
    scaling.lanes.push_back(std::move(lane));
  }
  if (finished)
    scaling.table = {.columns = {{"replicas_mean", "Replicas", Better::lower},
                                 {"sla_violation", "Violations", Better::lower}},
                     .rows = {{"hpa", PolicyKind::rule, {{{2.79, .4}}, {{.012, .002}}}},
                              {"evenkeel", PolicyKind::rule, {{{2.61, .4}}, {{.002, .001}}}}}};
  return scaling;
}

int play(const Run& run) {
  auto server = DashboardServer::start({.page = std::string(dashboard_page())});
  if (!server) {
    std::cerr << server.error().message << "\n";
    return 1;
  }
  std::cout << (*server)->url() << std::endl;  // flushed: the test waits for this line

  std::vector<Contender> contenders = {
      {"kube-default", 0.135, "least allocated 71", SeriesHistory(300)},
      {"greedy", 0.082, "least imbalance 0.081", SeriesHistory(300)},
      {"horizon", 0.073, "least expected imbalance 0.072", SeriesHistory(300)}};
  DashboardState state{.scenario = "fixture", .seed = 1};
  for (int step = 1; !state.finished; ++step) {
    state.now_s = step * kSecondsPerStep;
    state.finished = told_within(run.step_ms);
    state.panels.clear();
    for (Contender& contender : contenders) state.panels.push_back(panel_at(contender, run, step));
    state.panels[1].learning = learning_at(step);
    state.scaling = scaling_at(step, state.finished);
    if (state.finished) state.table = comparison();
    (*server)->publish(to_json(state));
  }
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Run run;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--nodes") run.nodes = std::max(1, std::atoi(argv[i + 1]));
    if (flag == "--step-ms") run.step_ms = std::max(0, std::atoi(argv[i + 1]));
  }
  return play(run);
}
