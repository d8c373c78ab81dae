// How good: the rules on the papers' worlds, beside the figures to reach.
#include <cmath>
#include <filesystem>
#include <ostream>
#include <thread>

#include "apps/bench.h"
#include "apps/scenarios.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "training/evaluation.h"

namespace evenkeel::apps {
namespace {

using training::Evaluation;
using training::PolicyResult;

struct World {
  std::string scenario;
  std::vector<std::string> policies;
  std::uint64_t seeds;
  std::vector<std::string> overrides;
};

Result<Evaluation> run(const World& world, const BenchSettings& settings) {
  const Result<training::Experiment> experiment = load_scenario(world.scenario, world.overrides);
  if (!experiment) return experiment.error();
  training::EvaluationOptions options;
  options.policies = world.policies;
  for (std::uint64_t s = 1; s <= (settings.quick ? 2 : world.seeds); ++s) options.seeds.push_back(s);
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  return training::evaluate(*experiment, options);
}

const PolicyResult& of(const Evaluation& evaluation, std::string_view policy) {
  for (const PolicyResult& result : evaluation.policies)
    if (result.policy == policy) return result;
  return evaluation.policies.front();
}

double mean(const Evaluation& evaluation, std::string_view policy, std::string_view metric) {
  return training::spread_of(of(evaluation, policy), metric).mean;
}

// A table of "what, figure to reach, ours, reached?", printed and kept as JSON at once.
class Score {
 public:
  explicit Score(std::ostream& out) : out_(out) {}

  void section(const std::string& title) {
    print();
    title_ = title;
  }
  // A measured mean with its spread, and what it should be near to or below.
  void figure(const Evaluation& e, const std::string& policy, const std::string& metric, double anchor,
              double slack) {
    const training::Spread spread = training::spread_of(of(e, policy), metric);
    const bool reached = std::isnan(anchor) || spread.mean <= anchor * (1 + slack);
    add(policy + ", " + metric, std::isnan(anchor) ? "" : reporting::format_number(anchor),
        reporting::format_mean_sd(spread.mean, spread.sd),
        std::isnan(anchor) ? ""
        : reached          ? "yes"
                           : "no",
        spread.mean);
  }
  // A change against another policy of the same worlds, in per cent; wanted: at most (or at least) this.
  void change(const Evaluation& e, const std::string& policy, const std::string& against,
              const std::string& metric, double wanted_percent) {
    const double percent = 100 * (mean(e, policy, metric) / mean(e, against, metric) - 1);
    const bool reached = wanted_percent <= 0 ? percent <= wanted_percent : percent >= wanted_percent;
    add(policy + " against " + against + ", " + metric, signed_percent(wanted_percent),
        signed_percent(percent), reached ? "yes" : "no", percent);
  }
  void at_most(const Evaluation& e, const std::string& policy, const std::string& metric, double most) {
    figure(e, policy, metric, most, 0);
  }

  BenchJson finish() {
    print();
    return std::move(json_);
  }

 private:
  static std::string signed_percent(double percent) {
    return (percent > 0 ? "+" : "") + reporting::format_number(std::round(percent * 10) / 10) + " %";
  }
  void add(const std::string& what, const std::string& wanted, const std::string& ours,
           const std::string& reached, double value) {
    rows_.push_back({{what}, {wanted}, {ours}, {reached}});
    json_[title_][what] = {{"wanted", wanted}, {"value", value}, {"reached", reached}};
  }
  void print() {
    if (rows_.empty()) return;
    out_ << title_ << '\n';
    reporting::TextTable table{
        {{"what", reporting::Align::left}, {"to reach"}, {"ours"}, {"reached"}}, {}, {}};
    table.rows = std::move(rows_);
    rows_.clear();
    out_ << reporting::render_text_table(table, reporting::TextStyle::plain) << std::endl;
  }

