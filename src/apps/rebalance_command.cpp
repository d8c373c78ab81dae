// `evenkeel rebalance`: the few moves that help most, through the Eviction API.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>

#include "apps/command.h"
#include "apps/live_cluster.h"
#include "apps/log.h"
#include "apps/rebalance.h"
#include "apps/usage_setup.h"
#include "base/file.h"
#include "base/numbers.h"
#include "base/unit_text.h"
#include "kubernetes/client_api.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  ClusterChoice cluster;
  std::string budget = "5/hour", time, cool_down = "10m", scheduler_name, output = "table";
  std::vector<std::string> spared;
  UsageArguments usage;
  bool dry_run = false, single_replicas = false, local_storage = false;
};

volatile std::sig_atomic_t told_to_stop = 0;
void note_signal(int) { told_to_stop = 1; }

int fail(const Error& error) {
  std::cerr << "evenkeel rebalance: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

// 5/hour, 40/day, 5
Status read_budget(const std::string& text, scheduling::MoveBudget& into) {
  const std::size_t slash = text.find('/');
  const std::string per = slash == std::string::npos ? "hour" : text.substr(slash + 1);
  const std::optional<double> count = parse_number(std::string_view(text).substr(0, slash));
  if (!count || *count < 0 || (per != "hour" && per != "h" && per != "day" && per != "d"))
    return invalid("--budget: expected a number of moves such as 5/hour or 40/day, found '" + text + "'");
  const bool by_day = per.starts_with('d');
  into.per_hour = *count;
  into.per_day = by_day ? *count : 0;
  return {};
}

Result<Rebalance::Options> options_of(const Arguments& arguments) {
  Rebalance::Options options;
  if (const Status read = read_budget(arguments.budget, options.moves); !read) return read.error();
  const Result<Duration> cool_down = parse_duration(arguments.cool_down);
  if (!cool_down) return invalid("--cool-down: " + cool_down.error().message);
  options.moves.cool_down = *cool_down;
  if (!arguments.time.empty()) {
    const Result<Duration> time = parse_duration(arguments.time);
    if (!time) return invalid("--for: " + time.error().message);
    options.longest = *time;
    options.once = false;
  }
  options.moves.dry_run = arguments.dry_run;
  options.moves.rules.on = true;
  options.moves.rules.single_replicas = arguments.single_replicas;
  options.moves.rules.local_storage = arguments.local_storage;
  for (const std::string& name_space : arguments.spared)
    options.moves.rules.spared_namespaces.push_back(name_space);
  options.scheduler_name = arguments.scheduler_name;
  return options;
}

std::string fixed(double value) {
  char buffer[64];
  (void)std::snprintf(buffer, sizeof buffer, "%.5f", value);
  return buffer;
}

void print(const Rebalance::Report& report, bool dry_run) {
  if (report.moves.empty()) {
    std::cout << "no move is worth it, or none is allowed; loads by " << report.usage << ", imbalance "
              << fixed(report.imbalance_before) << '\n';
    return;
  }
  reporting::TextTable table;
  using reporting::Align;
  table.columns = {{"Pod", Align::left},     {"From", Align::left}, {"To", Align::left}, {"Gain"},
                   {"Outcome", Align::left}, {"Why", Align::left}};
  for (const Rebalance::Made& made : report.moves)
    table.rows.push_back({{made.pod},
                          {made.from},
                          {made.landed.empty() ? made.to : made.landed},
                          {fixed(made.gain)},
                          {made.outcome},
                          {made.why}});
  table.notes.push_back("imbalance " + fixed(report.imbalance_before) + " -> " +
                        fixed(report.imbalance_after) + ", loads by " + report.usage +
                        (dry_run ? "; dry run: nothing was written" : ""));
  std::cout << render_text_table(table, reporting::text_style_for(STDOUT_FILENO));
}

int run(const Arguments& arguments) {
  Result<Rebalance::Options> options = options_of(arguments);
  if (!options) return fail(options.error());
  const auto access = kubernetes::find_access({arguments.cluster.kubeconfig, arguments.cluster.context},
                                              kubernetes::kubernetes_environment(), read_file);
  if (!access) return fail(access.error());
  kubernetes::EventLoop loop;
  kubernetes::ApiClient::Options client_options;
  client_options.user_agent = "evenkeel-rebalance";
  auto client = kubernetes::ApiClient::open(loop, *access, read_file, client_options);
  if (!client) return fail(client.error());
  (void)std::signal(SIGTERM, note_signal);
  (void)std::signal(SIGINT, note_signal);
  std::unique_ptr<LiveUsage> usage;
  if (names_a_source(arguments.usage)) {
    auto made = make_live_usage(arguments.usage, *access, [&loop] { return loop.now(); }, log_line);
    if (!made) return fail(made.error());
    usage = *std::move(made);
    usage->post_with([&loop](std::function<void()> work) { loop.post(std::move(work)); });
    options->usage = usage.get();
  }
  Rebalance rebalance(**client, *std::move(options), log_line);
  const Result<Rebalance::Report> report = rebalance.run([] { return told_to_stop != 0; });
  if (!report) return fail(report.error());
  if (arguments.output == "json")
    std::cout << report->json(arguments.dry_run) << '\n';
  else
    print(*report, arguments.dry_run);
  return kDone;
}

}  // namespace

void add_rebalance(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("rebalance", "Move the few pods that even out the cluster most");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--kubeconfig", arguments->cluster.kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->cluster.context, "Of the kubeconfig (its current one)");
  command->add_option("--budget", arguments->budget, "At most so many moves: 5/hour, 40/day (5/hour)");
  command->add_option("--for", arguments->time,
                      "Go on for so long: 1h (without: until no move is worth it, 10m at most)");
  command->add_option("--cool-down", arguments->cool_down, "Between two moves of one workload (10m)");
  command->add_option("--scheduler-name", arguments->scheduler_name, "Only pods that name this scheduler");
  command->add_option("--spare-namespaces", arguments->spared, "Nothing is moved there, besides kube-system")
      ->delimiter(',');
  command->add_flag("--single-replicas", arguments->single_replicas,
                    "Workloads of one pod too, which nobody serves meanwhile");
  command->add_flag("--local-storage", arguments->local_storage, "Pods with emptyDir too, which lose it");
  command->add_flag("--dry-run", arguments->dry_run, "Propose, and write nothing");
  add_source_options(*command, arguments->usage);
  command->add_option("-o,--output", arguments->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->footer(
      "Loads are what the --metrics flags' source says; without one, or while it says nothing, what pods\n"
      "request.\n\nExamples:\n  evenkeel rebalance --budget 5/hour --dry-run\n"
      "  evenkeel rebalance --budget 5/hour --metrics-prometheus service:monitoring/prometheus:9090");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
