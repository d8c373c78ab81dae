// `evenkeel demo`: one simulated cluster under churn and one service that is scaled, several policies side by
// side for each, a dashboard on loopback, and the comparison tables at the end.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <iostream>
#include <memory>
#include <thread>

#include "apps/command.h"
#include "apps/demo_run.h"
#include "apps/demo_scaling.h"
#include "apps/evaluation_view.h"
#include "apps/models.h"
#include "apps/scaling_models.h"
#include "apps/scenarios.h"
#include "base/unit_text.h"
#include "reporting/dashboard_server.h"
#include "reporting/text_table.h"
#include "reporting/web_assets.h"
#include "training/evaluation.h"

namespace evenkeel::apps {
namespace {

using Clock = std::chrono::steady_clock;

// The rules to beat, what was learned beforehand, and what learns while one watches.
std::vector<std::string> default_policies() {
  std::vector<std::string> policies{"kube-default", "horizon"};
  const auto there_are = scheduling::policy_names();
  for (const std::string_view name : {"evenkeel", "drs"})
    if (std::find(there_are.begin(), there_are.end(), name) != there_are.end()) policies.emplace_back(name);
  return policies;
}

struct Arguments {
  std::string scenario = "churn";
  std::string service = "scaling-wc98";  // none: nothing is scaled
  std::vector<std::string> scalers{"hpa", "evenkeel"};
  std::vector<std::string> policies = default_policies();
  std::string duration = "30s";
  int port = 8080;
  bool headless = false;
  std::uint64_t seed = 1, seeds = 5;
  std::vector<std::string> overrides, models;
};

volatile std::sig_atomic_t stop_asked = 0;

int fail(const Error& error) {
  std::cerr << "evenkeel demo: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

// The asked-for port, or any free one when it is taken: a demo should not fail for that.
Result<std::unique_ptr<reporting::DashboardServer>> start_server(int port) {
  reporting::DashboardServer::Options options;
  options.port = static_cast<std::uint16_t>(port);
  options.page = std::string(reporting::dashboard_page());
  auto server = reporting::DashboardServer::start(options);
  if (server || port == 0) return server;
  std::cerr << "port " << port << " is taken; using another\n";
  options.port = 0;
  return reporting::DashboardServer::start(options);
}

// A day in two hours: the whole of it passes by in a show.
const std::vector<std::string> kServiceDay{"workload.made.length=1d", "workload.compress=12"};

struct ServiceShow {
  training::ScalingExperiment experiment;
  training::ScalingModels models;
  std::unique_ptr<DemoScaling> run;
};

Result<std::unique_ptr<ServiceShow>> start_service(const Arguments& arguments) {
  if (arguments.service == "none") return std::unique_ptr<ServiceShow>();
  const bool is_usual = arguments.service == Arguments{}.service;
  auto experiment =
      load_scaling_scenario(arguments.service, is_usual ? kServiceDay : std::vector<std::string>{});
  if (!experiment) return experiment.error();
  auto models = load_scaling_models({});
  if (!models) return models.error();
  auto demo = DemoScaling::start(*experiment, arguments.scalers, arguments.seed, *models);
  if (!demo) return demo.error();
  return std::make_unique<ServiceShow>(
      ServiceShow{*std::move(experiment), *std::move(models), *std::move(demo)});
}

void print(const training::Evaluation& evaluation, const reporting::TableView& table) {
  std::cout << '\n'
            << evaluation.scenario << ", " << evaluation.seeds.size() << " seeds, " << evaluation.source
            << "\n\n"
            << reporting::render_text_table(reporting::text_table_of(table),
                                            reporting::text_style_for(STDOUT_FILENO))
            << std::flush;
}

Result<reporting::TableView> compare_scalers(const Arguments& arguments, const ServiceShow& service,
                                             const std::vector<std::uint64_t>& seeds, unsigned threads) {
  training::ScalingEvaluationOptions options;
  options.policies = arguments.scalers;
  options.models = service.models;
  options.seeds = seeds;
  options.threads = threads;
  const Result<training::Evaluation> evaluation = training::evaluate_scaling(service.experiment, options);
  if (!evaluation) return evaluation.error();
  reporting::TableView table = table_of(*evaluation);
  print(*evaluation, table);
  return table;
}

int run(const Arguments& arguments) {
  const Result<training::Experiment> experiment = load_scenario(arguments.scenario, arguments.overrides);
  if (!experiment) return fail(experiment.error());
  const Result<Duration> duration = parse_duration(arguments.duration);
  if (!duration || *duration < Duration{})
    return fail(invalid("--for " + arguments.duration + ": expected 30s, 5m, …"));
  const Result<scheduling::PolicyModels> models = load_models(arguments.models);
  if (!models) return fail(models.error());
  Result<std::unique_ptr<DemoRun>> demo =
      DemoRun::start(*experiment, arguments.policies, arguments.seed, *models);
  if (!demo) return fail(demo.error());
  const Result<std::unique_ptr<ServiceShow>> service = start_service(arguments);
  if (!service) return fail(service.error());
  reporting::ScalingView scaling;
  const auto publish = [&](reporting::DashboardServer& to) {
    reporting::DashboardState state = (*demo)->state();
    state.scaling = scaling;
    to.publish(to_json(state));
  };

  std::unique_ptr<reporting::DashboardServer> server;
  if (!arguments.headless) {
    auto started = start_server(arguments.port);
    if (!started) return fail(started.error());
    server = *std::move(started);
    std::cout << "dashboard: " << server->url() << std::endl;
  }
  std::signal(SIGINT, [](int) { stop_asked = 1; });
  std::signal(SIGTERM, [](int) { stop_asked = 1; });

  // The whole world passes by in the time asked for, ten pictures a second. Without a page to
  // watch there is nothing to wait for.
  const double show_s = arguments.headless ? 0 : to_seconds(*duration);
  const auto from = Clock::now();
  std::cout << "scenario " << experiment->scenario.name << ", " << (*demo)->length_s() << " s of virtual time"
            << std::endl;
  for (double share = 0; share < 1 && stop_asked == 0;) {
    const double passed = std::chrono::duration<double>(Clock::now() - from).count();
    share = show_s > 0 ? std::min(1.0, passed / show_s) : share + 0.05;
    (*demo)->advance(share);
    if (*service) {
      (*service)->run->advance(share);
      scaling = (*service)->run->view();
    }
    if (server) {
      publish(*server);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  training::EvaluationOptions options;
  options.policies = arguments.policies;
  options.models = *models;
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) options.seeds.push_back(arguments.seed + i);
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  const Result<training::Evaluation> evaluation = training::evaluate(*experiment, options);
  if (!evaluation) return fail(evaluation.error());
  const reporting::TableView table = table_of(*evaluation);
  print(*evaluation, table);
  if (*service) {
    Result<reporting::TableView> compared =
        compare_scalers(arguments, **service, options.seeds, options.threads);
    if (!compared) return fail(compared.error());
    scaling.table = *std::move(compared);
  }
  if (server) {
    (*demo)->finish(table);
    publish(*server);
    // Time to look at the end of the show; Ctrl-C ends it at once.
    for (int i = 0; i < 50 && stop_asked == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    server->stop();
  }
  return kDone;
}

}  // namespace

void add_demo(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "demo", "A simulated cluster and a service under several policies, with their dashboard");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--scenario", arguments->scenario, "Name of a built-in scenario, or a path (churn)");
  command
      ->add_option("--policies", arguments->policies,
                   "Comma-separated (kube-default, horizon and the learned ones)")
      ->delimiter(',');
  command->add_option(
      "--service", arguments->service,
      "Scenario of the service that is scaled beside it, or none (scaling-wc98, a day of it)");
  command
      ->add_option("--scalers", arguments->scalers, "Comma-separated policies that scale it (hpa,evenkeel)")
      ->delimiter(',');
  command->add_option("--model", arguments->models, "Model to use: FILE, policy=FILE, or policy=none")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--port", arguments->port, "Port of the dashboard on loopback (8080; 0: any free one)")
      ->check(CLI::Range(0, 65535));
  command->add_option("--for", arguments->duration, "How long the show lasts (30s)");
  command->add_flag("--headless", arguments->headless, "No dashboard, no waiting: the table alone");
  command->add_option("--seed", arguments->seed, "The world's seed (1)");
  command->add_option("--seeds", arguments->seeds, "Worlds behind the table at the end (5)")
      ->check(CLI::Range(1, 1000));
  command->add_option("--set", arguments->overrides, "Override a field of the scenario: a.b.c=value")
      ->take_all()
      ->allow_extra_args(false);
  command->footer("Example:\n  evenkeel demo --for 1m --port 8080");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
