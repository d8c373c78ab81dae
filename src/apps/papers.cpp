// `evenkeel papers`: the papers' figures and tables, made again.
#include "apps/papers.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "apps/command.h"
#include "apps/models.h"
#include "apps/version.h"
#include "base/file.h"
#include "base/spelling.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  std::vector<std::string> names, models;
  bool all = false, json = false;
  std::string report, folder;
  PaperSettings settings{0, 1, std::max(1U, std::thread::hardware_concurrency()), false, {}};
};

int fail(const Error& error) {
  std::cerr << "evenkeel papers: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

std::string command_of(const PaperFigure& figure, const Arguments& arguments) {
  std::string line = "evenkeel papers " + std::string(figure.name);
  if (arguments.settings.seeds > 0) line += " --seeds " + std::to_string(arguments.settings.seeds);
  if (arguments.settings.seed != 1) line += " --seed " + std::to_string(arguments.settings.seed);
  if (arguments.settings.quick) line += " --quick";
  for (const std::string& model : arguments.models) line += " --model " + model;
  return line;
}

std::string text_of(const PaperResult& result) {
  std::string text = result.title + "\n\n";
  for (const reporting::CaptionedTable& table : result.tables) {
    if (!table.caption.empty()) text += table.caption + "\n";
    text += reporting::render_text_table(table.table, reporting::text_style_for(STDOUT_FILENO)) + "\n";
  }
  for (const std::string& note : result.notes) text += note + "\n";
  return text;
}

std::string json_of(const PaperFigure& figure, const PaperResult& result, const std::string& command) {
  const nlohmann::ordered_json json = {{"figure", figure.name},
                                       {"title", result.title},
                                       {"command", command},
                                       {"results", result.figures},
                                       {"notes", result.notes}};
  return json.dump(2) + "\n";
}

std::string page_of(const PaperResult& result, const std::string& command) {
  reporting::ReportData report;
  report.title = result.title;
  report.command = command;
  report.version = kVersion;
  report.tables = result.tables;
  report.charts = result.charts;
  report.notes = result.notes;
  return reporting::render_html_report(report);
}

Result<std::vector<PaperFigure>> chosen(const Arguments& arguments) {
  std::vector<PaperFigure> figures = paper_figures();
  if (arguments.all) return figures;
  std::vector<std::string_view> known;
  for (const PaperFigure& figure : figures) known.push_back(figure.name);
  std::vector<PaperFigure> picked;
  for (const std::string& name : arguments.names) {
    const auto found =
        std::find_if(figures.begin(), figures.end(), [&](const PaperFigure& f) { return f.name == name; });
    if (found == figures.end())
      return not_found("no figure is called '" + name + "'; there are " + joined(known) +
                       did_you_mean(name, known));
    picked.push_back(*found);
  }
  return picked;
}

int list() {
  reporting::TextTable table{
      {{"figure", reporting::Align::left}, {"what it shows", reporting::Align::left}}, {}, {}};
  for (const PaperFigure& figure : paper_figures())
    table.rows.push_back({{std::string(figure.name)}, {std::string(figure.about)}});
  std::cout << reporting::render_text_table(table, reporting::text_style_for(STDOUT_FILENO));
  return kDone;
}

Status write_pages(const Arguments& arguments, const PaperFigure& figure, const PaperResult& result) {
  const std::string command = command_of(figure, arguments);
  if (!arguments.report.empty())
    if (const Status done = write_file(arguments.report, page_of(result, command)); !done) return done;
  if (arguments.folder.empty()) return {};
  const std::string stem = arguments.folder + "/" + std::string(figure.name);
  if (const Status done = write_file(stem + ".json", json_of(figure, result, command)); !done) return done;
  return write_file(stem + ".html", page_of(result, command));
}

int run(Arguments& arguments) {
  if (arguments.names.empty() && !arguments.all) return list();
  const Result<std::vector<PaperFigure>> figures = chosen(arguments);
  if (!figures) return fail(figures.error());
  if (!arguments.report.empty() && figures->size() != 1)
    return fail(invalid("--report is for one figure; --out-dir writes a page for each of several"));
  Result<scheduling::PolicyModels> models = load_models(arguments.models);
  if (!models) return fail(models.error());
  arguments.settings.models = *std::move(models);
  if (!arguments.folder.empty()) {
    std::error_code problem;
    std::filesystem::create_directories(arguments.folder, problem);
    if (problem) return fail(unavailable("--out-dir " + arguments.folder + ": " + problem.message()));
  }
  for (const PaperFigure& figure : *figures) {
    if (figures->size() > 1) std::cerr << figure.name << ": " << figure.about << std::endl;
    const Result<PaperResult> result = figure.run(arguments.settings);
    if (!result) return fail(result.error());
    std::cout << (arguments.json ? json_of(figure, *result, command_of(figure, arguments)) : text_of(*result))
              << std::flush;
    if (const Status written = write_pages(arguments, figure, *result); !written)
      return fail(unavailable(written.error().message));
  }
  return kDone;
}

}  // namespace

std::vector<PaperFigure> paper_figures() {
  std::vector<PaperFigure> all;
  const auto add = [&all](std::span<const PaperFigure> paper) {
    all.insert(all.end(), paper.begin(), paper.end());
  };
  add(drs_figures());
  add(ppo_lrt_figures());
  add(marl_figures());
  add(dscaler_figures());
  add(diktyo_figures());
  return all;
}

void add_papers(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("papers", "Make the papers' figures and tables again");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("figures", arguments->names, "Which; without any, the list of what there is");
  command->add_flag("--all", arguments->all, "Every figure");
  command
      ->add_option("--seeds", arguments->settings.seeds, "How many worlds (as many as the figure asks for)")
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", arguments->settings.seed, "The first world's seed (1)");
  command->add_option("--model", arguments->models, "A model to use: FILE, or policy=FILE")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "Print the figures as JSON");
  command->add_option("--report", arguments->report, "Write one figure as a self-contained HTML page");
  command->add_option("--out-dir", arguments->folder,
                      "Write every figure as <name>.html and <name>.json there");
  command->add_flag("--quick", arguments->settings.quick, "A short sample of each");
  command->add_option("--threads", arguments->settings.threads, "Worlds run side by side; changes no figure")
      ->check(CLI::Range(1, 256));
  command->footer("Example:\n  evenkeel papers --all --out-dir build/papers");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
