// `evenkeel train` and `model` with a learner made for tests: the commands are the program's own.
#include "apps/command.h"
#include "training/test_trainer.h"

int main(int argc, char** argv) {
  CLI::App app{"Evenkeel with a learner for tests", "train_fixture"};
  app.require_subcommand(1);
  int exit_code = evenkeel::apps::kDone;
  evenkeel::apps::add_train(app, exit_code, evenkeel::training::kTestLearners);
  evenkeel::apps::add_model(app, exit_code);
  evenkeel::apps::add_evaluate(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? evenkeel::apps::kDone : evenkeel::apps::kBadInput;
  }
  return exit_code;
}
