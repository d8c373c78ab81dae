#include "apps/version.h"

#include <iostream>

#include "apps/command.h"

namespace evenkeel::apps {

void add_version(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->callback([&exit_code] {
    std::cout << "evenkeel " << kVersion << '\n';
    exit_code = kDone;
  });
}

}  // namespace evenkeel::apps
