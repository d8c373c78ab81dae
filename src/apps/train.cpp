// `evenkeel train`: a recipe and a seed become a model, with a learning curve on the way.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "apps/command.h"
#include "apps/model_ranges.h"
#include "apps/progress.h"
#include "apps/recipes.h"
#include "apps/scenarios.h"
#include "apps/training_view.h"
#include "base/file.h"
#include "reporting/number_format.h"
#include "training/training_session.h"

namespace evenkeel::apps {
namespace {

using training::TrainingSession;

struct Arguments {
  std::string recipe, out, checkpoint, report;
  std::vector<std::string> scenarios, overrides;
  std::uint64_t seed = 1, seeds = 1;
  std::size_t checkpoint_every = 0;  // 0: twenty in all
  bool resume = false, json = false;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

volatile std::sig_atomic_t stop_asked = 0;

// The first Ctrl-C ends the training after its step; a second one, the program.
void stop_on_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A file beyond the limit of its size is an error to report, not a reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
}

int fail(const Error& error) {
  std::cerr << "evenkeel train: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

// What could not be written is no fault of the input.
Status as_failure(const Status& written) {
  return written ? Status{} : Status(unavailable("cannot write " + written.error().message));
}

// With several seeds each has files of its own: model.ekm becomes model-seed1.ekm, model-seed2.ekm, …
std::string for_seed(const std::string& path, const Arguments& arguments, std::uint64_t seed) {
  if (path.empty() || arguments.seeds == 1) return path;
  const std::filesystem::path whole(path);
  return (whole.parent_path() /
          (whole.stem().string() + "-seed" + std::to_string(seed) + whole.extension().string()))
      .string();
}

// Beside the model unless said otherwise; nowhere when there is no model to be written.
std::string checkpoint_of(const Arguments& arguments, std::uint64_t seed) {
  if (!arguments.checkpoint.empty()) return for_seed(arguments.checkpoint, arguments, seed);
  const std::string out = for_seed(arguments.out, arguments, seed);
  return out.empty() ? "" : out + ".checkpoint";
}

Status check_paths(const Arguments& arguments) {
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) {
    const std::uint64_t seed = arguments.seed + i;
    for (const std::string& path : {for_seed(arguments.out, arguments, seed), checkpoint_of(arguments, seed)})
      if (!path.empty())
        if (const Status good = as_failure(check_writable(path)); !good) return good;
  }
  return arguments.report.empty() ? Status{} : as_failure(check_writable(arguments.report));
}

std::string command_line(const Arguments& arguments) {
  std::string line = "evenkeel train --recipe " + arguments.recipe;
  for (const std::string& scenario : arguments.scenarios) line += " --scenario " + scenario;
  line += " --seed " + std::to_string(arguments.seed);
  if (arguments.seeds > 1) line += " --train-seeds " + std::to_string(arguments.seeds);
  for (const std::string& assignment : arguments.overrides) line += " --set '" + assignment + "'";
  return line;
}

std::string figures_of(const training::LearningCurve& curve) {
  std::string text;
  for (const auto& line : curve.lines())
    text += (text.empty() ? "" : "  ") + line.name + " " +
            reporting::format_number(training::LearningCurve::last(line));
  return text;
}

Status take_up(TrainingSession& session, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    std::cerr << "no checkpoint at " << path << " yet: starting at the beginning\n";
    return {};
  }
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return bytes.error();
  if (const Status resumed = session.resume(*bytes); !resumed)
    return invalid(path + ": " + resumed.error().message);
  std::cerr << "going on from " << path << ", " << session.training().trainer->step_name() << ' '
            << session.done() << " of " << session.steps() << '\n';
  return {};
}

// Steps until it is done or told to stop, with a checkpoint now and then and at the end.
Status run_session(TrainingSession& session, const Arguments& arguments, const std::string& checkpoint) {
  const std::size_t every = arguments.checkpoint_every > 0 ? arguments.checkpoint_every
                                                           : std::max<std::size_t>(1, session.steps() / 20);
  const std::string seed =
      arguments.seeds > 1 ? "seed " + std::to_string(session.identity().seed) + ", " : "";
  Progress progress(std::cerr, isatty(STDERR_FILENO) != 0,
                    seed + std::string(session.training().trainer->step_name()), session.steps(),
                    session.done());
  while (!session.finished() && stop_asked == 0) {
    session.advance();
    progress.show(session.done(), figures_of(session.curve()));
    const bool due = session.done() % every == 0 || session.finished() || stop_asked != 0;
    if (due && !checkpoint.empty())
      if (const Status written = as_failure(write_file(checkpoint, session.checkpoint())); !written)
        return written;
  }
  progress.clear();
  if (session.finished()) return {};
  return unavailable("stopped at " + std::string(session.training().trainer->step_name()) + " " +
                     std::to_string(session.done()) + " of " + std::to_string(session.steps()) +
                     (checkpoint.empty() ? "; nothing was kept: --checkpoint FILE would"
                                         : "; --resume goes on from " + checkpoint));
}

Result<TrainingOutcome> train(TrainingSession& session, const Arguments& arguments) {
  const std::uint64_t seed = session.identity().seed;
  const std::string checkpoint = checkpoint_of(arguments, seed);
  if (arguments.resume)
    if (const Status taken = take_up(session, checkpoint); !taken) return taken.error();
  if (const Status done = run_session(session, arguments, checkpoint); !done) return done.error();
  Result<learning::Model> model = session.model();
  if (!model) return unavailable(model.error().message);
  add_input_ranges(*model, arguments.threads);
  TrainingOutcome outcome{seed, session.curve(), *std::move(model), for_seed(arguments.out, arguments, seed)};
  if (outcome.model_path.empty()) return outcome;
  const std::string bytes = learning::serialise(outcome.model);
  if (const Status written = as_failure(write_file(outcome.model_path, bytes)); !written)
    return written.error();
  std::cerr << "model written to " << outcome.model_path << ", " << bytes.size() << " bytes\n";
  // One that nobody asked for has served its purpose.
  if (arguments.checkpoint.empty()) std::filesystem::remove(checkpoint);
  return outcome;
}

void print(const TrainingReport& report, const Arguments& arguments) {
  if (arguments.json) {
    std::cout << json_of(report) << '\n';
    return;
  }
  const reporting::TextStyle style = reporting::text_style_for(STDOUT_FILENO);
  std::cout << "recipe " << report.recipe << ", " << report.steps << " steps of one " << report.step_name
            << ", " << report.trainings.size() << (report.trainings.size() == 1 ? " seed" : " seeds")
            << "\n\n"
            << reporting::render_text_table(table_of(report), style);
  const reporting::TextTable figures = model_table_of(report);
  if (!figures.rows.empty()) std::cout << '\n' << reporting::render_text_table(figures, style);
}

int run(const Arguments& arguments, std::span<const training::Learner> learners) {
  const Result<LoadedRecipe> recipe = load_recipe(arguments.recipe, arguments.overrides);
  if (!recipe) return fail(recipe.error());
  if (arguments.resume && arguments.checkpoint.empty() && arguments.out.empty())
    return fail(invalid("--resume: from where? Give --checkpoint FILE, or the --out of the training"));
  training::TrainingOrder order{arguments.scenarios, arguments.seed, arguments.threads,
                                [](const std::string& name) { return load_scenario(name, {}); },
                                [](const std::string& name) { return load_scaling_scenario(name, {}); }};
  TrainingReport report;
  report.command = command_line(arguments);
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) {
    order.seed = arguments.seed + i;
    Result<training::Training> training = training::start_training(recipe->file, order, learners);
    if (!training) return fail(training.error());
    if (i == 0) {
      // Only now: what is wrong with the recipe is said first.
      if (const Status good = check_paths(arguments); !good) return fail(good.error());
      stop_on_signals();
      report.recipe = training->recipe;
      report.learner = training->learner;
      report.scenarios = training->scenarios;
      report.steps = training->trainer->steps();
      report.step_name = training->trainer->step_name();
    }
    training::TrainingIdentity identity{training->recipe, recipe->text, order.seed, training->scenarios};
    TrainingSession session(*std::move(training), std::move(identity));
    Result<TrainingOutcome> outcome = train(session, arguments);
    if (!outcome) return fail(outcome.error());
    report.trainings.push_back(*std::move(outcome));
  }
  print(report, arguments);
  if (arguments.report.empty()) return kDone;
  const std::string page = reporting::render_html_report(report_of(report));
  if (const Status written = as_failure(write_file(arguments.report, page)); !written)
    return fail(written.error());
  std::cerr << "report written to " << arguments.report << '\n';
  return kDone;
}

}  // namespace

