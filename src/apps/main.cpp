#include "apps/command.h"

int main(int argc, char** argv) {
  CLI::App app{"Evenkeel: a Kubernetes scheduler that learns its cluster", "evenkeel"};
  app.require_subcommand(1);
  app.fallthrough(false);
  int exit_code = evenkeel::apps::kDone;
  evenkeel::apps::add_evaluate(app, exit_code);
  evenkeel::apps::add_place(app, exit_code);
  evenkeel::apps::add_explain(app, exit_code);
  evenkeel::apps::add_demo(app, exit_code);
  evenkeel::apps::add_bench(app, exit_code);
  evenkeel::apps::add_train(app, exit_code);
  evenkeel::apps::add_model(app, exit_code);
  evenkeel::apps::add_papers(app, exit_code);
  evenkeel::apps::add_scheduler(app, exit_code);
  evenkeel::apps::add_agent(app, exit_code);
  evenkeel::apps::add_autoscaler(app, exit_code);
  evenkeel::apps::add_controllers(app, exit_code);
  evenkeel::apps::add_convert(app, exit_code);
  evenkeel::apps::add_monitor(app, exit_code);
  evenkeel::apps::add_approver(app, exit_code);
  evenkeel::apps::add_netprobe(app, exit_code);
  evenkeel::apps::add_promote(app, exit_code);
  evenkeel::apps::add_shadow(app, exit_code);
  evenkeel::apps::add_rebalance(app, exit_code);
  evenkeel::apps::add_optimum(app, exit_code);
  evenkeel::apps::add_version(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 throws for --help as well; everything else is wrong usage.
    return app.exit(error) == 0 ? evenkeel::apps::kDone : evenkeel::apps::kBadInput;
  }
  return exit_code;
}
