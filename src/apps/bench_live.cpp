// How long a live decision takes, from the watch's word of a pod to its binding on the wire, while every node
// reports what it and its pods use once a second; and how much longer while a trainer is busy beside it.
#include <algorithm>
#include <optional>

#include "apps/bench.h"
#include "apps/bench_live_cluster.h"
#include "apps/models.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "scheduling/policies/guarded.h"
#include "scheduling/policies/ppo_lrt_state.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using reporting::format_number;

constexpr std::size_t kWarmUp = 1200;  // decisions, a minute: a guard lets a policy decide after half of one
constexpr std::size_t kInTurn = 50;    // decisions with an idle trainer, as many with a busy one, and so on
constexpr std::size_t kLessons = 256;  // more than it learns from within a decision

// From each to the next, and both in one run: a machine is seldom the same for two runs.
struct Times {
  std::vector<double> us;

  BenchJson figures() {
    std::sort(us.begin(), us.end());
    return {{"p50_us", at(50)}, {"p99_us", at(99)}, {"longest_us", us.back()}};
  }
  double at(std::size_t percent) const { return us[(us.size() - 1) * percent / 100]; }
};

// Of the right shape, and about nothing.
scheduling::Lesson any_lesson(const std::string& policy, std::size_t nodes, std::uint64_t sequence,
                              Random& random) {
  const bool is_drs = policy.starts_with("drs");
  const std::size_t inputs =
      is_drs ? (nodes + 1) * kDimensions : static_cast<std::size_t>(scheduling::ppo_lrt_inputs(nodes));
  const std::size_t actions = is_drs ? nodes : 2 * nodes;
  scheduling::Lesson lesson{.state = std::vector<learning::Real>(inputs),
                            .allowed = learning::Mask(actions, 1),
                            .action = static_cast<int>(random.below(actions)),
                            .log_probability = -1,
                            .reward = random.uniform(),
                            .next_state = std::vector<learning::Real>(inputs),
                            .next_allowed = learning::Mask(actions, 1),
                            .sequence = sequence};
  for (learning::Real& input : lesson.state) input = random.uniform();
  for (learning::Real& input : lesson.next_state) input = random.uniform();
  return lesson;
}

struct Learning {
  Times idle, busy;
  double by_network = 0;  // share of the decisions
  std::string otherwise;  // why the rule took the others
};

// Turns of an idle and of a busy trainer, taken by hand: held, or kept in lessons.
Result<Learning> time_learning(const std::string& policy, std::size_t nodes, std::size_t decisions,
                               const scheduling::PolicyModels& models) {
  LiveBench bench({nodes, policy, true}, models);
  if (const Status warm = bench.run(kWarmUp, [](LiveScheduler&, double) {}); !warm) return warm.error();
  Learning times;
  Random random(7);
  std::size_t seen = 0;
  std::uint64_t sequence = 0, before = 0, after = 0;
  const Status run = bench.run(2 * decisions, [&](LiveScheduler& live, double took_us) {
    training::OnlineLearner& learner = live.learning().learner(0);
    const auto* guard = dynamic_cast<const scheduling::Guarded*>(&live.policy(0));
    const std::uint64_t by_learned = guard ? guard->state().by_learned : 0;
    if (seen == 0) before = by_learned;
    after = by_learned;
    if (guard && !guard->state().healthy) times.otherwise = guard->state().why;
    const bool was_busy = seen / kInTurn % 2 == 1;
    // The first of a turn saw the trainer change; and one that ran out of lessons was not busy to the end.
    const bool counts = seen % kInTurn != 0 && (!was_busy || !learner.settle(0ms));
    if (counts) (was_busy ? times.busy : times.idle).us.push_back(took_us);
    const bool is_busy = ++seen / kInTurn % 2 == 1;
    learner.pause(!is_busy);
    if (!is_busy || !learner.settle(0ms)) return;
    for (std::size_t i = 0; i < kLessons; ++i) learner.teach(any_lesson(policy, nodes, ++sequence, random));
  });
  if (!run) return run.error();
  if (times.busy.us.size() < decisions / 4) return unavailable("the trainer was not kept busy");
  times.by_network = static_cast<double>(after - before) / static_cast<double>(2 * decisions - 1);
  return times;
}

Status add_learning(const BenchSettings& settings, const scheduling::PolicyModels& models, BenchJson& results,
                    std::ostream& out) {
  reporting::TextTable table{{{"policy", reporting::Align::left},
                              {"nodes"},
                              {"trainer idle: p50 us"},
                              {"p99 us"},
                              {"busy: p50 us"},
                              {"p99 us"},
                              {"by the network"}},
                             {},
                             {}};
  for (const char* policy : {"drs", "ppo-lrt"}) {
    for (const std::size_t nodes : {std::size_t{4}, std::size_t{100}}) {
      auto times = time_learning(policy, nodes, settings.quick ? 100 : 2000, models);
      if (!times) return times.error();
      BenchJson& result = results[std::to_string(nodes)][std::string(policy) + " learning"];
      result["trainer_idle"] = times->idle.figures();
      result["trainer_busy"] = times->busy.figures();
      result["by_network"] = times->by_network;
      table.rows.push_back({{policy},
                            {std::to_string(nodes)},
                            {format_number(times->idle.at(50))},
                            {format_number(times->idle.at(99))},
                            {format_number(times->busy.at(50))},
                            {format_number(times->busy.at(99))},
                            {format_number(times->by_network)}});
      if (!times->otherwise.empty())
        table.notes.push_back(std::string(policy) + ", " + std::to_string(nodes) +
                              " nodes: " + times->otherwise);
    }
  }
  table.notes.push_back(
      "The same with policies that learn while they place, the trainer held and kept busy by turns of 50 "
      "decisions in one run.");
  out << "\n" << reporting::render_text_table(table, reporting::TextStyle::plain);
  return {};
}

}  // namespace

Result<BenchJson> bench_live(const BenchSettings& settings, std::ostream& out) {
  const Result<scheduling::PolicyModels> models = load_models({});
  if (!models) return models.error();
  reporting::TextTable table{
      {{"policy", reporting::Align::left}, {"p50 us"}, {"p99 us"}, {"longest us"}}, {}, {}};
  BenchJson results;
  for (const char* policy : {"horizon", "evenkeel"}) {
    LiveBench bench({100, policy, false}, *models);
    Times times;
    const Status run = bench.run(settings.quick ? 100 : 2000,
                                 [&](LiveScheduler&, double took_us) { times.us.push_back(took_us); });
    if (!run) return run.error();
    results["100"][policy] = times.figures();
    table.rows.push_back({{policy},
                          {format_number(times.at(50))},
                          {format_number(times.at(99))},
                          {format_number(times.us.back())}});
  }
  table.notes.push_back(
      "100 nodes with ten pods each that report every second, twenty pods a second: from a pod's arrival on "
      "the watch to its binding on the wire, the API server's own time left out.");
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  if (const Status added = add_learning(settings, *models, results, out); !added) return added.error();
  return results;
}

}  // namespace evenkeel::apps
