// `evenkeel shadow`: what a running scheduler's policies would have changed.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "apps/command.h"
#include "apps/live_cluster.h"
#include "reporting/shadow_report.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  std::string server, token_file, output = "table";
};

int run(const Arguments& arguments) {
  const Result<std::string> report = ask_scheduler(arguments.server, arguments.token_file, "/shadow");
  if (!report) {
    std::cerr << "evenkeel shadow: " << report.error().message << '\n';
    return report.error().kind == Error::Kind::invalid ? kBadInput : kFailed;
  }
  if (arguments.output == "json")
    std::cout << *report;
  else
    std::cout << reporting::shadow_text(*report, reporting::text_style_for(STDOUT_FILENO));
  return kDone;
}

}  // namespace

void add_shadow(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("shadow", "What a running scheduler's policies would have changed");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--server", arguments->server, "Its --listen address (http://127.0.0.1:10269)")
      ->required();
  command->add_option("--server-token-file", arguments->token_file,
                      "The secret that its --listen-token-file holds");
  command->add_option("-o,--output", arguments->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->footer("Example:\n  evenkeel shadow --server http://127.0.0.1:10269");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
