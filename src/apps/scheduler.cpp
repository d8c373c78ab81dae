// `evenkeel scheduler`: the scheduler of a live cluster.
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>

#include "apps/command.h"
#include "apps/live_scheduler.h"
#include "apps/models.h"
#include "base/file.h"
#include "kubernetes/client_api.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kFinish = 10s;  // for what is under way when we are told to stop

struct Arguments {
  std::string configuration, kubeconfig, context, scheduler_name, policy;
  bool shadow = false, no_events = false, annotate = false;
};

volatile std::sig_atomic_t told_to_stop = 0;
void note_signal(int) { told_to_stop = 1; }

int fail(const Error& error) {
  std::cerr << "evenkeel scheduler: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

Result<kubernetes::SchedulerConfiguration> read_configuration(const Arguments& arguments) {
  kubernetes::SchedulerConfiguration configuration;
  if (!arguments.configuration.empty()) {
    const auto text = read_file(arguments.configuration);
    if (!text) return text.error();
    auto read = kubernetes::read_scheduler_configuration(*text, arguments.configuration);
    if (!read) return read.error();
    configuration = *std::move(read);
  } else {
    configuration.profiles = {kubernetes::default_profile()};
    configuration.profiles.front().scheduler_name = "evenkeel";
  }
  if (!arguments.scheduler_name.empty()) {
    if (configuration.profiles.size() != 1)
      return invalid("--scheduler-name: the configuration has several profiles, each with its own name");
    configuration.profiles.front().scheduler_name = arguments.scheduler_name;
  }
  return configuration;
}

int run(const Arguments& arguments) {
  auto configuration = read_configuration(arguments);
  if (!configuration) return fail(configuration.error());
  LiveOptions options;
  auto models = load_models({});
  if (!models) return fail(models.error());
  options.models = *std::move(models);
  options.policy = arguments.policy;
  options.shadow = arguments.shadow;
  options.events = !arguments.no_events;
  options.annotate = arguments.annotate;
  options.log = [](const std::string& line) { std::cerr << line << '\n'; };

  kubernetes::KubeconfigRequest request{arguments.kubeconfig, arguments.context};
  if (request.path.empty()) request.path = configuration->client.kubeconfig;
  options.configuration = *std::move(configuration);
  const auto access = kubernetes::find_access(request, kubernetes::kubernetes_environment(), read_file);
  if (!access) return fail(access.error());
  kubernetes::EventLoop loop;
  auto client = kubernetes::ApiClient::open(loop, *access, read_file, {});
  if (!client) return fail(client.error());
  auto scheduler = LiveScheduler::open(**client, std::move(options));
  if (!scheduler) return fail(scheduler.error());

  std::signal(SIGTERM, note_signal);
  std::signal(SIGINT, note_signal);
  while (told_to_stop == 0 && (*scheduler)->turn((*client)->now() + 200ms)) {
  }
  (*scheduler)->stop(kFinish);
  return kDone;
}

}  // namespace

void add_scheduler(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("scheduler", "Schedule the pods of a cluster");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--config", arguments->configuration, "A KubeSchedulerConfiguration, as kube-scheduler's");
  command->add_option("--kubeconfig", arguments->kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->context, "Of the kubeconfig (its current one)");
  command->add_option("--scheduler-name", arguments->scheduler_name,
                      "The schedulerName of the pods to schedule (evenkeel, or what the profiles say)");
  command->add_option("--policy", arguments->policy, "Who decides, instead of what the profiles say");
  command->add_flag("--shadow", arguments->shadow, "Decide and record, but write nothing");
  command->add_flag("--no-events", arguments->no_events, "Write no Events");
  command->add_flag("--annotate", arguments->annotate, "Annotate bound pods with why");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
