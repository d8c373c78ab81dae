// `evenkeel evaluate`: policies side by side on the same worlds.
#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>

#include "apps/command.h"
#include "apps/evaluation_view.h"
#include "apps/models.h"
#include "apps/network_runs.h"
#include "apps/scaling_models.h"
#include "apps/scenarios.h"
#include "base/file.h"
#include "reporting/text_table.h"
#include "training/evaluation.h"
#include "training/scaling_evaluation.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  std::string scenario;
  std::vector<std::string> policies;  // empty: the rules of the scenario's kind
  std::uint64_t seeds = 5, first_seed = 1;
  std::vector<std::string> overrides, models;
  std::string output = "table", report;
  bool json = false, timing = false;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

int fail(const Error& error) {
  std::cerr << "evenkeel evaluate: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

std::string command_line(const Arguments& arguments) {
  std::string line = "evenkeel evaluate --scenario " + arguments.scenario + " --policies ";
  for (std::size_t i = 0; i < arguments.policies.size(); ++i) line += (i ? "," : "") + arguments.policies[i];
  line += " --seeds " + std::to_string(arguments.seeds);
  if (arguments.first_seed != 1) line += " --seed " + std::to_string(arguments.first_seed);
  for (const std::string& model : arguments.models) line += " --model '" + model + "'";
  for (const std::string& assignment : arguments.overrides) line += " --set '" + assignment + "'";
  return line;
}

void show_progress(std::size_t done, std::size_t all) {
  std::cerr << "\r" << done << " of " << all << " runs" << (done == all ? "\r\033[K" : "") << std::flush;
}

Result<training::Evaluation> evaluate_placement(const Arguments& arguments, YamlFile file) {
  const Result<training::Experiment> experiment =
      training::read_experiment(std::move(file), arguments.overrides);
  if (!experiment) return experiment.error();
  training::EvaluationOptions options;
  options.policies = arguments.policies;
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) options.seeds.push_back(arguments.first_seed + i);
  Result<scheduling::PolicyModels> models = load_models(arguments.models);
  if (!models) return models.error();
  options.models = *std::move(models);
  options.keep_series = !arguments.report.empty();
  options.time_decisions = arguments.timing;
  // Timed runs do not share the machine with each other.
  options.threads = arguments.timing ? 1 : arguments.threads;
  if (experiment->scenario.applications) options.prove = network_prover();
  if (isatty(STDERR_FILENO)) options.progress = show_progress;
  return training::evaluate(*experiment, options);
}

Result<training::Evaluation> evaluate_scaling(const Arguments& arguments, YamlFile file) {
  const Result<training::ScalingExperiment> experiment =
      training::read_scaling_experiment(std::move(file), arguments.overrides);
  if (!experiment) return experiment.error();
  Result<training::ScalingModels> models = load_scaling_models(arguments.models);
  if (!models) return models.error();
  training::ScalingEvaluationOptions options;
  options.policies = arguments.policies;
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) options.seeds.push_back(arguments.first_seed + i);
  options.models = *std::move(models);
  options.keep_series = !arguments.report.empty();
  options.threads = arguments.threads;
  if (isatty(STDERR_FILENO)) options.progress = show_progress;
  return training::evaluate_scaling(*experiment, options);
}

int run(Arguments arguments) {
  Result<YamlFile> file = open_scenario(arguments.scenario);
  if (!file) return fail(file.error());
  if (arguments.policies.empty())
    arguments.policies = training::is_scaling_scenario(*file)
                             ? std::vector<std::string>{"hpa", "clairvoyant"}
                             : std::vector<std::string>{"kube-default", "greedy", "horizon"};
  const Result<training::Evaluation> evaluation = training::is_scaling_scenario(*file)
                                                      ? evaluate_scaling(arguments, *std::move(file))
                                                      : evaluate_placement(arguments, *std::move(file));
  if (!evaluation) return fail(evaluation.error());

  if (arguments.output == "json") {
    std::cout << json_of(*evaluation) << '\n';
  } else if (arguments.output == "yaml") {
    std::cout << yaml_of(*evaluation);
  } else {
    std::cout << evaluation->scenario << ", " << evaluation->seeds.size() << " seeds, " << evaluation->source
              << "\n\n"
              << reporting::render_text_table(reporting::text_table_of(table_of(*evaluation)),
                                              reporting::text_style_for(STDOUT_FILENO));
  }
  if (!arguments.report.empty()) {
    const std::string html = reporting::render_html_report(report_of(*evaluation, command_line(arguments)));
    if (const Status written = write_file(arguments.report, html); !written) {
      std::cerr << "evenkeel evaluate: " << written.error().message << '\n';
      return kFailed;
    }
    std::cerr << "report written to " << arguments.report << '\n';
  }
  return kDone;
}

}  // namespace

void add_evaluate(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Run policies side by side on the same simulated worlds");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--scenario", arguments->scenario, "Name of a built-in scenario, or a path")
      ->required();
  command
      ->add_option(
          "--policies", arguments->policies,
          "Comma-separated; switches: +moves[=N], +by-use[=R], +plugins[=W], +order, +frozen; where "
          "replicas are scaled: +target=P, +up=D, +down=D, +tolerance=X, +interval=D, +min=N, +max=N, or an "
          "argument of the policy")
      ->delimiter(',');
  command
      ->add_option(
          "--model", arguments->models,
          "Model to use: FILE (its encoding says by which policy), policy=FILE, or policy=none to start "
          "from nothing; may be repeated (those built in)")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--seeds", arguments->seeds, "How many worlds (5)")->check(CLI::Range(1, 100000));
  command->add_option("--seed", arguments->first_seed, "The first world's seed (1)");
  command->add_option("--set", arguments->overrides, "Override a field of the scenario: a.b.c=value")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("-o,--output", arguments->output, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}));
  command->add_flag("--json", arguments->json, "The same as -o json");
  command->add_flag("--timing", arguments->timing,
                    "Also measure decisions (then no two runs print the same)");
  command->add_option("--report", arguments->report, "Write a self-contained HTML report to this file");
  command->add_option("--threads", arguments->threads, "Worlds run side by side; changes no figure")
      ->check(CLI::Range(1, 256));
  command->footer(
      "Example:\n  evenkeel evaluate --scenario drs-even --policies kube-default,greedy,horizon --seeds 5\n"
      "  evenkeel evaluate --scenario dscaler-1 --policies hpa,hpa+target=85+down=60s,clairvoyant");
  command->callback([arguments, &exit_code] {
    if (arguments->json) arguments->output = "json";
    exit_code = run(*arguments);
  });
}

}  // namespace evenkeel::apps
