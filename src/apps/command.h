#pragma once
#include <CLI/CLI.hpp>
#include <span>

#include "training/recipes.h"

namespace evenkeel::apps {

// Exit codes users script against: 0 done, 1 the work failed, 2 wrong usage or input.
inline constexpr int kDone = 0, kFailed = 1, kBadInput = 2;

// Each adds its subcommand; when it is the one called, it sets `exit_code`.
void add_evaluate(CLI::App& app, int& exit_code);
void add_place(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_demo(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
// With other learners than the program's own in tests.
void add_train(CLI::App& app, int& exit_code,
               std::span<const training::Learner> learners = training::learners());
void add_model(CLI::App& app, int& exit_code);
void add_scheduler(CLI::App& app, int& exit_code);
void add_agent(CLI::App& app, int& exit_code);
void add_autoscaler(CLI::App& app, int& exit_code);
void add_controllers(CLI::App& app, int& exit_code);
void add_convert(CLI::App& app, int& exit_code);
void add_monitor(CLI::App& app, int& exit_code);
void add_approver(CLI::App& app, int& exit_code);
void add_netprobe(CLI::App& app, int& exit_code);
void add_promote(CLI::App& app, int& exit_code);  // and demote
void add_shadow(CLI::App& app, int& exit_code);
void add_optimum(CLI::App& app, int& exit_code);
void add_rebalance(CLI::App& app, int& exit_code);
void add_papers(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);

}  // namespace evenkeel::apps
