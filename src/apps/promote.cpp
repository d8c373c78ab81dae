// `evenkeel promote` and `evenkeel demote`: from shadow to canary to full, and back.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>

#include "apps/command.h"
#include "apps/live_cluster.h"
#include "apps/stage_change.h"
#include "base/file.h"
#include "base/numbers.h"
#include "kubernetes/client_api.h"
#include "reporting/shadow_report.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  ClusterChoice cluster;
  StageChange change;
  std::string to, share, server, token_file;
};

int fail(const char* command, const Error& error) {
  std::cerr << "evenkeel " << command << ": " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

// 10% or 0.1
Result<double> parse_share(const std::string& text) {
  const bool in_percent = text.ends_with('%');
  const std::optional<double> number =
      parse_number(std::string_view(text).substr(0, text.size() - (in_percent ? 1 : 0)));
  const double share = number.value_or(-1) / (in_percent ? 100 : 1);
  if (!(share >= 0 && share <= 1))
    return invalid("--share: expected a share such as 10% or 0.1, found '" + text + "'");
  return share;
}

std::string who() {
  const char* user = std::getenv("USER");
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) return user ? user : "";
  return std::string(user ? user : "unknown") + "@" + host;
}

// Nothing is promoted unseen: what the running scheduler has compared so far, or that nobody looked.
void tell_shadow(const Arguments& arguments) {
  if (arguments.server.empty()) {
    std::cerr << "no --server was given: what the shadow report says is not known here\n";
    return;
  }
  const Result<std::string> report = ask_scheduler(arguments.server, arguments.token_file, "/shadow");
  if (!report) {
    std::cerr << "the shadow report cannot be had: " << report.error().message << '\n';
    return;
  }
  const std::vector<std::string> lines = reporting::shadow_summary(*report);
  if (lines.empty()) std::cout << "the shadow report is empty: nothing was compared yet\n";
  for (const std::string& line : lines) std::cout << line << '\n';
}

int run(Arguments arguments) {
  StageChange& change = arguments.change;
  const char* command = change.back ? "demote" : "promote";
  if (!arguments.to.empty()) change.to = arguments.to;
  if (!arguments.share.empty()) {
    const Result<double> share = parse_share(arguments.share);
    if (!share) return fail(command, share.error());
    change.share = *share;
  }
  change.by = who();
  const auto access = kubernetes::find_access({arguments.cluster.kubeconfig, arguments.cluster.context},
                                              kubernetes::kubernetes_environment(), read_file);
  if (!access) return fail(command, access.error());
  kubernetes::EventLoop loop;
  kubernetes::ApiClient::Options options;
  options.max_tries = 3;  // somebody sits and waits
  const auto client = kubernetes::ApiClient::open(loop, *access, read_file, options);
  if (!client) return fail(command, client.error());
  if (!change.back) tell_shadow(arguments);
  const Result<StageChanged> changed = change_stage(**client, change);
  if (!changed) return fail(command, changed.error());
  std::cout << change.profile << ": " << (changed->before.empty() ? "as configured" : changed->before)
            << " -> " << changed->after << (change.dry_run ? " (dry run: nothing was written)" : "") << '\n';
  return kDone;
}

CLI::App* add_command(CLI::App& app, int& exit_code, bool back) {
  CLI::App* command =
      back ? app.add_subcommand("demote", "Give a learned policy less to decide: back to the stage before")
           : app.add_subcommand("promote", "Give a learned policy more to decide: shadow, canary, full");
  auto arguments = std::make_shared<Arguments>();
  arguments->change.back = back;
  command->add_option("--profile", arguments->change.profile,
                      "Whose policy: the schedulerName of the profile (evenkeel)");
  command
      ->add_option("--to", arguments->to, back ? "Not the stage before, but this" : "Not the next, but this")
      ->check(CLI::IsMember({"shadow", "canary", "full"}));
  command->add_option("--share", arguments->share, "Of pods in canary: 10%, 0.1 (10%)");
  command->add_option("--namespaces", arguments->change.namespaces, "All of whose pods are in canary")
      ->delimiter(',');
  command->add_option("--kubeconfig", arguments->cluster.kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->cluster.context, "Of the kubeconfig (its current one)");
  command->add_option("-n,--namespace", arguments->change.name_space,
                      "Where the scheduler's ConfigMap evenkeel-stage lies (kube-system)");
  if (!back) {
    command->add_option(
        "--server", arguments->server,
        "The running scheduler's --listen address: what its shadow report says is shown first");
    command->add_option("--server-token-file", arguments->token_file,
                        "The secret that its --listen-token-file holds");
  }
  command->add_flag("--dry-run", arguments->change.dry_run, "Say what would be written, and write nothing");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
  return command;
}

}  // namespace

void add_promote(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, false)
      ->footer("Example:\n  evenkeel promote --to canary --share 10% --server http://127.0.0.1:10269");
  add_command(app, exit_code, true)->footer("Example:\n  evenkeel demote");
}

}  // namespace evenkeel::apps