  std::ostream& out_;
  std::string title_;
  std::vector<std::vector<reporting::TextCell>> rows_;
  BenchJson json_ = BenchJson::object();
};

constexpr double kNoAnchor = std::numeric_limits<double>::quiet_NaN();

struct DrsAnchors {
  const char* scenario;
  double kube, greedy, horizon, clairvoyant;
};
constexpr DrsAnchors kDrs[] = {{"drs-even", .135, .082, .073, .067},
                               {"drs-random", .131, .080, .071, .067},
                               {"drs-cpu", .106, .082, .080, .076}};

Status drs(const BenchSettings& settings, Score& score) {
  for (const DrsAnchors& anchors : kDrs) {
    const auto e = run({anchors.scenario,
                        {"kube-default", "greedy", "horizon", "horizon-known", "clairvoyant",
                         "kube-default+moves", "greedy+moves", "horizon+moves"},
                        10,
                        {}},
                       settings);
    if (!e) return e.error();
    score.section(std::string(anchors.scenario) + ", 10 seeds");
    score.figure(*e, "kube-default", "imbalance", anchors.kube, .05);
    score.figure(*e, "greedy", "imbalance", anchors.greedy, .05);
    score.figure(*e, "horizon", "imbalance", anchors.horizon, .05);
    score.figure(*e, "horizon-known", "imbalance", anchors.horizon, .05);
    score.figure(*e, "clairvoyant", "imbalance", anchors.clairvoyant, .05);
    score.figure(*e, "kube-default", "imbalance_of_means", kNoAnchor, 0);
    score.figure(*e, "horizon", "imbalance_of_means", kNoAnchor, 0);
    for (const std::string base : {"kube-default", "greedy", "horizon"}) {
      score.change(*e, base + "+moves", base, "imbalance", -20);
      score.figure(*e, base + "+moves", "makespan_s", mean(*e, base, "makespan_s"), 1e-4);
    }
  }
  return {};
}

Status saturated(const BenchSettings& settings, Score& score) {
  for (const std::string scenario : {"drs-even-saturated", "drs-random-saturated", "drs-cpu-saturated"}) {
    const auto e =
        run({scenario, {"kube-default", "kube-default+by-use", "horizon+by-use"}, 10, {}}, settings);
    if (!e) return e.error();
    score.section(scenario + ", 10 seeds");
    for (const std::string policy : {"kube-default+by-use", "horizon+by-use"}) {
      score.change(*e, policy, "kube-default", "utilization", 20);
      score.at_most(*e, policy, "slowdown_p95", 1.2);
    }
  }
  return {};
}

Status usage(const BenchSettings& settings, Score& score) {
  const std::string trace = settings.data + "/usage/bitbrains_7d_5min.csv.zst";
  const bool real = !settings.data.empty() && std::filesystem::exists(trace);
  for (const char* nodes : {"40", "20"}) {
    World world{"bitbrains",
                {"kube-default", "greedy", "horizon", "kube-default+moves", "horizon+moves", "clairvoyant"},
                10,
                {std::string("nodes.count=") + nodes}};
    if (real) {
      world.overrides.push_back("usage.trace=" + trace);
      world.overrides.push_back("usage.machines=" + settings.data + "/usage/bitbrains_vms.csv");
    }
    const auto e = run(world, settings);
    if (!e) return e.error();
    score.section(std::string("bitbrains, ") + nodes + " nodes, 10 seeds, " +
                  (real ? "real trace" : "generated"));
    for (const std::string metric : {"imbalance", "unserved_cpu", "overload_share"}) {
      score.figure(*e, "kube-default", metric, kNoAnchor, 0);
      score.figure(*e, "clairvoyant", metric, kNoAnchor, 0);
    }
    score.change(*e, "horizon", "kube-default", "imbalance", -8);
    score.change(*e, "horizon", "kube-default", "unserved_cpu", -25);
    score.change(*e, "horizon", "kube-default", "overload_share", 0);
    for (const std::string policy : {"kube-default+moves", "horizon+moves"}) {
      score.change(*e, policy, "kube-default", "imbalance", -20);
      score.change(*e, policy, "kube-default", "unserved_cpu", -85);
      score.change(*e, policy, "kube-default", "overload_share", -35);
      score.at_most(*e, policy, "moves", 6 * 120);  // arrivals and five days scored
    }
  }
  return {};
}

Status tasks(const BenchSettings& settings, Score& score) {
  struct Profile {
    const char* scenario;
    double against_kube, against_round_robin;
  };
  for (const Profile& profile :
       {Profile{"ppo-lrt-random", -50, -30}, Profile{"ppo-lrt-random-light", -28, -43}}) {
    const auto e = run({profile.scenario,
                        {"kube-default", "round-robin", "fewest-tasks", "fewest-alike", "shortest-first",
                         "shortest-first-known", "clairvoyant"},
                        20,
                        {}},
                       settings);
    if (!e) return e.error();
    score.section(std::string(profile.scenario) + ", 20 paired seeds");
    for (const std::string policy : {"kube-default", "round-robin", "fewest-tasks", "clairvoyant"})
      score.figure(*e, policy, "response_s_mean", kNoAnchor, 0);
    score.figure(*e, "fewest-alike", "response_s_mean", mean(*e, "clairvoyant", "response_s_mean"), .02);
    score.figure(*e, "shortest-first", "response_s_mean", kNoAnchor, 0);
    score.change(*e, "shortest-first", "kube-default", "response_s_mean", profile.against_kube);
    score.change(*e, "shortest-first", "round-robin", "response_s_mean", profile.against_round_robin);
  }
  return {};
}

}  // namespace

Result<BenchJson> bench_rules(const BenchSettings& settings, std::ostream& out) {
  Score score(out);
  for (const auto part : {drs, saturated, usage, tasks}) {
    const Status done = part(settings, score);
    if (!done) return done.error();
  }
  BenchJson json = score.finish();
  if (settings.data.empty()) out << "real traces: skipped: no data (--data FOLDER)\n";
  return json;
}

}  // namespace evenkeel::apps
