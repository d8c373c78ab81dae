#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reporting/html_report.h"
#include "reporting/text_table.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {

struct PaperSettings {
  std::uint64_t seeds = 0;          // 0: as many as the figure asks for
  std::uint64_t seed = 1;           // of the first
  unsigned threads = 1;             // changes no figure
  bool quick = false;               // a sample, for tests
  scheduling::PolicyModels models;  // built in, and those given with --model
};

// A figure or table made again: shown as text, as JSON and as a page alike.
struct PaperResult {
  std::string title;  // "DRS, figure 8: …"
  std::vector<reporting::CaptionedTable> tables;
  std::vector<reporting::LineChart> charts;
  std::vector<std::string> notes;  // what differs from the paper, and why
  nlohmann::ordered_json figures;  // the same numbers, for programs
};

// One figure or table of a paper, or several that come from the same runs.
struct PaperFigure {
  std::string_view name;  // "drs-fig8"
  std::string_view about;
  Result<PaperResult> (*run)(const PaperSettings& settings);
};

// A paper's own table, in papers_<paper>.cpp.
std::span<const PaperFigure> drs_figures();
std::span<const PaperFigure> ppo_lrt_figures();
std::span<const PaperFigure> dscaler_figures();
std::span<const PaperFigure> marl_figures();
std::span<const PaperFigure> diktyo_figures();

// To add a paper: write papers_<paper>.cpp with its table of figures, add its line to paper_figures().
std::vector<PaperFigure> paper_figures();

}  // namespace evenkeel::apps