void add_train(CLI::App& app, int& exit_code, std::span<const training::Learner> learners) {
  CLI::App* command = app.add_subcommand("train", "Train a model by a recipe");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--recipe", arguments->recipe, "Name of a built-in recipe, or a path")->required();
  command
      ->add_option("--scenario", arguments->scenarios,
                   "World to learn in, by name or path; may be repeated (the recipe's own)")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "Write the model to this file (.ekm)");
  command->add_option("--seed", arguments->seed, "Seed of the training (1)");
  command
      ->add_option("--train-seeds", arguments->seeds,
                   "Train with this many seeds and print the spread; files become NAME-seedN (1)")
      ->check(CLI::Range(1, 1000));
  command->add_option("--checkpoint", arguments->checkpoint,
                      "Where to keep what is done so far (MODEL.checkpoint, gone once the model is there)");
  command
      ->add_option("--checkpoint-every", arguments->checkpoint_every,
                   "Steps between checkpoints (a 20th of all)")
      ->check(CLI::Range(1, 1000000000));
  command->add_flag("--resume", arguments->resume, "Go on from the checkpoint, if there is one");
  command->add_option("--set", arguments->overrides, "Override a field of the recipe: a.b.c=value")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "Print curve and figures as JSON");
  command->add_option("--report", arguments->report, "Write the learning curve to this HTML file");
  command->add_option("--threads", arguments->threads, "Worlds run side by side; changes no figure")
      ->check(CLI::Range(1, 256));
  command->footer("Example:\n  evenkeel train --recipe evenkeel --out evenkeel.ekm --report curve.html");
  command->callback([arguments, &exit_code, learners] { exit_code = run(*arguments, learners); });
}

}  // namespace evenkeel::apps
