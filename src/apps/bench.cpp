// `evenkeel bench`: speed and quality, side by side in one run.
#include "apps/bench.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/bench_monitor.h"
#include "apps/bench_netprobe.h"
#include "apps/command.h"

namespace evenkeel::apps {
namespace {

constexpr Bench kBenches[] = {
    {"simulator", "placements per second of the whole loop on four nodes", bench_simulator},
    {"decisions", "time per decision of every policy at 4, 100 and 5,000 nodes", bench_decisions},
    {"live", "a live decision, from watch to binding, at 100 nodes that report every second", bench_live},
    {"shapes", "decisions per second on scheduler_perf's shapes at 5,000 nodes", bench_shapes},
    {"growth", "time and memory per decision from 10 to 10,000 nodes", bench_growth},
    {"training", "the papers' trainings from nothing, and the memory of a learner with its world",
     bench_training},
    {"race", "pods bound per second beside kube-scheduler, on a real API server", bench_race},
    {"monitor", "what watching a node of fifty pods costs, beside node-exporter", bench_monitor},
    {"netprobe", "what measuring the paths between sixteen nodes costs", bench_netprobe},
    {"autoscaler", "what scaling a thousand workloads costs, on a real API server and Prometheus",
     bench_autoscaler},
    {"agents", "what agents on every node cost, how soon they bind, and how soon after a kill", bench_agents},
    {"network", "how near to the optimum groups that talk are placed, and how fast", bench_network},
    {"optimum", "how long it takes to prove the best placements of Diktyo's applications", bench_optimum},
    {"rules", "the rules on the papers' worlds, beside the figures to reach", bench_rules},
    {"scaling", "replicas and violations of scaling policies, beside HPA's own front and a clairvoyant",
     bench_scaling},
    {"together", "scaling that asks whether replicas fit and says who leaves, beside scaling that does not",
     bench_together},
};

struct Arguments {
  std::string name;
  bool json = false;
  BenchSettings settings;
};

int run(const Arguments& arguments) {
  // With --json the tables go to stderr, so that stdout is one document.
  std::ostream& out = arguments.json ? std::cerr : std::cout;
  BenchJson all = BenchJson::array();
  bool found = false;
  if (const Status known = check_scaling_windows(arguments.settings.tuned_on); !known) {
    std::cerr << "evenkeel bench: --tuned-on: " << known.error().message << '\n';
    return kBadInput;
  }
  for (const Bench& bench : kBenches) {
    if (!arguments.name.empty() && arguments.name != bench.name) continue;
    found = true;
    out << "== " << bench.name << ": " << bench.about << "\n\n";
    BenchSettings settings = arguments.settings;
    // Two of them draw: where all run, each has a file of its own beside the other's.
    if (arguments.name.empty() && bench.name == "scaling" && !settings.report.empty())
      settings.report = std::filesystem::path(settings.report).replace_filename("scaling.html").string();
    Result<BenchJson> results = bench.run(settings, out);
    if (!results) {
      std::cerr << "evenkeel bench " << bench.name << ": " << results.error().message << '\n';
      return results.error().kind == Error::Kind::invalid ? kBadInput : kFailed;
    }
    all.push_back({{"bench", bench.name}, {"results", *std::move(results)}});
    out << std::endl;
  }
  if (!found) {
    std::cerr << "evenkeel bench: no benchmark is called '" << arguments.name << "'; there are";
    for (const Bench& bench : kBenches) std::cerr << ' ' << bench.name;
    std::cerr << '\n';
    return kBadInput;
  }
  if (arguments.json) std::cout << (all.size() == 1 ? all.front() : all).dump(2) << '\n';
  return kDone;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("bench", "The benchmarks behind `make bench`");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("name", arguments->name, "One benchmark; without it, all");
  command->add_flag("--json", arguments->json, "Print the figures as JSON");
  command->add_flag("--quick", arguments->settings.quick, "A short sample of each");
  command->add_option("--rounds", arguments->settings.rounds, "How often the race is run; medians count")
      ->check(CLI::Range(1, 100));
  command
      ->add_option("--data", arguments->settings.data,
                   "Folder of real traces (usage/, cluster/, kernels/, workload/, apps/, latency/)")
      ->check(CLI::ExistingDirectory);
  command->add_option("--report", arguments->settings.report,
                      "Write the plots of growth or scaling to this HTML file");
  command
      ->add_option("--tuned-on", arguments->settings.tuned_on,
                   "Weeks of scaling's traces, by their first day, that policies were tuned on: shown apart")
      ->delimiter(',');
  command
      ->add_option("--policies", arguments->settings.policies,
                   "Policies of scaling, beside HPA's (all), and of together (hpa)")
      ->delimiter(',');
  command->footer("Example:\n  evenkeel bench decisions --json");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
