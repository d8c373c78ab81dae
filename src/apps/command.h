#pragma once
#include <CLI/CLI.hpp>

namespace evenkeel::apps {

// Exit codes users script against: 0 done, 1 the work failed, 2 wrong usage or input.
inline constexpr int kDone = 0, kFailed = 1, kBadInput = 2;

// Each adds its subcommand; when it is the one called, it sets `exit_code`.
void add_evaluate(CLI::App& app, int& exit_code);
void add_place(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_demo(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);

}  // namespace evenkeel::apps
