// The same scenario and seed give the same bytes, on every machine and from commit to commit.
//   EVENKEEL_REGENERATE=1 golden_test     (or: make golden) writes the traces anew, to be reviewed as a diff
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "apps/evaluation_view.h"
#include "base/file.h"
#include "base/match.h"
#include "control/control_loop.h"
#include "training/evaluation.h"
#include "training/experiment.h"
#include "training/references.h"

namespace evenkeel {
namespace {

training::Experiment smoke() {
  auto file = YamlFile::open("scenarios/smoke.yaml");
  EVENKEEL_CHECK(file);
  auto experiment = training::read_experiment(*std::move(file), {});
  EVENKEEL_CHECK(experiment);
  return *std::move(experiment);
}

// A World that writes down what passes through it.
class TracedWorld final : public World {
 public:
  explicit TracedWorld(simulator::SimulatedWorld& world) : world_(world) {}

  Time now() const override { return world_.now(); }
  std::optional<std::span<const ClusterEvent>> wait_for_events(Time deadline) override {
    const auto events = world_.wait_for_events(deadline);
    if (!events) return events;
    for (const ClusterEvent& event : *events) hear(event);
    return events;
  }
  void execute(const Action& action) override {
    std::visit(Match{
                   [&](const BindPod& a) { line("bind " + pod(a.pod) + " to " + node(a.node)); },
                   [&](const MarkUnschedulable& a) { line("unschedulable " + pod(a.pod) + ": " + a.why); },
                   [&](const EvictPod& a) {
                     line("evict " + pod(a.pod) + (a.destination ? " for " + node(*a.destination) : "") +
                          ": " + a.why);
                   },
                   [&](const PreemptPods& a) {
                     std::string victims;
                     for (const PodId victim : a.victims) victims += " " + pod(victim);
                     line("preempt on " + node(a.node) + " for " + pod(a.pod) + ":" + victims);
                   },
               },
               action);
    world_.execute(action);
  }
  const std::string& text() const { return text_; }

 private:
  void hear(const ClusterEvent& event) {
    std::visit(Match{
                   [&](const NodeAdded& e) {
                     if (e.node.id.slot >= nodes_.size()) nodes_.resize(e.node.id.slot + std::size_t{1});
                     nodes_[e.node.id.slot] = e.node.name;
                     line("  " + e.node.name + " joins");
                   },
                   [&](const NodeRemoved& e) { line("  " + node(e.node) + " is lost"); },
                   [&](const PodAdded& e) {
                     if (e.pod.id.slot >= pods_.size()) pods_.resize(e.pod.id.slot + std::size_t{1});
                     pods_[e.pod.id.slot] = e.pod.name;
                     line("  " + e.pod.name + " waits");
                   },
                   [&](const PodStarted& e) { line("  " + pod(e.pod) + " starts"); },
                   [&](const BindFailed& e) { line("  " + pod(e.pod) + " not bound: " + e.why); },
                   [&](const PodGone& e) {
                     constexpr const char* kHow[] = {"completed", "failed", "evicted", "deleted"};
                     line("  " + pod(e.pod) + " gone: " + kHow[static_cast<int>(e.how)]);
                   },
                   [](const auto&) {},
               },
               event);
  }
  void line(const std::string& what) {
    char time[32];
    std::snprintf(time, sizeof time, "%10.3f  ", to_seconds(now().time_since_epoch()));
    text_ += time + what + "\n";
  }
  std::string node(NodeId id) const { return nodes_[id.slot]; }
  std::string pod(PodId id) const { return pods_[id.slot]; }

  simulator::SimulatedWorld& world_;
  std::vector<std::string> nodes_, pods_;
  std::string text_;
};

std::string trace_of(const std::string& policy, std::uint64_t seed) {
  const training::Experiment experiment = smoke();
  const simulator::WorldPlan plan = simulator::expand(experiment.scenario, seed);
  training::PreparedPolicy prepared = training::prepare_policy(policy, experiment.options, plan, seed);
  simulator::SimulatedWorld simulated(plan, Random(seed), false);
  TracedWorld traced(simulated);
  scheduling::Scheduler scheduler(prepared.setup.options);
  control::ControlLoop loop(traced, scheduler, *prepared.setup.policy, Random(seed));
  loop.run();
  return "# scenarios/smoke.yaml under " + policy + ", seed " + std::to_string(seed) +
         ": seconds, events (indented) and actions\n" + traced.text();
}

class GoldenTrace : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTrace, IsWhatItWas) {
  const std::string path = "tests/golden/smoke-" + GetParam() + ".txt";
  const std::string trace = trace_of(GetParam(), 1);
  if (std::getenv("EVENKEEL_REGENERATE")) {
    ASSERT_TRUE(write_file(path, trace));
    return;
  }
  const auto golden = read_file(path);
  ASSERT_TRUE(golden) << golden.error().message;
  if (*golden == trace) return;
  const auto differs = std::mismatch(golden->begin(), golden->end(), trace.begin(), trace.end());
  const auto number = 1 + std::count(trace.begin(), differs.second, '\n');
  const auto from = static_cast<std::size_t>(differs.second - trace.begin());
  const std::size_t begin = trace.rfind('\n', from == 0 ? 0 : from - 1) + 1;
  FAIL() << path << ":" << number << " is now\n"
         << trace.substr(begin, trace.find('\n', from) - begin)
         << "\nIf that is meant, `make golden` and review the diff.";
}

TEST_P(GoldenTrace, IsAnotherForAnotherSeed) { EXPECT_NE(trace_of(GetParam(), 1), trace_of(GetParam(), 2)); }

std::string name_of(const testing::TestParamInfo<std::string>& policy) {
  return policy.param == "horizon" ? "Horizon" : "KubeDefault";
}

INSTANTIATE_TEST_SUITE_P(Smoke, GoldenTrace, testing::Values("kube-default", "horizon"), name_of);

TEST(Evaluation, GivesTheSameBytesAgainAndWithAnyNumberOfThreads) {
  const training::Experiment experiment = smoke();
  training::EvaluationOptions options;
  options.policies = {"kube-default", "greedy+moves", "horizon", "shortest-first", "random"};
  options.seeds = {1, 2, 3, 4, 5};
  const auto json = [&](unsigned threads) {
    options.threads = threads;
    return apps::json_of(*training::evaluate(experiment, options));
  };
  const std::string first = json(1);
  EXPECT_EQ(json(1), first);
  EXPECT_EQ(json(2), first);
  options.seeds = {1, 2, 3, 4, 6};
  EXPECT_NE(json(2), first);
}

}  // namespace
}  // namespace evenkeel
